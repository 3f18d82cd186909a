/* SPDX-License-Identifier: BSD-2-Clause */
/* The input is a profile file: a fault names it. */
#include <stdlib.h>
#include <string.h>

#include "int/int_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(struct int_profile *p, const void *data, size_t size)
{
	FILE *in = fmemopen((void *)data, size, "r");
	struct error err = {""};
	int rc;

	if (!in)
		abort();
	rc = profile_parse(p, in, "fuzz", &err);
	if (rc < 0 && strncmp(err.text, "fuzz", 4) != 0)
		abort();
	fclose(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct int_profile p;

	if (size)
		parse(&p, data, size);
	return 0;
}
