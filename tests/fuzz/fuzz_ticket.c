/* SPDX-License-Identifier: BSD-2-Clause */
/* The input is a ticket. One that is taken stands its checks, and is taken
 * again once written. */
#include <stdlib.h>

#include "rdma/ticket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *must(FILE *f)
{
	if (!f)
		abort();
	return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ticket t, again;
	struct error err;
	char *text = NULL;
	size_t len;
	FILE *in, *out;

	if (!size)
		return 0;
	in = must(fmemopen((void *)data, size, "r"));
	if (!ticket_parse(&t, in, "ticket", &err)) {
		for (unsigned i = 0; i < t.n; i++)
			if (table_check(&t.table[i], &err) < 0 ||
			    t.at[i].address > UINT64_MAX - t.table[i].length)
				abort();
		out = must(open_memstream(&text, &len));
		if (ticket_write(&t, out) < 0 || fclose(out))
			abort();
		fclose(in);
		in = must(fmemopen(text, len, "r"));
		if (ticket_parse(&again, in, "again", &err) < 0 ||
		    again.n != t.n)
			abort();
		for (unsigned i = 0; i < t.n; i++)
			if (again.table[i].units != t.table[i].units)
				abort();
		ticket_fini(&again);
		ticket_fini(&t);
		free(text);
	}
	fclose(in);
	return 0;
}
