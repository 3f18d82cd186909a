/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_p4.c - the numbers of the P4 programs are those of lib/ and dta-switch:
 * constants by their names, headers by lengths and offsets. It reads the
 * sources as text, so that it runs where there is no P4 compiler.
 */
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hash/crc.h"
#include "region/table.h"
#include "test.h"
#include "net/proto.h"

enum {
	NUMBERS_MAX = 1024,
	FIELDS_MAX = 256,
	NAME_LEN = 48,
};

struct number {
	char name[NAME_LEN];
	uint64_t value;
};

/* A field of a header, or (without a name) the header. */
struct field {
	char header[NAME_LEN], name[NAME_LEN];
	unsigned at, bits;
};

static struct number c_side[NUMBERS_MAX], p4_side[NUMBERS_MAX];
static unsigned n_c, n_p4, n_fields;
static struct field fields[FIELDS_MAX];

static const char *const c_files[] = {
	"lib/net/proto.h",
	"lib/net/key.h",
	"lib/region/table.h",
	"p4/tools/dta-switch",
};

static const char *const p4_files[] = {
	"p4/include/*.p4",     "p4/v1model/*/headers.p4",
	"p4/tna/*/headers.p4", "p4/tna/d*/d*_reporter.p4",
	"p4/tna/i*/int_*.p4",  "p4/tna/common/*.p4",
};

/* Not said as numbers there. */
static const struct number implied[] = {
	{"TABLE_SEQ_COUNT", TABLE_SEQ_COUNT},
	{"TABLE_SEQ_STRICT", TABLE_SEQ_STRICT},
	{"TABLE_SEQ_OFF", TABLE_SEQ_OFF},
};

static const struct {
	const char *name;
	enum crc_id id;
} polynomials[] = {
	{"CRC_SLOT0", CRC_SLOT0},	{"CRC_SLOT1", CRC_SLOT1},
	{"CRC_SLOT2", CRC_SLOT2},	{"CRC_SLOT3", CRC_SLOT3},
	{"CRC_CHECKSUM", CRC_CHECKSUM}, {"CRC_COLLECTOR", CRC_COLLECTOR},
	{"CRC_HOP0", CRC_HOP0},		{"CRC_HOP1", CRC_HOP0 + 1},
	{"CRC_HOP2", CRC_HOP0 + 2},	{"CRC_HOP3", CRC_HOP0 + 3},
	{"CRC_HOP4", CRC_HOP0 + 4},	{"CRC_HOP5", CRC_HOP0 + 5},
	{"CRC_HOP6", CRC_HOP0 + 6},	{"CRC_HOP7", CRC_HOP7},
};

/* Lengths, and where fields are; bytes. */
static const struct {
	const char *header, *field;
	unsigned at;
} shapes[] = {
	{"ethernet_h", "", NET_ETH_LEN},
	{"ethernet_h", "src", NET_ETH_AT_SRC},
	{"ethernet_h", "type", NET_ETH_AT_TYPE},
	{"ipv4_h", "", NET_IP4_LEN},
	{"ipv4_h", "tos", NET_IP4_AT_TOS},
	{"ipv4_h", "len", NET_IP4_AT_LEN},
	{"ipv4_h", "id", NET_IP4_AT_ID},
	{"ipv4_h", "fragment", NET_IP4_AT_FRAGMENT},
	{"ipv4_h", "ttl", NET_IP4_AT_TTL},
	{"ipv4_h", "proto", NET_IP4_AT_PROTO},
	{"ipv4_h", "sum", NET_IP4_AT_SUM},
	{"ipv4_h", "src", NET_IP4_AT_SRC},
	{"ipv4_h", "dst", NET_IP4_AT_DST},
	{"udp_h", "", NET_UDP_LEN},
	{"udp_h", "dst_port", NET_UDP_AT_DST},
	{"udp_h", "len", NET_UDP_AT_LEN},
	{"udp_h", "sum", NET_UDP_AT_SUM},
	{"tcp_h", "", NET_TCP_LEN},
	{"tcp_h", "seq", NET_TCP_AT_SEQ},
	{"tcp_h", "ack", NET_TCP_AT_ACK},
	{"tcp_h", "offset", NET_TCP_AT_OFFSET},
	{"tcp_h", "flags", NET_TCP_AT_FLAGS},
	{"tcp_h", "sum", NET_TCP_AT_SUM},
	{"dta_h", "", DTA_HEADER_LEN},
	{"dta_h", "immediate", DTA_AT_FLAGS},
	{"dta_h", "key_len", DTA_AT_KEY_LEN},
	{"dta_h", "hop", DTA_AT_HOP},
	{"dta_h", "table_id", DTA_AT_TABLE},
	{"dta_h", "sequence", DTA_AT_SEQUENCE},
	{"flow4_h", "", KEY_FLOW4_LEN},
	{"bth_h", "", ROCE_BTH_LEN},
	{"bth_h", "flags", ROCE_BTH_AT_FLAGS},
	{"bth_h", "pkey", ROCE_BTH_AT_PKEY},
	{"bth_h", "reserved", ROCE_BTH_AT_RESERVED},
	{"bth_h", "dest_qp", ROCE_BTH_AT_DEST_QP},
	{"bth_h", "ack_req", ROCE_BTH_AT_ACK_REQ},
	{"bth_h", "psn", ROCE_BTH_AT_PSN},
	{"reth_h", "", ROCE_RETH_LEN},
	{"reth_h", "rkey", ROCE_RETH_AT_RKEY},
	{"reth_h", "len", ROCE_RETH_AT_LEN},
	{"atomic_h", "", ROCE_ATOMIC_LEN},
	{"atomic_h", "rkey", ROCE_RETH_AT_RKEY},
	{"atomic_h", "swap_add", ROCE_ATOMIC_AT_SWAP},
	{"atomic_h", "compare", ROCE_ATOMIC_AT_COMPARE},
	{"imm_h", "", ROCE_IMM_LEN},
	{"aeth_h", "", ROCE_AETH_LEN},
	{"icrc_h", "", ROCE_ICRC_LEN},
	{"int_shim_h", "", INT_SHIM_LEN},
	{"int_shim_h", "words", INT_SHIM_AT_WORDS},
	{"int_md_h", "", INT_HEADER2_LEN},
	{"int_md_h", "remaining", INT_AT_REMAINING},
	{"int_md_h", "bitmap", INT_AT_BITMAP},
	{"int_md_h", "domain", INT_AT_DOMAIN},
	{"int_md_h", "domain_bits", INT_AT_DOMAIN_BITS},
	{"int_md_h", "domain_flags", INT_AT_DOMAIN_FLAGS},
	{"label_option_h", "", LABEL_OPTION_LEN},
	{"label_option_h", "count", LABEL_AT_COUNT},
	{"label_item_h", "", LABEL_ITEM_LEN},
	{"label_item_h", "ingress", LABEL_ITEM_AT_INGRESS},
	{"label_item_h", "egress", LABEL_ITEM_AT_EGRESS},
	{"label_item_h", "time", LABEL_ITEM_AT_TIME},
	{"label_item_h", "latency", LABEL_ITEM_AT_LATENCY},
	{"label_item_h", "queue", LABEL_ITEM_AT_QUEUE},
	{"label_item_h", "number", LABEL_ITEM_AT_NUMBER},
	{"treport_group_h", "", TREPORT_V2_GROUP_LEN},
	{"treport_group_h", "node", TREPORT_V2_AT_NODE},
	{"treport_h", "", TREPORT_V2_LEN},
};

static void add(struct number *list, unsigned *n, const char *name,
		uint64_t value)
{
	if (!TEST(*n < NUMBERS_MAX))
		return;
	snprintf(list[*n].name, NAME_LEN, "%s", name);
	list[(*n)++].value = value;
}

static const struct number *find(const struct number *list, unsigned n,
				 const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

/* A line "	NAME = NUMBER," of an enum. */
static void c_line(const char *line)
{
	char name[NAME_LEN], number[NAME_LEN], *end;
	uint64_t value;

	if (sscanf(line, " %47[A-Z0-9_] = %47[0-9a-fx]", name, number) != 2)
		return;
	value = strtoull(number, &end, 0);
	if (!*end)
		add(c_side, &n_c, name, value);
}

/* A line "const bit<N> NAME = NUMBER;". */
static void p4_line(const char *line)
{
	char name[NAME_LEN], number[NAME_LEN], *end;
	unsigned bits;
	uint64_t value;

	if (strncmp(line, "const ", 6) != 0)
		return;
	if (!TEST(sscanf(line, "const bit<%u> %47[A-Z0-9_] = %47[0-9a-fx];",
			 &bits, name, number) == 3))
		fprintf(stderr, "cannot read: %s", line);
	value = strtoull(number, &end, 0);
	TEST(!*end && (bits >= 64 || value >> bits == 0));
	add(p4_side, &n_p4, name, value);
}

/* Lines "header NAME_h {", "	bit<N> NAME;" and "}". */
static void header_line(const char *line)
{
	static struct field whole;
	char name[NAME_LEN];
	unsigned bits;

	if (!TEST(n_fields < FIELDS_MAX))
		return;
	if (sscanf(line, "header %47[a-z0-9_] {", name) == 1) {
		whole = (struct field){0};
		memcpy(whole.header, name, NAME_LEN);
	} else if (*line == '}' && *whole.header) {
		whole.at = whole.bits;
		fields[n_fields++] = whole;
		*whole.header = '\0';
	} else if (*whole.header &&
		   sscanf(line, " bit<%u> %47[a-z0-9_];", &bits, name) == 2) {
		struct field *f = &fields[n_fields++];

		*f = whole;
		memcpy(f->name, name, NAME_LEN);
		f->at = whole.bits;
		whole.bits += bits;
	}
}

static void read_lines(const char *path, void (*take)(const char *line))
{
	char line[256];
	FILE *f = fopen(path, "r");

	if (!TEST(f != NULL)) {
		fprintf(stderr, "%s: cannot be read\n", path);
		return;
	}
	while (fgets(line, sizeof(line), f))
		take(line);
	fclose(f);
}

static void read_all(void)
{
	glob_t g = {0};

	for (unsigned i = 0; i < sizeof(c_files) / sizeof(c_files[0]); i++)
		read_lines(c_files[i], c_line);
	for (unsigned i = 0; i < sizeof(implied) / sizeof(implied[0]); i++)
		add(c_side, &n_c, implied[i].name, implied[i].value);
	for (unsigned i = 0; i < sizeof(polynomials) / sizeof(polynomials[0]);
	     i++)
		add(c_side, &n_c, polynomials[i].name,
		    crc_poly(polynomials[i].id));
	for (unsigned i = 0; i < sizeof(p4_files) / sizeof(p4_files[0]); i++)
		TEST(glob(p4_files[i], i ? GLOB_APPEND : 0, NULL, &g) == 0);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		read_lines(g.gl_pathv[i], p4_line);
		read_lines(g.gl_pathv[i], header_line);
	}
	globfree(&g);
}

static void test_constants(void)
{
	for (unsigned i = 0; i < n_p4; i++) {
		const struct number *p = &p4_side[i];
		const struct number *c = find(c_side, n_c, p->name);

		if (!strncmp(p->name, "SWITCH_", 7) ||
		    !strncmp(p->name, "LEDGER_", 7))
			continue; /* its own; counters have names in lib/ */
		if (!TEST(c && c->value == p->value))
			fprintf(stderr, "%s: %#jx, in lib/ %s\n", p->name,
				(uintmax_t)p->value,
				c ? "another" : "there is none");
	}
	TEST(n_p4 > 40);
	/* Who says a number again, dta-switch, says the same. */
	for (unsigned i = 0; i < n_c; i++)
		if (!TEST(find(c_side, n_c, c_side[i].name)->value ==
			  c_side[i].value))
			fprintf(stderr, "%s: %#jx, and another\n",
				c_side[i].name, (uintmax_t)c_side[i].value);
}

static void test_polynomials_all(void)
{
	for (unsigned i = 0; i < sizeof(polynomials) / sizeof(polynomials[0]);
	     i++)
		TEST(find(p4_side, n_p4, polynomials[i].name) != NULL);
}

static void test_shapes(void)
{
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct field *f = fields, *end = f + n_fields;

		while (f < end && (strcmp(f->header, shapes[i].header) != 0 ||
				   strcmp(f->name, shapes[i].field) != 0))
			f++;
		if (!TEST(f < end && f->at == 8 * shapes[i].at))
			fprintf(stderr, "%s %s: not at byte %u\n",
				shapes[i].header, shapes[i].field,
				shapes[i].at);
	}
}

int main(void)
{
	read_all();
	test_constants();
	test_polynomials_all();
	test_shapes();
	return test_end();
}
