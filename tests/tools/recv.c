/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recv NAME CAPTURE [KIND [FILTER]]: what comes on a live interface
 * to a capture, until SIGTERM. KIND: packet, xdp or auto;
 * packet:PORT...: UDP to that port only.
 * Prints the source's kind when it listens, "received N dropped N" at the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "packet/live.h"

static volatile sig_atomic_t stop;

static void on_stop(int sig)
{
	(void)sig;
	stop = 1;
}

static int fail(const char *what, const struct error *err)
{
	fprintf(stderr, "recv: %s: %s\n", what, err->text);
	return 1;
}

int main(int argc, char **argv)
{
	static struct pkt pkts[PKT_BATCH];
	struct sigaction sa = {.sa_handler = on_stop};
	struct live_options o = {.kind = LIVE_PACKET};
	struct error err = {0};
	uint64_t received = 0, port = 0;
	struct snk *k;
	struct src *s;
	int n;

	if (argc < 3)
		return 2;
	if (argc > 3 && !strncmp(argv[3], "xdp", 3))
		o.kind = LIVE_XDP;
	if (argc > 3 && !strncmp(argv[3], "auto", 4))
		o.kind = LIVE_AUTO;
	if (argc > 3 && strchr(argv[3], ':') &&
	    !text_u64(&port, strchr(argv[3], ':') + 1, UINT16_MAX))
		return 2;
	o.port[0] = (uint16_t)port;
	if (argc > 4)
		o.filter = argv[4];
	sigaction(SIGTERM, &sa, NULL);
	if (src_open_live(&s, argv[1], &o, &err) < 0)
		return fail(argv[1], &err);
	if (snk_open(&k, argv[2], &err) < 0)
		return fail(argv[2], &err);
	printf("%s\n", src_kind(s));
	fflush(stdout);
	src_wait(s, 50);
	while (!stop) {
		n = src_rx(s, pkts, PKT_BATCH, &err);
		if (n == -EINTR || n == -EAGAIN)
			continue;
		if (n < 0)
			return fail(argv[1], &err);
		if (snk_tx(k, pkts, (size_t)n) || snk_flush(k))
			return 1;
		received += (uint64_t)n;
	}
	printf("received %" PRIu64 " dropped %" PRIu64 "\n", received,
	       src_drops(s));
	src_close(s);
	return snk_close(k) < 0;
}
