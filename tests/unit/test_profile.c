/* SPDX-License-Identifier: BSD-2-Clause */
/* Profile files: read, and refused with their line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "int/int_profile.h"
#include "test.h"

static int parse(struct int_profile *p, const char *text, struct error *err)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	int rc;

	err->text[0] = '\0';
	if (!in)
		exit(1);
	rc = profile_parse(p, in, "net.ini", err);
	fclose(in);
	return rc;
}

static const char example[] = "[profile]\n"
			      "like = 2.1\n"
			      "name = mine ; ours\n"
			      "dscp = 0x20/0x30\n"
			      "udp_port = 0\n"
			      "marker = 0x0123456789abcdef\n"
			      "vxlan_gpe_port = 4791\n"
			      "vxlan_gpe_next = 0x82\n"
			      "geneve_port = 1\n"
			      "geneve_class = 0x00ab\n"
			      "gre_type = 0x1234\n"
			      "report_port = 50000\n"
			      "domain = 7\n"
			      "source_words = 0:2 3:1\n"
			      "ioam_fraction = ns\n"
			      "any_ver = yes\n"
			      "behind_tcp_options = yes\n"
			      "tcp_sum_left = yes\n"
			      "report_length_wrong = yes\n"
			      "[instructions]\n"
			      "3 = queue:1 occupancy:3 x80\n"
			      "4 = ingress_time:8 us\n"
			      "5 = egress_time:8 ntp\n"
			      "6 = ingress2:2 egress2:2\n"
			      "8 = -:2 buffer:1 -:1\n"
			      "9 = reserved\n"
			      "10 = -:4\n"
			      "[report1]\n"
			      "1 = latency:4 ms\n"
			      "[report2]\n"
			      "15 = queue:1 drop_reason:1 -:2\n";

static void test_example(void)
{
	const struct int_profile *like = int_profile_named("2.1");
	struct int_profile p;
	struct error err;

	TEST(parse(&p, example, &err) == 0 && !err.text[0]);
	TEST(!strcmp(p.name, "mine") && p.version == INT_V2_1);
	TEST(p.dscp == 0x20 && p.dscp_mask == 0x30 && p.udp_port == 0);
	TEST(p.marker == 0x0123456789abcdef && p.vxlan_gpe_port == 4791);
	TEST(p.vxlan_gpe_next == 0x82 && p.geneve_port == 1);
	TEST(p.geneve_class == 0xab && p.gre_type == 0x1234);
	TEST(p.report_port == 50000 && p.domain == 7);
	TEST(p.source_words[0] == 2 && p.source_words[3] == 1);
	TEST(!p.source_words[1] && p.ioam_fraction == 1);
	TEST(p.any_ver && p.behind_tcp_options && p.tcp_sum_left);
	TEST(p.report_length_wrong);
	TEST(p.instruction[3].len == 4);
	TEST(p.instruction[3].part[1].field == INT_OCCUPANCY);
	TEST(p.instruction[3].part[1].at == 1);
	TEST(p.instruction[3].part[1].scale == 80);
	TEST(p.instruction[4].len == 8);
	TEST(p.instruction[4].part[0].scale == 1000);
	TEST(p.instruction[5].part[0].scale == INT_SCALE_NTP);
	TEST(p.instruction[6].len == 4 && p.instruction[6].part[1].at == 2);
	TEST(p.instruction[8].part[0].at == 2 && p.instruction[8].len == 4);
	TEST(!p.instruction[8].part[1].len && !p.instruction[9].len);
	TEST(p.instruction[10].len == 4 && !p.instruction[10].part[0].len);
	TEST(p.report1[1].part[0].scale == 1000000);
	TEST(p.report2[15].len == 4 &&
	     p.report2[15].part[1].field == INT_DROP_REASON);
	/* the rest is 2.1's */
	TEST(!memcmp(&p.instruction[0], &like->instruction[0],
		     3 * sizeof(struct int_word)));
	TEST(!memcmp(&p.report1[2], &like->report1[2],
		     4 * sizeof(struct int_word)));
}

/* Whether they mean the same: a scale of 0 is 1. */
static bool same_words(const struct int_word *a, const struct int_word *b,
		       unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (a[i].len != b[i].len)
			return false;
		for (unsigned k = 0; k < 2; k++)
			if (a[i].part[k].field != b[i].part[k].field ||
			    a[i].part[k].at != b[i].part[k].at ||
			    a[i].part[k].len != b[i].part[k].len ||
			    (a[i].part[k].scale ? a[i].part[k].scale : 1) !=
				    (b[i].part[k].scale ? b[i].part[k].scale
							: 1))
				return false;
	}
	return true;
}

static void check_same(const struct int_profile *a, const struct int_profile *b)
{
	struct int_profile x = *a, y = *b;

	TEST(same_words(a->instruction, b->instruction, 16));
	TEST(same_words(a->report1, b->report1, 6));
	TEST(same_words(a->report2, b->report2, 16));
	memset(x.instruction, 0,
	       sizeof(x) - offsetof(struct int_profile, instruction));
	memset(y.instruction, 0,
	       sizeof(y) - offsetof(struct int_profile, instruction));
	if (!x.ioam_fraction)
		x.ioam_fraction = 1000;
	if (!y.ioam_fraction)
		y.ioam_fraction = 1000;
	TEST(!strcmp(x.name, y.name) && x.version == y.version);
	TEST(x.any_ver == y.any_ver && x.dscp == y.dscp);
	TEST(x.behind_tcp_options == y.behind_tcp_options);
	TEST(x.tcp_sum_left == y.tcp_sum_left && x.dscp_mask == y.dscp_mask);
	TEST(x.udp_port == y.udp_port && x.marker == y.marker);
	TEST(x.vxlan_gpe_port == y.vxlan_gpe_port);
	TEST(x.vxlan_gpe_next == y.vxlan_gpe_next);
	TEST(x.geneve_port == y.geneve_port && x.gre_type == y.gre_type);
	TEST(x.geneve_class == y.geneve_class && x.domain == y.domain);
	TEST(!memcmp(x.source_words, y.source_words, 16));
	TEST(x.report_port == y.report_port);
	TEST(x.ioam_fraction == y.ioam_fraction);
	TEST(x.report_length_wrong == y.report_length_wrong);
}

static void test_like(void)
{
	const struct int_profile *p;
	struct int_profile mine;
	struct error err;
	char text[80];

	for (unsigned i = 0; (p = int_profile_at(i)); i++) {
		snprintf(text, sizeof(text), "[profile]\nlike = %s\n", p->name);
		TEST(parse(&mine, text, &err) == 0);
		check_same(&mine, p);
	}
	TEST(parse(&mine, "", &err) == 0); /* says nothing: any */
	check_same(&mine, int_profile_at(0));
}

static const struct {
	const char *text, *why;
} bad[] = {
	{"dscp = 1\n", "net.ini:1: a field before the first [section]"},
	{"[profile]\n", "net.ini:1: a section without fields"},
	{"[profiles]\nlike = 2.1\n", "net.ini:1: no such section: 'profiles'"},
	{"[profile]\nlike = 3\n",
	 "net.ini:2: like: '3' is none of any 0.5 1.0 2.0 2.1 bmv2 "
	 "geant intcollector intcollector-0.5 smartnic"},
	{"[profile]\ndscp = 1\nlike = 2.1\n",
	 "net.ini:3: like: what comes before it would be lost: it must "
	 "be the first"},
	{"[report1]\n1 = -:4\n[profile]\nlike = 2.1\n",
	 "net.ini:4: like: what comes before it would be lost: it must "
	 "be the first"},
	{"[profile]\nport = 1\n", "net.ini:2: no such field: 'port'"},
	{"[profile]\ndscp = 1\ndscp = 2\n", "net.ini:3: given twice: 'dscp'"},
	{"[profile]\ndscp = 0x40\n",
	 "net.ini:2: dscp: '0x40' is not none or VALUE/MASK of 6 bits"},
	{"[profile]\ndscp = 3/1\n",
	 "net.ini:2: dscp: '3/1' is not none or VALUE/MASK of 6 bits"},
	{"[profile]\ndscp = 00000000001\n",
	 "net.ini:2: dscp: '00000000001' is not none or VALUE/MASK of "
	 "6 bits"},
	{"[profile]\nudp_port = 65536\n",
	 "net.ini:2: udp_port: '65536' is not a number up to 65535"},
	{"[profile]\nversion = 2\n",
	 "net.ini:2: version: '2' is none of 0.5 1.0 2.0 2.1 any"},
	{"[profile]\nany_ver = 1\n",
	 "net.ini:2: any_ver: '1' is none of no yes"},
	{"[profile]\nsource_words = 16:1\n",
	 "net.ini:2: source_words: '16:1' is not none or BIT:WORDS..., "
	 "each bit once"},
	{"[profile]\nsource_words = 1:1 1:2\n",
	 "net.ini:2: source_words: '1:1 1:2' is not none or "
	 "BIT:WORDS..., each bit once"},
	{"[profile]\nioam_fraction = 1000\n",
	 "net.ini:2: ioam_fraction: '1000' is not ns, us, ms or ntp"},
	{"[profile]\nname =\n",
	 "net.ini:2: name: '' is not a name of 1 to 31 bytes"},
	{"[profile]\nlike = 2.1\n[instructions]\n16 = node:4\n",
	 "net.ini:4: '16' is not a bit, 0 to 15"},
	{"[report1]\n6 = node:4\n", "net.ini:2: '6' is not a bit, 0 to 5"},
	{"[report2]\n1 = -:4\n1 = -:8\n", "net.ini:3: given twice: bit 1"},
	{"[report2]\n1 = nodes:4\n", "net.ini:2: 1: no such field: 'nodes'"},
	{"[report2]\n1 = node\n",
	 "net.ini:2: 1: 'node' is not FIELD:BYTES, 1 to 8, nor a unit"},
	{"[report2]\n1 = node:0\n",
	 "net.ini:2: 1: 'node:0' is not FIELD:BYTES, 1 to 8, nor a "
	 "unit"},
	{"[report2]\n1 = node:9\n",
	 "net.ini:2: 1: 'node:9' is not FIELD:BYTES, 1 to 8, nor a "
	 "unit"},
	{"[report2]\n1 = node:3\n", "net.ini:2: 1: 3 bytes; a word has 4 or 8"},
	{"[report2]\n1 =\n", "net.ini:2: 1: 0 bytes; a word has 4 or 8"},
	{"[report2]\n1 = node:8 -:1\n",
	 "net.ini:2: 1: 9 bytes; a word has 4 or 8"},
	{"[report2]\n1 = node:1 queue:1 egress:2\n",
	 "net.ini:2: 1: more than two fields"},
	{"[report2]\n1 = us latency:4\n",
	 "net.ini:2: 1: us: of no field, or its second unit"},
	{"[report2]\n1 = latency:4 us ms\n",
	 "net.ini:2: 1: ms: of no field, or its second unit"},
	{"[report2]\n1 = node:4 us\n", "net.ini:2: 1: us: node is no time"},
	{"[report2]\n1 = occupancy:4 x0\n",
	 "net.ini:2: 1: 'x0' is not FIELD:BYTES, 1 to 8, nor a unit"},
	{"[report2]\n1 = occupancy:4 x4294967295\n",
	 "net.ini:2: 1: 'x4294967295' is not FIELD:BYTES, 1 to 8, nor "
	 "a unit"},
	{"[instructions]\n1 = node:4\n",
	 "net.ini:2: instructions: version any has those of each "
	 "version; say version = 2.1, or like"},
	{"hello\n", "net.ini:1: neither [section], field = value nor ; "
		    "comment"},
};

static void test_faults(void)
{
	struct int_profile p;
	struct error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		TEST(parse(&p, bad[i].text, &err) == -EINVAL);
		if (!TEST(!strcmp(err.text, bad[i].why)))
			fprintf(stderr, "%s\n%s\n", err.text, bad[i].why);
	}
	TEST(profile_read(&p, "/none/such", &err) == -ENOENT);
	TEST(!strcmp(err.text, "/none/such: No such file or directory"));
}

static void test_names(void)
{
	for (unsigned i = 0; i < INT_FIELDS; i++)
		TEST(profile_field_names[i] && *profile_field_names[i]);
	TEST(!profile_field_names[INT_FIELDS]);
}

int main(void)
{
	test_example();
	test_like();
	test_faults();
	test_names();
	return test_end();
}
