/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tickets: what is written is read back; what a region's ticket says is where
 * its tables are; what is missing, twice, cut or out of range: the line named.
 */
#include <errno.h>

#include "bytes.h"
#include "rdma_rig.h"
#include "test.h"

static struct rig g;
static struct ticket got;

/* The ticket as text; malloc'ed. */
static char *text_of(const struct ticket *t, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out || ticket_write(t, out) < 0 || fclose(out))
		exit(1);
	return text;
}

/* Reads a text from an exact-size copy. */
static int read_text(const char *text, size_t len, struct error *err)
{
	uint8_t *copy = exact_copy(text, len);
	FILE *in = fmemopen(copy, len ? len : 1, "r");
	int rc;

	if (!in)
		exit(1);
	rc = ticket_parse(&got, in, "t.ini", err);
	fclose(in);
	free(copy);
	return rc;
}

static bool same_table(const struct table *a, const struct table *b)
{
	return !strcmp(a->name, b->name) && a->id == b->id &&
	       a->kind == b->kind && a->hash == b->hash &&
	       a->key_type == b->key_type && a->copies == b->copies &&
	       a->hops == b->hops && a->qp == b->qp &&
	       a->key_len == b->key_len && a->value_len == b->value_len &&
	       a->stride == b->stride && a->units == b->units &&
	       a->lists == b->lists && a->batch == b->batch &&
	       a->sequence == b->sequence && a->immediate == b->immediate &&
	       a->flush_ms == b->flush_ms && a->cache_rows == b->cache_rows &&
	       a->value_min == b->value_min && a->value_max == b->value_max &&
	       a->length == b->length && a->heads == b->heads &&
	       a->protocol == b->protocol && !strcmp(a->show, b->show);
}

static uint64_t head_of(const struct ticket *t, unsigned table, uint32_t list)
{
	return t->at[table].heads ? t->at[table].heads[list] : 0;
}

static void check_round_trip(const struct ticket *t)
{
	struct error err = {""};
	size_t len;
	char *text = text_of(t, &len);

	if (!TEST(read_text(text, len, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		free(text);
		return;
	}
	TEST(!memcmp(got.mac, t->mac, 6) &&
	     !memcmp(got.peer_mac, t->peer_mac, 6) &&
	     got.version == t->version && !memcmp(got.ip, t->ip, 16) &&
	     !memcmp(got.peer_ip, t->peer_ip, 16) && got.mtu == t->mtu &&
	     got.atomics == t->atomics && got.epoch == t->epoch &&
	     got.n == t->n);
	for (unsigned i = 0; i < t->n; i++) {
		const struct ticket_table *a = &got.at[i], *b = &t->at[i];

		TEST(same_table(&got.table[i], &t->table[i]));
		TEST(a->qpn == b->qpn && a->psn == b->psn &&
		     a->lasting == b->lasting && a->first_psn == b->first_psn &&
		     a->rkey == b->rkey && a->address == b->address);
		for (uint32_t k = 0; k < t->table[i].lists; k++)
			TEST(head_of(&got, i, k) == head_of(t, i, k));
	}
	ticket_fini(&got);
	free(text);
}

/* Fields of every kind, off their defaults. */
static void odd_layout(struct layout *l)
{
	static const char *const keywrite[][2] = {
		{"kind", "keywrite"}, {"id", "77"},	   {"key", "hex:9"},
		{"value", "20"},      {"slots", "1000"},   {"stride", "packed"},
		{"copies", "4"},      {"sequence", "off"}, {"immediate", "yes"},
		{"qp", "uc"},	      {"show", "u16,hex"}, {NULL, NULL},
	};
	static const char *const dta0[][2] = {
		{"kind", "keywrite"}, {"key", "u32"},	{"value", "4"},
		{"hash", "dta0"},     {"slots", "1Ki"}, {NULL, NULL},
	};
	static const char *const postcard[][2] = {
		{"kind", "postcard"}, {"key", "flow6"},	   {"hops", "3"},
		{"values", "5-99"},   {"cache", "64"},	   {"chunks", "512"},
		{"copies", "1"},      {"protocol", "udp"}, {NULL, NULL},
	};
	static const char *const append[][2] = {
		{"kind", "append"},	{"value", "18"}, {"lists", "7"},
		{"batch", "5"},		{"flush", "2s"}, {"ring", "33"},
		{"sequence", "strict"}, {NULL, NULL},
	};
	static const char *const keyinc[][2] = {
		{"kind", "keyinc"}, {"key", "src4"}, {"copies", "3"},
		{"slots", "999"},   {NULL, NULL},
	};

	memset(l, 0, sizeof(*l));
	rig_table(l, "kw-odd.1", keywrite);
	rig_table(l, "old", dta0);
	rig_table(l, "paths", postcard);
	rig_table(l, "lists", append);
	rig_table(l, "counts", keyinc);
	l->table[0].id = 77;
}

static void test_round_trip(void)
{
	struct layout l;
	struct ticket *t = calloc(1, sizeof(*t));
	uint64_t heads[7] = {0, 5, 0, UINT64_MAX, 0, 0, 1};

	if (!t)
		exit(1);
	check_round_trip(&g.t);
	odd_layout(&l);
	*t = g.t;
	t->n = l.n;
	t->epoch = UINT64_MAX;
	t->mtu = 256;
	t->atomics = 16;
	for (unsigned i = 0; i < l.n; i++) {
		t->table[i] = l.table[i];
		t->at[i] = (struct ticket_table){
			.qpn = 0xffffff - i,
			.psn = 0xfffff0 + i,
			.first_psn = i % 2 ? 0xffffff - i : 0,
			.lasting = i % 2,
			.rkey = 0xfffffff0 + i,
			.address = i ? 0 : UINT64_MAX - l.table[0].length,
		};
	}
	t->at[3].heads = heads;
	check_round_trip(t);
	t->version = 6;
	memcpy(t->ip, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\2", 16);
	memset(t->peer_ip, 0xff, 16);
	check_round_trip(t);
	free(t);
}

/* What a ticket calls the ring was its entries once: the same numbers. */
static void test_older(void)
{
	size_t len;
	char *text = text_of(&g.t, &len), *at = strstr(text, "\nring = ");
	char *older = malloc(len + 4);
	struct error err = {""};

	if (TEST(at && older)) {
		sprintf(older, "%.*s\nentries%s", (int)(at - text), text,
			at + 5);
		TEST(read_text(older, strlen(older), &err) == 0);
		TEST(got.n == g.t.n);
		for (unsigned i = 0; i < got.n; i++)
			TEST(same_table(&got.table[i], &g.t.table[i]));
		ticket_fini(&got);
	}
	free(older);
	free(text);
}

/* The defaults, and that tables are where the ticket says. */
static void test_of_region(void)
{
	static const uint64_t base = 0x100000000000;
	struct ticket now = {0};
	struct error err = {""};

	TEST(!memcmp(g.t.mac, "\2\0\0\0\0\2", 6));
	TEST(!memcmp(g.t.peer_mac, "\2\0\0\0\0\1", 6));
	TEST(g.t.version == 4 && !memcmp(g.t.ip, "\12\0\0\63", 4) &&
	     !memcmp(g.t.peer_ip, "\12\0\0\145", 4));
	TEST(g.t.mtu == 1024 && g.t.epoch == 1 && g.t.n == RIG_TABLES);
	TEST(region_rotate(g.region, NULL, &err) == 0);
	TEST(ticket_of_region(&now, g.region, &err) == 0 && now.epoch == 2);
	for (unsigned i = 0; i < g.t.n; i++) {
		const struct table *t = region_table(g.region, i);

		TEST(g.t.at[i].qpn == 0x11 + i && g.t.at[i].psn == 0);
		TEST(g.t.at[i].address == base + region_offset(g.region, t, 1));
		TEST(now.at[i].address == base + region_offset(g.region, t, 2));
		TEST(now.at[i].qpn == g.t.at[i].qpn);
		/* keys: of one table and one epoch only */
		for (unsigned k = 0; k < g.t.n; k++) {
			TEST(now.at[i].rkey != g.t.at[k].rkey);
			TEST(i == k || g.t.at[i].rkey != g.t.at[k].rkey);
			/* nothing of another table is inside */
			TEST(i == k ||
			     g.t.at[i].address + t->length <=
				     g.t.at[k].address ||
			     g.t.at[i].address >=
				     g.t.at[k].address + g.t.table[k].length);
		}
	}
	ticket_fini(&now);
}

/* Heads: what the lists hold. */
static void test_heads(void)
{
	const struct table *t = region_table(g.region, RIG_LIST);
	static const uint8_t count[8] = {0, 0, 0, 0, 0, 0, 1, 2};
	struct op op = {
		.verb = OP_WRITE,
		.table = RIG_LIST,
		.offset = table_head(t, 1),
		.length = 8,
		.data = count,
	};
	struct ticket now = {0};
	struct error err = {""};
	struct local_transport *l;
	struct transport *transport;

	if (!TEST(local_open(&l, g.region, &err) == 0))
		return;
	transport = local_transport(l);
	transport->begin(transport);
	TEST(transport->exec(transport, &op, 1, 0) == 0);
	TEST(transport->head(transport, RIG_LIST, 1) == 258);
	transport->end(transport);
	local_close(l);
	TEST(ticket_of_region(&now, g.region, &err) == 0);
	TEST(head_of(&now, RIG_LIST, 0) == 0 &&
	     head_of(&now, RIG_LIST, 1) == 258 &&
	     head_of(&now, RIG_LIST, 2) == 0);
	check_round_trip(&now);
	ticket_fini(&now);
}

/* A ticket cut short, even by a byte of its last number, is refused. */
static void test_prefixes(void)
{
	struct error err = {""};
	size_t len;
	char *text = text_of(&g.t, &len);

	for (size_t n = 0; n + 1 < len; n++)
		if (!TEST(read_text(text, n, &err) < 0))
			fprintf(stderr, "%zu bytes are taken\n", n);
	TEST(read_text(text, len - 1, &err) == 0); /* the last newline */
	ticket_fini(&got);
	free(text);
}

/* Each line left out: missed. Each line twice: seen. */
static void test_lines(void)
{
	size_t len;
	char *text = text_of(&g.t, &len), *twice = malloc(2 * len);
	struct error err = {""};
	unsigned optional = 0;

	if (!twice)
		exit(1);
	for (char *line = text, *end; *line; line = end) {
		size_t before = (size_t)(line - text), n;

		end = strchr(line, '\n') + 1;
		n = (size_t)(end - line);
		memcpy(twice, text, before);
		memcpy(twice + before, end, len - before - n);
		if (*line == '[')
			TEST(read_text(twice, len - n, &err) < 0);
		else if (read_text(twice, len - n, &err) == 0) {
			ticket_fini(&got); /* comments; what has defaults */
			optional++;
		}
	}
	TEST(optional < 60);
	free(twice);
	free(text);
}

/* One line of the good ticket replaced; the reason names the line. */
static void refused(const char *from, const char *to, const char *reason)
{
	size_t len, before;
	char *text = text_of(&g.t, &len), *at = strstr(text, from);
	char *changed = malloc(len + strlen(to) + 1);
	struct error err = {""};

	if (!at || !changed) {
		fprintf(stderr, "no '%s' in the ticket\n", from);
		TEST(at && changed);
		exit(1);
	}
	before = (size_t)(at - text);
	memcpy(changed, text, before);
	snprintf(changed + before, len + strlen(to) + 1 - before, "%s%s", to,
		 at + strlen(from));
	if (!TEST(read_text(changed, strlen(changed), &err) < 0) ||
	    !TEST(strstr(err.text, reason) && !strncmp(err.text, "t.ini:", 6)))
		fprintf(stderr, "'%s' for '%s': %s\n", to, from, err.text);
	free(changed);
	free(text);
}

static void test_refused(void)
{
	static const char *const cases[][3] = {
		{"version = 1", "version = 2", "t.ini:3: a ticket of"},
		{"version = 1", "version = x", "t.ini:3: version"},
		{"version = 1", "colour = 1", "t.ini:3: no such field"},
		{"version = 1", "version = 1\nversion = 1", "given twice"},
		{"qp = rc", "qp = rc\nqp = uc", "given twice: 'qp'"},
		{"copies = 2", "copies = 2\ncopies = 4", "given twice"},
		{"[collector]", "[collectors]", "no such section"},
		{"[collector]\n", "", "t.ini:2: not in a section"},
		{"[table kw]", "[table ]", "no such section"},
		{"[table kw]", "[kw]", "no such section"},
		{"[table kw]", "[table inc]", "twice the same table"},
		{"[table kw]", "[table k/w]", "name"},
		{"[table kw]",
		 "[table abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq]",
		 "t.ini:"},
		{"mac = 02:00:00:00:00:02", "mac = 02:00:00:00:00",
		 "t.ini:4: mac"},
		{"mac = 02:00:00:00:00:02", "mac = 02:00:00:00:00:2g", "mac"},
		{"mac = 02:00:00:00:00:02", "mac = 02-00-00-00-00-02", "mac"},
		{"mac = 02:00:00:00:00:02", "mac = 02:00:00:00:00:02:", "mac"},
		{"ip = 10.0.0.51", "ip = 10.0.0.256",
		 "ip: '10.0.0.256' is not an IP address"},
		{"ip = 10.0.0.51", "ip = ::1", "of one family"},
		{"mtu = 1024", "mtu = 1000",
		 "mtu: '1000' is not 256, 512, 1024"},
		{"mtu = 1024", "mtu = 128", "mtu"},
		{"mtu = 1024", "mtu = 8192", "mtu"},
		{"mtu = 1024", "mtu = +1024", "mtu"},
		{"epoch = 1", "epoch = 0", "'0' is not a number from 1"},
		{"epoch = 1", "epoch = -1", "epoch"},
		{"epoch = 1", "epoch = 18446744073709551616", "epoch"},
		{"tables = 5", "tables = 6", "5 tables of 6"},
		{"tables = 5", "tables = 4", "5 tables of 4"},
		{"qpn = 0x11", "qpn = 1", "qpn"},
		{"qpn = 0x11", "qpn = 0x1000000", "qpn"},
		{"qpn = 0x11", "qpn = 0x", "qpn"},
		{"qpn = 0x11", "qpn = 0x12", "id or qpn of another"},
		{"id = 1", "id = 2", "id or qpn of another"},
		{"psn = 0", "psn = 16777216", "psn"},
		{"psn = 0", "psn = 0\nfirst_psn = 16777216", "first_psn"},
		{"psn = 0", "psn = 0\nfirst_psn = 1\nfirst_psn = 1",
		 "given twice"},
		{"psn = 0", "first_psn = 0", "psn"},
		{"rkey = 0x", "rkey = 0x1", "rkey"},
		{"address = 0x", "address = 0xffffffffffffff00\n;",
		 "would not end"},
		{"length = 8192", "length = 8193", "length"},
		{"length = 8192", "length = 4096", "length"},
		{"slots = 1024", "slots = 1025", "length"},
		{"slots = 1024", "slots = 0", "slots"},
		{"slots = 1024", "slots = 99999999999999999999", "slots"},
		{"kind = append", "kind = appendix", "kind"},
		{"lists = 3", "lists = 4294967295", "[table list]"},
		{"ring = 100", "ring = 110", "length"},
		{"ring = 100", "ring = 4",
		 "ring: it must hold more entries than a batch"},
		{"ring = 100", "ring = 100\nentries = 96", "given twice"},
		{"ring = 100\nlists = 3\nbatch = 4",
		 "ring = 100\nlists = 3\nbatch = 0", "batch"},
		{"lists = 3", "lists = 3\nhead = 3:1", "no list 3"},
		{"lists = 3", "lists = 3\nhead = 0", "is not LIST:COUNT"},
		{"lists = 3", "lists = 3\nhead = :1", "head"},
		{"lists = 3", "lists = 3\nhead = 0:", "head"},
		{"lists = 3", "lists = 3\nhead = 99999999999:1", "head"},
		{"kind = keyinc", "kind = keyinc\nhead = 0:1", "no list 0"},
		{"mtu = 1024", "mtu 1024", "t.ini:9: not a line"},
		{"tables = 5", "tables = 5\n[table empty]",
		 "t.ini:12: a section without fields"},
		{"qpn = 0x11", "[table kw]\nqpn = 0x11",
		 "twice the same table: 'kw'"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(cases[i][0], cases[i][1], cases[i][2]);
}

/* Neither cut nor taken for two. */
static void test_long_lines(void)
{
	char line[256] = "mtu = 1024 ;";

	memset(line + strlen(line), 'x', 200);
	refused("mtu = 1024", line, "t.ini:9: the line is too long");
}

static void test_files(void)
{
	struct error err = {""};
	FILE *out;

	TEST(ticket_read(&got, "/nowhere/t.ini", &err) == -ENOENT);
	TEST(strstr(err.text, "/nowhere/t.ini: No such file") != NULL);
	TEST(ticket_read(&got, "/", &err) < 0);
	out = fopen(g.path, "w");
	if (!out || ticket_write(&g.t, out) < 0 || fclose(out))
		exit(1);
	TEST(ticket_read(&got, g.path, &err) == 0 && got.n == RIG_TABLES);
	ticket_fini(&got);
	out = fopen("/dev/full", "w");
	TEST(out && ticket_write(&g.t, out) == -ENOSPC);
	if (out)
		fclose(out);
}

static void test_ipv6_needs_both(void)
{
	struct ticket t = {.version = 6};
	struct error err = {""};

	TEST(ticket_of_region(&t, g.region, &err) == -EINVAL);
	TEST(strstr(err.text, "IPv6") != NULL);
}

/* On UC no packet may end within a slot or an entry; RC sends again. */
static void test_mtu(void)
{
	static const struct {
		uint8_t kind, qp;
		uint16_t value_len, stride, batch, mtu;
		const char *says; /* NULL: good */
	} cases[] = {
		{TABLE_KEYWRITE, TABLE_QP_UC, 252, 256, 0, 256, NULL},
		{TABLE_KEYWRITE, TABLE_QP_UC, 200, 1024, 0, 256, NULL},
		{TABLE_KEYWRITE, TABLE_QP_UC, 253, 512, 0, 256, "257 bytes"},
		{TABLE_KEYWRITE, TABLE_QP_UC, 1020, 1024, 0, 512, "of 512"},
		{TABLE_KEYWRITE, TABLE_QP_UC, 1020, 1024, 0, 0, NULL},
		{TABLE_KEYWRITE, TABLE_QP_RC, 1020, 1024, 0, 256, NULL},
		{TABLE_POSTCARD, TABLE_QP_UC, 4, 512, 0, 256, NULL},
		{TABLE_APPEND, TABLE_QP_UC, 20, 20, 12, 256, NULL},
		{TABLE_APPEND, TABLE_QP_UC, 20, 20, 13, 256, "batch"},
		{TABLE_APPEND, TABLE_QP_RC, 20, 20, 13, 256, NULL},
		{TABLE_APPEND, TABLE_QP_UC, 20, 32, 64, 256, NULL},
		{TABLE_APPEND, TABLE_QP_UC, 300, 512, 1, 256, "512 bytes"},
		{TABLE_APPEND, TABLE_QP_UC, 20, 20, 64, 0, "1024 bytes"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table t[2] = {
			g.t.table[RIG_KW],
			{.name = "odd",
			 .kind = cases[i].kind,
			 .qp = cases[i].qp,
			 .value_len = cases[i].value_len,
			 .stride = cases[i].stride,
			 .batch = cases[i].batch,
			 .hops = 8},
		};
		struct error err = {""};
		int rc = ticket_check_mtu(t, 2, cases[i].mtu, &err);

		if (!TEST(rc == (cases[i].says ? -EINVAL : 0)) ||
		    (rc && !TEST(strstr(err.text, cases[i].says) &&
				 strstr(err.text, "table odd: qp") &&
				 strstr(err.text, "qp = rc"))))
			fprintf(stderr, "case %zu: %s\n", i, err.text);
	}
}

int main(void)
{
	rig_open(&g, NULL);
	test_round_trip();
	test_older();
	test_prefixes();
	test_lines();
	test_refused();
	test_long_lines();
	test_files();
	test_ipv6_needs_both();
	test_mtu();
	test_heads();
	test_of_region();
	rig_close(&g);
	return test_end();
}
