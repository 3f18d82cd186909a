/* SPDX-License-Identifier: BSD-2-Clause */
/* Verdicts on segments by hand, one flow after the other. */
#include "test.h"
#include "sim/traffic.h"
#include "net/net.h"

enum {
	MS = 1000000,
	S = NET_TCP_SYN,
	A = NET_TCP_ACK,
	F = NET_TCP_FIN | NET_TCP_ACK,
};

static const struct {
	const char *what;
	unsigned ms;
	uint8_t flags;
	uint32_t seq, payload;
	enum tcp_verdict is;
} segments[] = {
	{"a SYN", 0, S, 99, 0, TCP_FRESH},
	{"data", 1, A, 100, 10, TCP_FRESH},
	{"a hole before it is no matter of ours", 2, A, 120, 10, TCP_FRESH},
	{"what filled it was reordered", 4, A, 110, 10, TCP_REORDERED},
	{"not so late", 6, A, 110, 10, TCP_RETRANSMITTED},
	{"the last one again, however soon", 3, A, 120, 10, TCP_RETRANSMITTED},
	{"nothing but an acknowledgement", 50, A, 100, 0, TCP_FRESH},
	{"199 ms after that", 249, A, 100, 10, TCP_RETRANSMITTED},
	{"200 ms", 449, A, 100, 10, TCP_TIMED_OUT},
	{"time goes back", 300, A, 100, 10, TCP_RETRANSMITTED},
	{"a keep-alive repeats a byte", 900, A, 129, 1, TCP_FRESH},
	{"a FIN", 901, F, 130, 0, TCP_FRESH},
	{"takes a number, and is sent again", 1101, F, 130, 0, TCP_TIMED_OUT},
	{"sent again with more behind it", 1110, A, 120, 50, TCP_RETRANSMITTED},
	{"a SYN with another number", 1200, S, 5, 0, TCP_FRESH},
	{"begins anew", 1201, A, 6, 10, TCP_FRESH},
	{"the SYN again", 1300, S, 5, 0, TCP_RETRANSMITTED},
};

static void by_hand(void)
{
	struct tcp_flow f = {0};

	for (unsigned i = 0; i < sizeof(segments) / sizeof(segments[0]); i++) {
		struct traffic_packet p = {
			.ts_ns = 1700000000000000000 +
				 (uint64_t)segments[i].ms * MS,
			.tcp_flags = segments[i].flags,
			.seq = segments[i].seq,
			.payload = segments[i].payload,
		};
		enum tcp_verdict v = tcp_track(&f, &p);

		if (!TEST(v == segments[i].is))
			fprintf(stderr, "%s: %d\n", segments[i].what, (int)v);
	}
}

/* A flow that is seen from its middle on, its numbers wrapping. */
static void wraps(void)
{
	struct traffic_packet p = {.tcp_flags = A, .payload = 1000};
	struct tcp_flow f = {0};

	for (uint32_t i = 0; i < 100; i++) {
		p.seq = UINT32_MAX - 50000 + 1000 * i;
		p.ts_ns += MS;
		TEST(tcp_track(&f, &p) == TCP_FRESH);
	}
	p.ts_ns += 4 * MS;
	p.seq -= 60000; /* before the wrap */
	TEST(tcp_track(&f, &p) == TCP_RETRANSMITTED);
}

int main(void)
{
	by_hand();
	wraps();
	return test_end();
}
