/* SPDX-License-Identifier: BSD-2-Clause */
/* The input is a profile file: a fault names it; what is read of it, written,
 * reads as what is written the same. */
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int parse(struct int_profile *p, const void *data, size_t size)
{
	FILE *in = fmemopen((void *)data, size, "r");
	struct fault f = {""};
	int rc;

	if (!in)
		abort();
	rc = profile_parse(p, in, "fuzz", &f);
	if (rc < 0 && strncmp(f.text, "fuzz", 4) != 0)
		abort();
	fclose(in);
	return rc;
}

static char *write(const struct int_profile *p, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out || profile_write(p, out) != 0)
		abort();
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct int_profile p, q;
	size_t len, again_len;
	char *text, *again;

	if (!size || parse(&p, data, size) < 0)
		return 0;
	text = write(&p, &len);
	if (parse(&q, text, len) < 0)
		abort();
	again = write(&q, &again_len);
	if (len != again_len || memcmp(text, again, len))
		abort();
	free(text);
	free(again);
	return 0;
}
