/* SPDX-License-Identifier: BSD-2-Clause */
/* The input is an INI file. What is read of it, written down plainly, is read
 * again as it was. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ini.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *must(FILE *f)
{
	if (!f)
		abort();
	return f;
}

static bool next(struct ini *i)
{
	unsigned line = i->line;
	int rc = ini_next(i);

	if (rc > 0 && (i->line <= line || i->header >= i->line))
		abort();
	if (rc < 0 && !strstr(i->err->text, "fuzz"))
		abort();
	return rc > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err;
	struct ini a = {.name = "fuzz", .bad_line = "strange", .err = &err},
		   b = a;
	unsigned header = 0;
	char *text = NULL;
	FILE *out;
	size_t len;

	if (!size)
		return 0;
	out = must(open_memstream(&text, &len));
	fputs(";\n", out);
	a.in = must(fmemopen((void *)data, size, "r"));
	while (next(&a)) {
		if (a.header != header)
			fprintf(out, "[%s]\n", a.section);
		header = a.header;
		/* Of lines that go on, it may be too long. */
		if (strlen(a.key) + 1 + strlen(a.value) <= INI_LINE_MAX)
			fprintf(out, "%s=%s\n", a.key, a.value);
	}
	fclose(out);
	rewind(a.in);
	a = (struct ini){
		.in = a.in, .name = a.name, .bad_line = "", .err = &err};
	b.in = must(fmemopen(text, len, "r"));
	while (next(&a)) {
		if (strlen(a.key) + 1 + strlen(a.value) > INI_LINE_MAX)
			continue;
		if (!next(&b) || strcmp(a.section, b.section) ||
		    strcmp(a.key, b.key) || strcmp(a.value, b.value))
			abort();
	}
	if (next(&b))
		abort();
	fclose(a.in);
	fclose(b.in);
	free(text);
	return 0;
}
