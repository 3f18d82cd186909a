/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flows of real captures, packet by packet, against tshark's: of ours, and
 * with the argument "all" of real-mix.pcap in $TRACES or in ../shared/traces,
 * where it is there.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packet/pkt.h"
#include "test.h"
#include "net/key.h"

enum field {
	NUMBER,
	SRC4,
	DST4,
	SRC6,
	DST6,
	PROTOCOL4,
	LEN4,
	LEN6,
	TCP_SRC,
	TCP_DST,
	UDP_SRC,
	UDP_DST,
	SEQ,
	FIELDS,
};

static const char command[] =
	"exec tshark -n -o ip.defragment:FALSE -o ipv6.defragment:FALSE"
	" -o tcp.desegment_tcp_streams:FALSE"
	" -o tcp.relative_sequence_numbers:FALSE"
	" -T fields -E occurrence=f -E separator='|'"
	" -e frame.number -e ip.src -e ip.dst -e ipv6.src -e ipv6.dst"
	" -e ip.proto -e ip.len -e ipv6.plen -e tcp.srcport -e tcp.dstport"
	" -e udp.srcport -e udp.dstport -e tcp.seq -r '%s' 2>/dev/null";

static bool find_more(char *path, size_t size)
{
	const char *dir = getenv("TRACES");

	snprintf(path, size, "%s/real-mix.pcap",
		 dir ? dir : "../shared/traces");
	return access(path, R_OK) == 0;
}

static bool split(char *line, char *field[FIELDS])
{
	line[strcspn(line, "\n")] = '\0';
	for (int i = 0; i < FIELDS; i++)
		if (!(field[i] = strsep(&line, "|")))
			return false;
	return !line;
}

/* tshark's view of the flow, as key.h writes it. */
static void flow_text(char *text, size_t size, char *const f[FIELDS],
		      const struct net_packet *p)
{
	const char *from = "0", *to = "0";
	char protocol[8];

	snprintf(protocol, sizeof(protocol), "%u", p->protocol);
	if (p->version == 4)
		snprintf(protocol, sizeof(protocol), "%s", f[PROTOCOL4]);
	if (p->protocol == NET_PROTO_TCP && !p->fragment)
		from = f[TCP_SRC], to = f[TCP_DST];
	if (p->protocol == NET_PROTO_UDP && !p->fragment)
		from = f[UDP_SRC], to = f[UDP_DST];
	if (p->version == 4)
		snprintf(text, size, "%s:%s>%s:%s/%s", f[SRC4], from, f[DST4],
			 to, protocol);
	else
		snprintf(text, size, "[%s]:%s>[%s]:%s/%s", f[SRC6], from,
			 f[DST6], to, protocol);
}

static bool same_flow(const struct net_packet *p, char *const f[FIELDS])
{
	enum key_type t = p->version == 4 ? KEY_FLOW4 : KEY_FLOW6;
	uint8_t key[KEY_MAX], want[KEY_MAX];
	size_t len = key_of_packet(key, p);
	char text[4 * KEY_TEXT_MAX];

	flow_text(text, sizeof(text), f, p);
	if (key_parse(want, t, len, text) || memcmp(key, want, len)) {
		fprintf(stderr, "packet %s: %s\n", f[NUMBER], text);
		return false;
	}
	return true;
}

static bool same_lengths(const struct net_packet *p, char *const f[FIELDS])
{
	unsigned long len = strtoul(p->version == 4 ? f[LEN4] : f[LEN6], NULL,
				    10);

	if (p->ip_len != len + (p->version == 4 ? 0 : NET_IP6_LEN))
		return false;
	return p->protocol != NET_PROTO_TCP || p->fragment ||
	       p->tcp_seq == strtoul(f[SEQ], NULL, 10);
}

/* Addresses of the outermost IP header are the first that tshark names. */
static void compare(struct src *s, FILE *tshark)
{
	struct pkt pkts[PKT_BATCH];
	unsigned long flows = 0, refused = 0;
	char line[2048], *f[FIELDS];
	struct net_packet p;
	struct error why;
	int n;

	while ((n = src_rx(s, pkts, PKT_BATCH, &why)) > 0) {
		for (int i = 0; i < n; i++) {
			if (!TEST(fgets(line, sizeof(line), tshark) &&
				  split(line, f)))
				return;
			if (net_packet_decode(&p, pkts[i].data, pkts[i].len)) {
				refused++;
				continue;
			}
			flows++;
			TEST(same_flow(&p, f) && same_lengths(&p, f));
		}
	}
	TEST(n == 0 && !fgets(line, sizeof(line), tshark));
	/* not IP, or broken on purpose: a small part */
	TEST(flows > 50 * refused);
	if (test_failures)
		fprintf(stderr, "%lu flows, %lu refused\n", flows, refused);
}

static void compare_capture(const char *path)
{
	char shell[1024];
	struct error why;
	struct src *s;
	FILE *tshark;

	snprintf(shell, sizeof(shell), command, path);
	tshark = popen(shell, "r");
	if (!TEST(tshark && !src_open(&s, path, &why)))
		return;
	compare(s, tshark);
	src_close(s);
	pclose(tshark);
	if (test_failures)
		fprintf(stderr, "of %s\n", path);
}

int main(int argc, char **argv)
{
	char more[256];

	if (system("tshark --version >/dev/null 2>&1")) {
		fprintf(stderr, "no tshark: not compared\n");
		return TEST_SKIP;
	}
	compare_capture("tests/data/two-lines.pcap.gz");
	if (argc > 1 && !strcmp(argv[1], "all") &&
	    find_more(more, sizeof(more)))
		compare_capture(more);
	return test_end();
}
