/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * send CAPTURE NAME [COUNT]: the packets of a capture to a live interface;
 * COUNT: again from the start until so many are sent.
 * Prints "sent N dropped N".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "packet/live.h"

static int fail(const char *what, const struct error *err)
{
	fprintf(stderr, "send: %s: %s\n", what, err->text);
	return 1;
}

int main(int argc, char **argv)
{
	static struct pkt pkts[PKT_BATCH];
	struct error err = {0};
	uint64_t sent = 0, count = 1;
	struct snk *k;
	struct src *s;
	int n;

	if (argc < 3 || (argc > 3 && !text_u64(&count, argv[3], UINT64_MAX)))
		return 2;
	if (snk_open_live(&k, argv[2], LIVE_PACKET, &err) < 0)
		return fail(argv[2], &err);
	do {
		if (src_open(&s, argv[1], &err) < 0)
			return fail(argv[1], &err);
		while ((n = src_rx(s, pkts, PKT_BATCH, &err)) > 0) {
			if (snk_tx(k, pkts, (size_t)n) || snk_flush(k))
				break;
			sent += (uint64_t)n;
		}
		src_close(s);
		if (n)
			return fail(argv[1], &err);
	} while (sent < count);
	snk_flush(k);
	printf("sent %" PRIu64 " dropped %" PRIu64 "\n", sent, snk_drops(k));
	return snk_close(k) < 0;
}
