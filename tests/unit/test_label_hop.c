/* SPDX-License-Identifier: BSD-2-Clause */
/* Hops in a row: what leaves the last one is what came to the first, bit for
 * bit; labels are told; forged ones do not get in; flows; lines of commands. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "label/command.h"
#include "label/control.h"
#include "label/hop.h"
#include "test.h"
#include "net/be.h"
#include "net/net.h"

enum {
	HOPS = 3,
	FRAME_MAX = 2048,
};

static struct label_hop *open_hop(uint32_t device, enum label_kind kind)
{
	struct label_hop_options o = {
		.policy = {.kind = kind, .max_hop = 5, .interval_us = 1000},
		.format = label_format_default,
		.device = device,
		.mtu = 1500,
	};
	struct label_hop *h = NULL;

	TEST(label_hop_open(&h, &o) == 0);
	return h;
}

static void close_hop(struct label_hop *h)
{
	TEST(ledger_balanced(&label_hop_ledger, label_hop_counters(h)));
	label_hop_close(h);
}

/* IPv4 or IPv6 with any payload, from and to hosts. */
static size_t random_frame(uint8_t *out, struct rng *rng, size_t ip_len)
{
	bool six = rng_below(rng, 2);
	size_t head = unhex(out, FRAME_MAX, "020000000002 020000000001 0800");

	for (size_t i = head; i < head + ip_len; i++)
		out[i] = (uint8_t)rng_u64(rng);
	if (six) {
		out[12] = 0x86, out[13] = 0xdd;
		out[head] = 0x60;
		be16_store(out + head + 4, (uint16_t)(ip_len - 40));
		out[head + 6] = 6;
		out[head + 7] = 64;
		out[head + 8] = out[head + 24] = 0xfd;
	} else {
		out[head] = (uint8_t)(0x45 + rng_below(rng, 3));
		be16_store(out + head + 2, (uint16_t)ip_len);
		be16_store(out + head + 6, 0x4000);
		out[head + 8] = 64;
		out[head + 9] = 17;
		out[head + 12] = out[head + 16] = 10;
		be16_store(out + head + 10, 0);
		be16_store(out + head + 10,
			   net_checksum(out + head, (out[head] & 15) * 4u));
	}
	return head + ip_len;
}

/* Through all hops; the last one's labels in export. */
static struct label_outcome through(struct label_hop **hop, uint8_t *out,
				    uint8_t *export, const uint8_t *frame,
				    size_t len, uint64_t now_us)
{
	uint8_t at[FRAME_MAX];
	struct label_outcome o = {.len = len};

	memcpy(at, frame, len);
	for (unsigned i = 0; i < HOPS; i++) {
		struct label_transit t = {
			.in = 1,
			.out = 2,
			.from_edge = i == 0,
			.to_edge = i == HOPS - 1,
			.now_us = now_us + i,
			.latency_ns = 100 * (i + 1),
		};

		o = label_hop_pass(hop[i], &t, at, o.len, out, export,
				   FRAME_MAX);
		memcpy(at, out, o.len);
	}
	return o;
}

/* Every label is told, once; and no packet is changed. */
static void test_restored(enum label_kind kind)
{
	uint8_t frame[FRAME_MAX], out[FRAME_MAX], export[FRAME_MAX];
	struct label_hop *hop[HOPS];
	struct label_control_options co;
	struct label_control *c;
	struct rng rng = {7};
	uint64_t labels = 0;
	bool same = true;

	label_control_defaults(&co);
	TEST(label_control_open(&c, &co) == 0);
	for (unsigned i = 0; i < HOPS; i++)
		hop[i] = open_hop(i + 1, kind);
	for (uint64_t now = 1000; now < 1000000; now += 137) {
		size_t len = random_frame(frame, &rng,
					  64 + rng_below(&rng, 1437));
		struct label_outcome o = through(hop, out, export, frame, len,
						 now);

		same &= o.len == len && !memcmp(out, frame, len);
		if (o.export)
			label_control_frame(c, export, o.export, now * 1000);
	}
	TEST(same);
	for (unsigned i = 0; i < HOPS; i++) {
		const struct label_record *r = label_db_find(
			label_control_db(c), i + 1, 2);

		labels += label_hop_counters(hop[i])->labels;
		TEST(r && r->labels == label_hop_counters(hop[i])->labels);
		TEST(r && r->latency_ns == 100 * (i + 1) && !label_lost(r));
		TEST(label_hop_counters(hop[i])->over_mtu == 0 || i < 2);
	}
	TEST(label_hop_counters(hop[0])->over_mtu > 0);
	TEST(label_db_counters(label_control_db(c))->items == labels);
	TEST(labels > 900 * HOPS);
	for (unsigned i = 0; i < HOPS; i++)
		close_hop(hop[i]);
	label_control_close(c);
}

/* S halves the interval of its port alone. */
static void test_s(void)
{
	uint8_t frame[FRAME_MAX], out[FRAME_MAX], export[FRAME_MAX];
	struct label_hop *h = open_hop(1, LABEL_BASE_A);
	struct label_transit t = {.in = 1};
	struct rng rng = {7};
	size_t len = random_frame(frame, &rng, 100);
	unsigned n[2] = {0};

	label_hop_set_s(h, 3, 2);
	for (t.now_us = 1; t.now_us < 100000; t.now_us += 10)
		for (t.out = 2; t.out < 4; t.out++)
			n[t.out - 2] += label_hop_pass(h, &t, frame, len, out,
						       export, FRAME_MAX)
						.len > len;
	TEST(n[0] == 100000 / 1010 + 1 && n[1] == 100000 / 260 + 1);
	close_hop(h);
}

static void test_forged(void)
{
	uint8_t frame[FRAME_MAX], out[FRAME_MAX], export[FRAME_MAX];
	struct label_hop *h = open_hop(1, LABEL_BASE_A);
	struct label_transit t = {.in = 1, .out = 2, .from_edge = true};
	struct label_outcome o;
	size_t len;

	len = unhex(frame, sizeof(frame),
		    "020000000002 020000000001 0800 45000018 00014000 40fd25e6 "
		    "0a000001 0a000002 11000000");
	TEST(label_hop_pass(h, &t, frame, len, out, export, FRAME_MAX).len ==
	     0);
	TEST(label_hop_counters(h)->forged == 1);
	t.from_edge = false;
	o = label_hop_pass(h, &t, frame, len, out, export, FRAME_MAX);
	TEST(o.len == len + 32 && !o.export);
	frame[35] = 2; /* more labels than there is packet */
	o = label_hop_pass(h, &t, frame, len, out, export, FRAME_MAX);
	TEST(o.len == len && !memcmp(out, frame, len));
	TEST(label_hop_counters(h)->malformed == 1);
	frame[12] = 9; /* no IP */
	o = label_hop_pass(h, &t, frame, len, out, export, FRAME_MAX);
	TEST(o.len == len && label_hop_counters(h)->plain == 1);
	TEST(label_hop_pass(h, &t, frame, len, out, export, len - 1).len == 0);
	TEST(label_hop_counters(h)->too_long == 1);
	close_hop(h);
}

/* What says that it has labels does not come in from a host, readable or not.
 */
static void test_claims(void)
{
	static const char *const claims[] = {
		/* cut short, a fragment, a later one */
		"0800 45000028 00010000 40fd0000 0a000001 0a000002",
		"0800 45000018 00012000 40fd0000 0a000001 0a000002 11000000",
		"0800 45000018 00010001 40fd0000 0a000001 0a000002 11000000",
		("86dd 60000000 0000fd40 fd000000000000000000000000000001 "
		 "fd000000000000000000000000000002"),
		"8100 0001 0800 45000018 00010000 40fd0000 0a000001 0a000002"};
	uint8_t frame[FRAME_MAX], out[FRAME_MAX], export[FRAME_MAX];
	struct label_transit t = {.in = 1, .out = 2};
	struct label_hop *h = open_hop(1, LABEL_BASE_A);
	size_t head = unhex(frame, sizeof(frame), "020000000002 020000000001");
	unsigned n = sizeof(claims) / sizeof(claims[0]);

	for (unsigned i = 0; i < n; i++) {
		size_t len = head + unhex(frame + head, sizeof(frame) - head,
					  claims[i]);

		for (int edge = 0; edge < 2; edge++) {
			t.from_edge = edge;
			TEST(label_hop_pass(h, &t, frame, len, out, export,
					    FRAME_MAX)
				     .len == (edge ? 0 : len));
		}
	}
	TEST(label_hop_counters(h)->forged == n);
	TEST(label_hop_counters(h)->labels == 0);
	close_hop(h);
}

/* A packet whose version is not its EtherType's has no labels anywhere: it is
 * neither forged nor taken apart at the last hop. */
static void test_other_version(void)
{
	static const char *const frames[] = {
		("0800 60000000 0022fd40 fd000000000000000000000000000001 "
		 "fd000000000000000000000000000002 1101"),
		("8100 0001 0800 60000000 0022fd40 "
		 "fd000000000000000000000000000001 "
		 "fd000000000000000000000000000002 1101"),
		"86dd 45000036 00014000 40fd25c8 0a000001 0a000002 1101",
	};
	uint8_t frame[FRAME_MAX], out[FRAME_MAX], export[FRAME_MAX];
	struct label_transit t = {.in = 1, .out = 2};
	struct label_hop *h = open_hop(1, LABEL_BASE_A);
	size_t head = unhex(frame, sizeof(frame), "020000000002 020000000001");
	struct label_outcome o;

	for (unsigned i = 0; i < 6; i++) {
		size_t len = head + unhex(frame + head, sizeof(frame) - head,
					  frames[i / 2]);

		memset(frame + len, 0, LABEL_ITEM_LEN);
		len += LABEL_ITEM_LEN;
		t.from_edge = i % 2 == 0;
		t.to_edge = i % 2 == 1;
		o = label_hop_pass(h, &t, frame, len, out, export, FRAME_MAX);
		TEST(o.len == len && !o.export && !memcmp(out, frame, len));
	}
	TEST(label_hop_counters(h)->plain == 6);
	close_hop(h);
}

/* What a router reads itself gets no label, and loses those that it has. */
static void test_local(void)
{
	static const struct {
		const char *mac, *head, *src, *dst;
		bool local;
	} p[] = {
		{"020000000002", "40", "0a000001", "0a000002", false},
		{"020000000002", "ff", "0a000001", "0a000002", true},
		{"020000000002", "40", "0a000001", "e0000005", true},
		{"ffffffffffff", "40", "0a000001", "0a0000ff", true},
		{"020000000002", "40", "a9fe0001", "0a000002", true},
		{"020000000002", "40", "0a000001", "0a0000fe", true},
		{"020000000002", "40", "fd000000000000000000000000000001",
		 "fd000000000000000000000000000002", false},
		{"020000000002", "ff", "fd000000000000000000000000000001",
		 "fd000000000000000000000000000002", true},
		{"020000000002", "40", "fe800000000000000000000000000001",
		 "fd000000000000000000000000000002", true},
		{"020000000002", "40", "fd000000000000000000000000000001",
		 "fe800000000000000000000000000002", true},
		{"020000000002", "40", "fd000000000000000000000000000001",
		 "ff020000000000000000000000000005", true},
		{"020000000002", "40", "fd000000000000000000000000000001",
		 "fd0000000000000000000000000000fe", true},
	};
	static const struct label_router routers[] = {
		{4, {10, 0, 0, 254}}, {6, {[0] = 0xfd, [15] = 0xfe}}};
	const struct label_hop_options o = {
		.policy = {.max_hop = 5, .interval_us = 1000},
		.format = label_format_default,
		.routers = routers,
		.n_routers = 2,
	};
	uint8_t frame[FRAME_MAX], out[FRAME_MAX], export[FRAME_MAX];
	struct label_transit t = {.in = 1, .out = 2};
	struct label_hop *h, *other = open_hop(2, LABEL_BASE_A);
	struct label_outcome past;
	size_t len;
	char text[256];

	TEST(label_hop_open(&h, &o) == 0);
	for (unsigned i = 0; i < sizeof(p) / sizeof(p[0]); i++) {
		bool four = strlen(p[i].dst) == 8;

		snprintf(text, sizeof(text),
			 four ? "%s 020000000001 0800 45000018 00014000 %s11"
				"0000 %s %s 11000000"
			      : "%s 020000000001 86dd 60000000 000406%s %s %s "
				"11000000",
			 p[i].mac, p[i].head, p[i].src, p[i].dst);
		len = unhex(frame, sizeof(frame), text);
		if (four)
			be16_store(frame + 24, net_checksum(frame + 14, 20));
		t.now_us += 2000;
		past = label_hop_pass(h, &t, frame, len, out, export,
				      FRAME_MAX);
		TEST(past.len == len + (p[i].local ? 0 : LABEL_GROWTH));
	}
	TEST(label_hop_counters(h)->local == 10);
	/* the last one again, with a label of a device that does not know */
	t.now_us += 2000;
	past = label_hop_pass(other, &t, frame, len, out, export, FRAME_MAX);
	TEST(past.len == len + LABEL_GROWTH);
	past = label_hop_pass(h, &t, out, past.len, frame, export, FRAME_MAX);
	TEST(past.len == len && past.export);
	TEST(label_hop_counters(h)->exported == 1);
	close_hop(h);
	label_hop_close(other);
}

/* RFC 6864: without DF a router may make fragments of it. */
static void test_fragile(void)
{
	uint8_t frame[FRAME_MAX], out[FRAME_MAX], export[FRAME_MAX];
	struct label_hop_options o = {
		.policy = {.max_hop = 5, .interval_us = 1000},
		.format = label_format_default,
	};
	struct label_transit t = {.in = 1, .out = 2};
	struct label_hop *h;
	size_t len;

	TEST(label_hop_open(&h, &o) == 0);
	len = unhex(frame, sizeof(frame),
		    "020000000002 020000000001 0800 45000018 00010000 "
		    "401166d2 0a000001 0a000002 11000000");
	for (unsigned i = 0; i < 2; i++) {
		t.now_us = 2000 * i;
		TEST(label_hop_pass(h, &t, frame, len, out, export, FRAME_MAX)
			     .len == (i ? len + LABEL_GROWTH : len));
		frame[20] = 0x40;
		frame[24] ^= 0x40; /* its checksum */
	}
	TEST(label_hop_counters(h)->fragmentable == 1);
	/* a length that is told elsewhere, or nowhere */
	len = unhex(frame, sizeof(frame),
		    "020000000002 020000000001 86dd 60000000 00000640 "
		    "fd000000000000000000000000000001 "
		    "fd000000000000000000000000000002 00000000");
	t.now_us = 9000;
	TEST(label_hop_pass(h, &t, frame, len, out, export, FRAME_MAX).len ==
	     len);
	frame[20] = 59; /* there is nothing */
	TEST(label_hop_pass(h, &t, frame, len, out, export, FRAME_MAX).len ==
	     len + LABEL_GROWTH);
	close_hop(h);
}

/* A header whose checksum is wrong: the packet goes on as it is, labels of
 * earlier hops are taken out at the last one, and the label that is due is the
 * next packet's. */
static void test_checksum(void)
{
	uint8_t frame[FRAME_MAX], out[FRAME_MAX], export[FRAME_MAX];
	struct label_hop *h = open_hop(1, LABEL_BASE_A);
	struct label_transit t = {.in = 1, .out = 2, .now_us = 5};
	size_t len = unhex(frame, sizeof(frame),
			   "020000000002 020000000001 0800 45000018 00014000 "
			   "401126d2 0a000001 0a000002 11000000");
	struct label_outcome o;

	frame[25] ^= 1;
	o = label_hop_pass(h, &t, frame, len, out, export, FRAME_MAX);
	TEST(o.len == len && !memcmp(frame, out, len));
	TEST(label_hop_counters(h)->checksum == 1);
	TEST(label_hop_counters(h)->plain == 1);
	frame[25] ^= 1;
	o = label_hop_pass(h, &t, frame, len, out, export, FRAME_MAX);
	TEST(o.len == len + LABEL_GROWTH);
	t.now_us = 5000;
	memcpy(frame, out, o.len);
	frame[25] ^= 1;
	o = label_hop_pass(h, &t, frame, o.len, out, export, FRAME_MAX);
	TEST(o.len == len + LABEL_GROWTH && !memcmp(frame, out, o.len));
	TEST(label_hop_counters(h)->carried == 1);
	t.to_edge = true;
	o = label_hop_pass(h, &t, frame, o.len, out, export, FRAME_MAX);
	TEST(o.len == len && label_hop_counters(h)->restored == 1);
	TEST(label_hop_counters(h)->checksum == 3);
	TEST(label_hop_counters(h)->labels == 1);
	close_hop(h);
}

/* A packet each period is labelled at every hop, beside all others. */
static void test_flow(void)
{
	uint8_t frame[FRAME_MAX], out[FRAME_MAX], export[FRAME_MAX];
	uint8_t key[KEY_FLOW6_LEN];
	struct label_hop *hop[HOPS];
	struct rng rng = {3};
	size_t len = random_frame(frame, &rng, 100), key_len;
	struct label_view v;
	unsigned marked = 0;

	for (unsigned i = 0; i < HOPS; i++)
		hop[i] = open_hop(i + 1, LABEL_BASE_A);
	label_find(&v, &label_format_default, frame, len);
	key_len = label_flow_key(key, &v);
	TEST(label_hop_flow_del(hop[0], key, key_len) == -ENOENT);
	TEST(label_hop_flow_add(hop[0], key, key_len, 100) == 0);
	for (uint64_t now = 0; now < 1000; now += 10) {
		struct label_outcome o = through(hop, out, export, frame, len,
						 now);

		TEST(o.len == len && !memcmp(out, frame, len));
		if (!o.export ||
		    label_find(&v, &label_format_default, export, o.export))
			continue;
		TEST(!v.specific || v.n == HOPS);
		marked += v.specific;
	}
	TEST(marked == 10);
	TEST(label_hop_flow_del(hop[0], key, key_len) == 0);
	for (unsigned i = 0; i < LABEL_FLOWS_MAX; i++) {
		key[0] = (uint8_t)i, key[1] = (uint8_t)(i >> 8);
		TEST(label_hop_flow_add(hop[0], key, key_len, 1) == 0);
	}
	TEST(label_hop_flow_add(hop[0], key, key_len, 2) == 0);
	key[1] = 9;
	TEST(label_hop_flow_add(hop[0], key, key_len, 1) == -ENOSPC);
	for (unsigned i = 0; i < HOPS; i++)
		close_hop(hop[i]);
}

static void flow_round(enum key_type type, const char *text)
{
	char line[LABEL_COMMAND_MAX];
	struct label_command c;
	uint8_t key[KEY_MAX];

	TEST(!key_parse(key, type, key_type_len(type), text));
	TEST(label_command_flow(line, key, key_type_len(type), 5000) > 0);
	TEST(!label_command_read(&c, line));
	TEST(c.kind == LABEL_COMMAND_FLOW_ADD && c.period_us == 5000);
	TEST(c.key_len == key_type_len(type) && !memcmp(c.key, key, c.key_len));
	label_command_flow(line, key, key_type_len(type), 0);
	TEST(!label_command_read(&c, line));
	TEST(c.kind == LABEL_COMMAND_FLOW_DEL);
	TEST(!memcmp(c.key, key, c.key_len));
}

static void test_commands(void)
{
	static const char *const bad[] = {
		"",
		"register_write",
		"register_write label_s 1",
		"register_write other 1 2",
		"register_write label_s 65536 2",
		"register_write label_s 1 21",
		"register_write label_s 1 2 3",
		"table_add label_flow label_specific 10.0.0.1 10.0.0.2 6 1 2",
		"table_add label_flow label_specific 10.0.0.1 ::1 6 1 2 => 5",
		"table_add label_flow label_specific 1.1.1.1 1.1.1.2 6 1 2 =>0",
		"table_add label_flow label_specific ::1 ::2 6 1 2 => 0",
		"table_delete_match label_flow 10.0.0.1 10.0.0.2 6 1 70000",
		"table_delete_match flow 10.0.0.1 10.0.0.2 6 1 7",
		"reset_state",
	};
	char line[LABEL_COMMAND_MAX], longest[LABEL_COMMAND_MAX + 1];
	struct label_command c;

	label_command_s(line, 4, 2);
	TEST(!strcmp(line, "register_write label_s 4 2"));
	TEST(!label_command_read(&c, line));
	TEST(c.kind == LABEL_COMMAND_S && c.port == 4 && c.s == 2);
	flow_round(KEY_FLOW4, "10.0.0.1:443>10.0.0.2:5501/tcp");
	flow_round(KEY_FLOW6, "[2001:db8::1]:443>[2001:db8::2]:5501/udp");
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		TEST(label_command_read(&c, bad[i]) == -EINVAL);
	memset(longest, 'a', sizeof(longest));
	longest[LABEL_COMMAND_MAX] = '\0';
	TEST(label_command_read(&c, longest) == -EINVAL);
}

int main(void)
{
	test_restored(LABEL_BASE_A);
	test_restored(LABEL_BASE_B);
	test_s();
	test_forged();
	test_claims();
	test_other_version();
	test_local();
	test_fragile();
	test_checksum();
	test_flow();
	test_commands();
	return test_end();
}
