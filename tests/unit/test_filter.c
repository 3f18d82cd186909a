/* SPDX-License-Identifier: BSD-2-Clause */
/* Filter expressions: what they are true of, and what is none. */
#include <errno.h>
#include <string.h>

#include "telemetry/filter.h"
#include "test.h"
#include "int/int_profile.h"
#include "net/key.h"

enum {
	HOPS = 3,
	BITMAP = 0xf000, /* node; interfaces; latency; queue */
};

static struct int_layout layout;
static uint8_t stack[HOPS * 16];

/* Nodes 9, 8, 7, the last one first; latencies 30, 20, 10 us; the queue of 8
 * cannot be told. */
static struct int_record view(const char *flow)
{
	struct int_record v = {.flags = INT_CONGESTED, .ip_len = 1500};
	int six = flow[0] == '[';

	int_layout_make(&layout, int_profile_named("2.1")->instruction, 16,
			BITMAP);
	for (unsigned i = 0; i < HOPS; i++) {
		uint64_t value[INT_FIELDS] = {
			[INT_NODE] = 9 - i,
			[INT_INGRESS] = i,
			[INT_EGRESS] = i + 10,
			[INT_LATENCY] = 30000 - 10000 * i,
			[INT_QUEUE] = 1,
			[INT_OCCUPANCY] = 100 * i,
		};
		uint32_t has = layout.has;

		if (i == 1)
			has &= ~(1U << INT_QUEUE | 1U << INT_OCCUPANCY);
		int_put(stack + 16 * i, &layout, has, value);
	}
	v.key_len = (uint8_t)key_type_len(six ? KEY_FLOW6 : KEY_FLOW4);
	TEST(key_parse(v.key, six ? KEY_FLOW6 : KEY_FLOW4, v.key_len, flow) ==
	     0);
	v.stack = (struct int_hops){
		.layout = &layout, .data = stack, .len = layout.len, .n = HOPS};
	return v;
}

static int matches(const char *text, const struct int_record *v)
{
	struct expr *e;
	struct error err = {0};
	int yes;

	if (!TEST(expr_parse(&e, text, &err) == 0)) {
		fprintf(stderr, "%s: %s\n", text, err.text);
		return -1;
	}
	yes = expr_match(e, v);
	expr_free(e);
	return yes;
}

static void test_true(void)
{
	static const char *const yes[] = {
		"node 7",
		"node 0x9 and hop.latency = 30us",
		"node 7 and hop.latency<20us",
		"not node 6",
		"! ( node 6 )",
		"node 6 or node 8",
		"src net 10.0.0.0/8 and dst host 192.168.1.2",
		"net 192.168.0.0/17 && port 443",
		"src port 443 and dst port 5000",
		"tcp and ip and proto 6",
		"hops = 3 and len >= 1500 and len < 2K",
		"latency == 60us",
		"latency = 60000",
		"congested and not dropped",
		"not hop.occupancy > 200",
		"not (node 8 and hop.queue >= 0)",
		"node 5 or node 6 or node 7 and tcp",
		"hop.egress 	>= 12",
		"not not node 7",
		"10.0.0.1:443>192.168.1.2:5000/tcp",
		"(node 7 and 10.0.0.1:443>192.168.1.2:5000/6)",
		"10.0.0.1:443>192.168.1.2:5000/tcp&&hops>2",
	};
	struct int_record v = view("10.0.0.1:443>192.168.1.2:5000/tcp");

	for (unsigned i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!TEST(matches(yes[i], &v) == 1))
			fprintf(stderr, "not true: %s\n", yes[i]);
}

static void test_false(void)
{
	static const char *const no[] = {
		"node 6",
		"not node 7",
		"node 7 and hop.latency > 10us",
		"node 7 and node 8", /* no hop is both */
		"src host 192.168.1.2",
		"net 192.168.128.0/17",
		"dst net 10.0.0.0/8",
		"udp",
		"ip6",
		"host ::1",
		"node 8 and hop.queue = 1", /* it cannot tell */
		"node 8 and hop.queue != 1",
		"hop.utilization >= 0", /* nobody was asked */
		"hw_id >= 0",		/* there is no report */
		"dropped",
		"hops > 3 or hops < 3",
		"node 7 and (udp or hop.egress = 11)",
		"192.168.1.2:5000>10.0.0.1:443/tcp", /* the other way */
		"10.0.0.1:443>192.168.1.2:5000/udp",
		"[::1]:443>[::2]:5000/tcp",
	};
	struct int_record v = view("10.0.0.1:443>192.168.1.2:5000/tcp");

	for (unsigned i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (!TEST(matches(no[i], &v) == 0))
			fprintf(stderr, "not false: %s\n", no[i]);
}

static void test_others(void)
{
	struct int_record v = view("[2001:db8::1]:1>[2001:db8::2]:2/udp");

	TEST(matches("ip6 and src net 2001:db8::/127", &v) == 1);
	TEST(matches("src host 2001:db8::2", &v) == 0);
	TEST(matches("net 0.0.0.0/0", &v) == 0);
	TEST(matches("net ::/0", &v) == 1);
	TEST(matches("[2001:db8::1]:1>[2001:db8:0::2]:2/udp and node 7", &v) ==
	     1);
	v.stack.n = 0; /* nobody says anything */
	TEST(matches("udp and hops = 0", &v) == 1);
	TEST(matches("node 7 or hop.latency >= 0", &v) == 0);
	TEST(matches("not node 7", &v) == 1);
	/* The reporter itself, whose metadata do not have its id. */
	v.own = (struct int_hops){
		.layout = &layout, .data = stack, .len = layout.len, .n = 1};
	v.from = (struct int_from){
		.report = true, .has_node = true, .node = 4, .hw_id = 3};
	memset(stack, 0xff, 4);
	TEST(matches("node 4 and hop.latency = 30us and hw_id = 3", &v) == 1);
	TEST(matches("reporter = 4", &v) == 1);
	v.key_len = 0; /* a flow that nobody knows */
	TEST(matches("port 1 or udp or ip6 or net ::/0", &v) == 0);
}

static void test_bad(void)
{
	static const char *const bad[][2] = {
		{"", "at 'the end'"},
		{"node", "at 'the end': the id"},
		{"node x", "at 'x': the id"},
		{"node 7 node 8", "at 'node': and or or"},
		{"(node 7", "at 'the end': )"},
		{"node 7)", "at ')'"},
		{"hop.latency", "at 'the end': ="},
		{"hop.latency > x", "at 'x': a number of ns"},
		{"hop.queue > 5us", "at '5us': a number is"},
		{"hop.nonsense = 1", "at 'hop.nonsense': there is no"},
		{"src 10.0.0.1", "at '10.0.0.1': host, net"},
		{"net 10.0.0.0/33", "a net has"},
		{"host 10.0.0.0/8", "an address"},
		{"port 65536", "a port"},
		{"proto 256", "a protocol"},
		{"and", "at 'and'"},
		{"node 7 and", "at 'the end'"},
		{"node 7 & node 8", "at '&'"},
		{"dropped = 1", "at '='"},
		{"10.0.0.1:443", "at '10.0.0.1:443': a flow is"},
		{"10.0.0.1:1>10.0.0.2:2/tcp node 7", "at 'node': and or or"},
	};
	char deep[4096];
	struct error err;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct expr *e = NULL;

		err = (struct error){0};
		TEST(expr_parse(&e, bad[i][0], &err) == -EINVAL && !e);
		if (!TEST(strstr(err.text, bad[i][1]) != NULL))
			fprintf(stderr, "%s: %s\n", bad[i][0], err.text);
	}
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	for (char c = 0; c < 2; c++) {
		struct expr *e = NULL;

		TEST(expr_parse(&e, deep, &err) == -EINVAL && !e);
		memset(deep, '!', sizeof(deep) - 1);
	}
}

/* Each field of the list can be asked about. */
static void test_fields(void)
{
	const struct expr_field *k;
	char text[128];
	unsigned n = 0;
	struct error err;

	for (; (k = expr_field_at(n)); n++) {
		struct expr *e = NULL;

		snprintf(text, sizeof(text), "%s%s", k->name,
			 k->flag ? "" : " = 1");
		TEST(expr_parse(&e, text, &err) == 0);
		expr_free(e);
	}
	TEST(n > 20);
}

int main(void)
{
	test_true();
	test_false();
	test_others();
	test_bad();
	test_fields();
	return test_end();
}
