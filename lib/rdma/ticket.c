/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket.c - makes tickets of regions, writes and reads them, and compares a
 * new one with the last. */
#include "rdma/ticket.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ini.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/zero.h"
#include "hash/family.h"
#include "region/layout.h"
#include "net/be.h"
#include "net/key.h"

enum {
	QPN_FIRST = 0x11, /* 0 and 1 are management's (IBTA vol. 1, 3) */
};

/* Where the region's file begins in the virtual addresses of tickets. */
static const uint64_t address_base = UINT64_C(0x100000000000);

static void default_addresses(struct ticket *t)
{
	static const uint8_t mac[2][6] = {{2, 0, 0, 0, 0, 2},
					  {2, 0, 0, 0, 0, 1}};
	static const uint8_t ip[2][4] = {{10, 0, 0, 51}, {10, 0, 0, 101}};

	if (!t->version)
		t->version = 4;
	if (is_zero(t->mac, 6))
		memcpy(t->mac, mac[0], 6);
	if (is_zero(t->peer_mac, 6))
		memcpy(t->peer_mac, mac[1], 6);
	if (is_zero(t->ip, 16) && t->version == 4)
		memcpy(t->ip, ip[0], 4);
	if (is_zero(t->peer_ip, 16) && t->version == 4)
		memcpy(t->peer_ip, ip[1], 4);
	if (!t->mtu)
		t->mtu = TICKET_MTU;
}

void ticket_set_address(struct ticket_table *at, const struct region *r,
			unsigned table, uint64_t epoch)
{
	uint64_t salt = epoch * TABLE_MAX + table + 1;

	at->rkey = (uint32_t)rng_mix(salt);
	at->address = address_base +
		      region_offset(r, region_table(r, table), epoch);
}

static int describe_table(struct ticket *t, const struct region *r, unsigned i,
			  struct error *err)
{
	const struct table *table = region_table(r, i);

	if (table->lists > TICKET_LISTS_MAX)
		return error_set(
			err, -EINVAL,
			"table %s: %u lists; a ticket holds %d at most",
			table->name, table->lists, TICKET_LISTS_MAX);
	t->table[i] = *table;
	t->at[i] = (struct ticket_table){.qpn = QPN_FIRST + i};
	ticket_set_address(&t->at[i], r, i, t->epoch);
	if (table->kind != TABLE_APPEND)
		return 0;
	t->at[i].heads = calloc(table->lists, sizeof(*t->at[i].heads));
	if (!t->at[i].heads)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	for (uint32_t k = 0; k < table->lists; k++)
		t->at[i].heads[k] = region_list_count(r, table, t->epoch, k);
	return 0;
}

/* Whether a packet can end within a slot or an entry, of *bytes. A slot is one
 * write, and so is a batch of entries; chunks fit every MTU. */
static bool is_cut(const struct table *t, unsigned mtu, unsigned *bytes)
{
	if (t->kind == TABLE_APPEND) {
		*bytes = t->stride;
		return t->batch * t->stride > mtu && mtu % t->stride;
	}
	*bytes = 4u + t->value_len;
	return t->kind == TABLE_KEYWRITE && *bytes > mtu;
}

int ticket_check_mtu(const struct table *tables, unsigned n, unsigned mtu,
		     struct error *err)
{
	unsigned bytes;

	mtu = mtu ? mtu : TICKET_MTU;
	for (unsigned i = 0; i < n; i++) {
		const struct table *t = &tables[i];
		bool append = t->kind == TABLE_APPEND;

		if (t->qp == TABLE_QP_UC && is_cut(t, mtu, &bytes))
			return error_set(
				err, -EINVAL,
				"table %s: qp: packets of %u bytes, the path "
				"MTU, cut %s of %u bytes, and on UC a lost one "
				"would leave halves of two values: say qp = "
				"rc, a smaller value%s, or a larger MTU "
				"(dta-collect --mtu)",
				t->name, mtu, append ? "entries" : "slots",
				bytes,
				append ? ", a smaller batch, stride = pow2"
				       : "");
	}
	return 0;
}

/* "HOST:", or ":" if it has no name. Returns its length. */
static size_t put_host(char out[TICKET_REGION])
{
	char host[TICKET_REGION - 1];

	if (gethostname(host, sizeof(host)) < 0)
		*host = '\0';
	host[sizeof(host) - 1] = '\0';
	return (size_t)snprintf(out, TICKET_REGION, "%s:", host);
}

const char *ticket_region(const struct ticket *t)
{
	char host[TICKET_REGION];

	put_host(host);
	return strncmp(t->region, host, strlen(host))
		       ? NULL
		       : t->region + strlen(host);
}

int ticket_of_region(struct ticket *t, const struct region *r,
		     struct error *err)
{
	static const char shm[] = "/dev/shm/";
	const char *path = region_path(r);
	size_t skip = strncmp(path, shm, strlen(shm)) ? 0 : strlen(shm), n;
	int rc;

	default_addresses(t);
	if (is_zero(t->ip, 16) || is_zero(t->peer_ip, 16))
		return error_set(err, -EINVAL,
				 "IPv6 needs both addresses: the collector's "
				 "and the translator's");
	t->epoch = region_epoch(r);
	n = put_host(t->region);
	/* A path that would not be read back as it is written is left out. */
	if (strpbrk(path, ";#\n") || n + strlen(path) >= TICKET_REGION)
		*t->region = '\0';
	else
		snprintf(t->region + n, TICKET_REGION - n, "%s", path + skip);
	for (t->n = 0; t->n < region_tables(r); t->n++) {
		rc = describe_table(t, r, t->n, err);
		if (rc < 0) {
			ticket_fini(t); /* those before */
			return rc;
		}
	}
	return 0;
}

void ticket_fini(struct ticket *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		free(t->at[i].heads);
		t->at[i].heads = NULL;
	}
}

/* The fields that only some kinds of tables have. */
static void write_kind(FILE *out, const struct table *table,
		       const struct ticket_table *at)
{
	char protocol[KEY_PROTOCOL_MAX];

	switch (table->kind) {
	default:
		if (!table_counts(table))
			fprintf(out, "value = %u\n", table->value_len);
		fprintf(out, "slots = %" PRIu64 "\n", table->units);
		break;
	case TABLE_POSTCARD:
		fprintf(out,
			"chunks = %" PRIu64 "\nhops = %u\nvalues = %u-%u\n"
			"cache = %u\n",
			table->units, table->hops, table->value_min,
			table->value_max, table->cache_rows);
		break;
	case TABLE_APPEND:
		fprintf(out,
			"value = %u\nring = %" PRIu64 "\nlists = %u\n"
			"batch = %u\nflush = %ums\n",
			table->value_len, table->units, table->lists,
			table->batch, table->flush_ms);
		for (uint32_t i = 0; at->heads && i < table->lists; i++)
			if (at->heads[i])
				fprintf(out, "head = %u:%" PRIu64 "\n", i,
					at->heads[i]);
		break;
	}
	if (table->protocol)
		fprintf(out, "protocol = %s\n",
			key_protocol_text(protocol, table->protocol));
	/* A ; would begin a comment, and is in no type. */
	if (*table->show && !strpbrk(table->show, ";#"))
		fprintf(out, "show = %s\n", table->show);
	fprintf(out, "sequence = %s\nimmediate = %s\nqp = %s\n",
		table_sequences[table->sequence],
		table->immediate ? "yes" : "no",
		table->qp == TABLE_QP_UC ? "uc" : "rc");
}

static void write_table(FILE *out, const struct table *table,
			const struct ticket_table *at)
{
	fprintf(out, "\n[table %s]\nkind = %s\nid = %u\n", table->name,
		table_kind_name(table->kind), table->id);
	if (table->kind != TABLE_APPEND) {
		if (table->key_type == KEY_HEX)
			fprintf(out, "key = hex:%u\n", table->key_len);
		else
			fprintf(out, "key = %s\n",
				key_type_name((enum key_type)table->key_type));
		fprintf(out, "copies = %u\n", table->copies);
	}
	if (!table_counts(table))
		fprintf(out, "stride = %u\n", table->stride);
	fprintf(out, "hash = %s\n",
		hash_family_name((enum hash_family)table->hash));
	write_kind(out, table, at);
	fprintf(out, "qpn = 0x%x\npsn = %u\n", at->qpn, at->psn);
	if (at->lasting)
		fprintf(out, "first_psn = %u\n", at->first_psn);
	fprintf(out,
		"rkey = 0x%08x\naddress = 0x%" PRIx64 "\nlength = %" PRIu64
		"\n",
		at->rkey, at->address, table->length);
}

int ticket_write(const struct ticket *t, FILE *out)
{
	char mac[2][TEXT_MAC_MAX], ip[2][TEXT_IP_MAX];

	fprintf(out,
		"; dta ticket: how to write into this collector's memory\n"
		"[collector]\nversion = %d\n"
		"mac = %s\nip = %s\npeer_mac = %s\npeer_ip = %s\n",
		TICKET_VERSION, text_of_mac(mac[0], t->mac),
		text_of_ip(ip[0], t->version, t->ip),
		text_of_mac(mac[1], t->peer_mac),
		text_of_ip(ip[1], t->version, t->peer_ip));
	if (*t->region)
		fprintf(out, "region = %s\n", t->region);
	fprintf(out, "mtu = %u\nepoch = %" PRIu64 "\ntables = %u\n", t->mtu,
		t->epoch, t->n);
	if (t->atomics)
		fprintf(out, "atomics = %u\n", t->atomics);
	for (unsigned i = 0; i < t->n; i++)
		write_table(out, &t->table[i], &t->at[i]);
	errno = 0;
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

int ticket_take_heads(uint64_t *heads[TABLE_MAX], const struct ticket *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		const uint64_t *from = t->at[i].heads;
		size_t size = t->table[i].lists * sizeof(*from);

		if (t->table[i].kind != TABLE_APPEND)
			continue;
		if (!heads[i] && !(heads[i] = malloc(size)))
			return -ENOMEM;
		if (from)
			memcpy(heads[i], from, size);
		else
			memset(heads[i], 0, size);
	}
	return 0;
}

void ticket_note_head(uint64_t *const heads[TABLE_MAX], const struct ticket *t,
		      const struct op *op)
{
	const struct table *table = &t->table[op->table];
	uint64_t list = (op->offset - table->heads) / 8;

	if (table->kind == TABLE_APPEND && op->verb != OP_FETCH_ADD &&
	    op->length == 8 && op->offset >= table->heads &&
	    list < table->lists)
		heads[op->table][list] = be64_load(op->data);
}

struct ticket_stamp ticket_stamp(const char *path)
{
	struct ticket_stamp s = {0};
	struct stat st;

	if (!strcmp(path, "-") || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return s;
	s.device = st.st_dev;
	s.inode = st.st_ino;
	s.size = (uint64_t)st.st_size;
	s.written_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
		       (uint64_t)st.st_mtim.tv_nsec;
	return s;
}

bool ticket_stamps_equal(const struct ticket_stamp *a,
			 const struct ticket_stamp *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       a->size == b->size && a->written_ns == b->written_ns;
}

/* What a table's section says; seen: a bit for each field that was given. */
struct parsed_table {
	struct ticket_table at;
	uint64_t length, seen, layout_seen;
};

struct reader {
	struct ini ini;
	unsigned header; /* the line of the present section's [...] */
	struct ticket t;
	uint64_t version, tables, seen;
	struct parsed_table parsed[TABLE_MAX];
};

/* Both addresses are of one family. */
static int set_ip(const struct field *field, void *reader, const char *value,
		  struct error *err)
{
	struct ticket *t = &((struct reader *)reader)->t;
	uint8_t *ip = (uint8_t *)reader + field->at;
	uint8_t version = text_ip(ip, value);

	(void)err;
	if (!version || (t->version && t->version != version))
		return -EINVAL;
	t->version = version;
	return 0;
}

static int set_region(const struct field *field, void *reader,
		      const char *value, struct error *err)
{
	char *region = ((struct reader *)reader)->t.region;

	(void)field;
	(void)err;
	return snprintf(region, TICKET_REGION, "%s", value) < TICKET_REGION
		       ? 0
		       : -EINVAL;
}

static int set_mtu(const struct field *field, void *reader, const char *value,
		   struct error *err)
{
	uint64_t n;

	(void)field;
	(void)err;
	if (!text_number(&n, value, 4096) || n < 256 || n & (n - 1))
		return -EINVAL;
	((struct reader *)reader)->t.mtu = (uint16_t)n;
	return 0;
}

/* clang-format off */
#define NUMBER(type, member) FIELD_NUMBER, \
	sizeof(((type *)0)->member), offsetof(type, member)
#define BYTES(member, kind) kind, 0, offsetof(struct reader, member)

enum {
	REQUIRED = 0xff, /* bits of the first eight of collector_fields[] */
	TABLE_REQUIRED = 0x1f,
	LASTING = 0x20, /* it has a first_psn */
};

static const struct field collector_fields[] = {
	{ "version", NUMBER(struct reader, version), 0, UINT32_MAX,
	  .want = "a number" },
	{ "mac", BYTES(t.mac, FIELD_MAC), .want = "a MAC address" },
	{ "peer_mac", BYTES(t.peer_mac, FIELD_MAC), .want = "a MAC address" },
	{ "ip", BYTES(t.ip, FIELD_OTHER), .set = set_ip,
	  .want = "an IP address of one family with the other" },
	{ "peer_ip", BYTES(t.peer_ip, FIELD_OTHER), .set = set_ip,
	  .want = "an IP address of one family with the other" },
	{ "mtu", FIELD_OTHER, .set = set_mtu,
	  .want = "256, 512, 1024, 2048 or 4096" },
	{ "epoch", NUMBER(struct reader, t.epoch), 1, UINT64_MAX,
	  .want = "a number from 1" },
	{ "tables", NUMBER(struct reader, tables), 0, TABLE_MAX,
	  .want = "a number up to 64" },
	{ "atomics", NUMBER(struct reader, t.atomics), 1, UINT16_MAX,
	  .want = "1 to 65535" },
	{ "region", FIELD_OTHER, .set = set_region,
	  .want = "HOST:NAME, of 255 bytes at most" },
	{ NULL },
};

/* What layouts do not have. */
static const struct field table_fields[] = {
	/* queue pairs 0 and 1 are management's */
	{ "qpn", NUMBER(struct parsed_table, at.qpn), 2, ROCE_PSN_MASK,
	  .want = "2 to 0xffffff" },
	{ "psn", NUMBER(struct parsed_table, at.psn), 0, ROCE_PSN_MASK,
	  .want = "0 to 0xffffff" },
	{ "rkey", NUMBER(struct parsed_table, at.rkey), 0, UINT32_MAX,
	  .want = "0 to 0xffffffff" },
	{ "address", NUMBER(struct parsed_table, at.address), 0, UINT64_MAX,
	  .want = "a number" },
	{ "length", NUMBER(struct parsed_table, length), 0, UINT64_MAX,
	  .want = "a number" },
	{ "first_psn", NUMBER(struct parsed_table, at.first_psn), 0,
	  ROCE_PSN_MASK, .want = "0 to 0xffffff" },
	{ NULL },
};
/* clang-format on */

static int refuse_value(const struct reader *r, const char *what,
			const char *value)
{
	return ini_error(&r->ini, r->ini.line, -EINVAL, "%s: '%s'", what,
			 value);
}

/* "LIST:COUNT". The number of lists must have been given before. */
static int parse_head(struct reader *r, unsigned i)
{
	const struct ini *ini = &r->ini;
	uint32_t lists = r->t.table[i].lists;
	uint64_t **heads = &r->t.at[i].heads, list, count;
	const char *colon = text_digits(&list, ini->value, UINT32_MAX);

	if (!colon || *colon != ':' ||
	    !text_number(&count, colon + 1, UINT64_MAX))
		return ini_error(ini, ini->line, -EINVAL,
				 "head: '%s' is not LIST:COUNT", ini->value);
	if (list >= lists || lists > TICKET_LISTS_MAX)
		return ini_error(ini, ini->line, -EINVAL,
				 "head: there is no list %u", (unsigned)list);
	if (!*heads && !(*heads = calloc(lists, sizeof(**heads))))
		return ini_error(ini, 0, -ENOMEM, "%s", strerror(ENOMEM));
	(*heads)[list] = count;
	return 0;
}

/* Other fields are those that a layout has for a table. But older tickets call
 * the ring "entries". */
static int table_field(struct reader *r)
{
	const struct ini *ini = &r->ini;
	unsigned i = r->t.n - 1;
	const char *key = strcmp(ini->key, "entries") ? ini->key : "ring";
	struct error why = {""};
	int k = layout_field(key);

	if (field_find(table_fields, ini->key) >= 0)
		return ini_set(ini, table_fields, &r->parsed[i].seen,
			       &r->parsed[i]);
	if (!strcmp(ini->key, "head"))
		return parse_head(r, i);
	if (k >= 0 && !field_once(&r->parsed[i].layout_seen, k))
		return refuse_value(r, "given twice", key);
	return layout_set(&r->t.table[i], key, ini->value, &why) < 0
		       ? ini_error(ini, ini->line, -EINVAL, "%s", why.text)
		       : 0;
}

static int enter_section(struct reader *r)
{
	static const char prefix[] = "table ";
	const char *section = r->ini.section, *name = section + strlen(prefix);
	struct ticket *t = &r->t;

	r->header = r->ini.header;
	if (!strcmp(section, "collector"))
		return 0;
	if (strncmp(section, prefix, strlen(prefix)) != 0 || !*name ||
	    strlen(name) >= TABLE_NAME_MAX)
		return refuse_value(r, "no such section", section);
	if (t->n == TABLE_MAX)
		return refuse_value(r, "too many tables", section);
	for (unsigned i = 0; i < t->n; i++)
		if (!strcmp(t->table[i].name, name))
			return refuse_value(r, "twice the same table", name);
	memcpy(t->table[t->n++].name, name, strlen(name) + 1);
	return 0;
}

static int read_all(struct reader *r)
{
	struct ini *i = &r->ini;
	int rc;

	while ((rc = ini_next(i)) > 0) {
		if (!i->header)
			return refuse_value(r, "not in a section", i->key);
		if (i->header != r->header && enter_section(r) < 0)
			return -EINVAL;
		rc = strcmp(i->section, "collector")
			     ? table_field(r)
			     : ini_set(i, collector_fields, &r->seen, r);
		if (rc < 0)
			return rc;
		if (r->seen & 1 && r->version != TICKET_VERSION)
			return ini_error(i, i->line, -EPROTONOSUPPORT,
					 "a ticket of another version: '%s'",
					 i->value);
	}
	if (!rc && i->empty_section)
		rc = ini_error(i, i->empty_section, -EINVAL,
			       "a section without fields");
	return rc;
}

static int check_table(const struct reader *r, unsigned i, struct error *err)
{
	const struct parsed_table *parsed = &r->parsed[i];
	const struct ticket *t = &r->t;
	const struct ticket_table *at = &t->at[i];
	const struct table *table = &t->table[i];

	if (~parsed->seen & TABLE_REQUIRED)
		return error_set(err, -EINVAL,
				 "qpn, psn, rkey, address and length are "
				 "needed");
	if (table->length != parsed->length)
		return error_set(err, -EINVAL,
				 "length: the geometry has %llu bytes",
				 (unsigned long long)table->length);
	if (at->address > UINT64_MAX - table->length)
		return error_set(err, -EINVAL,
				 "address: the table would not end");
	if (table->lists > TICKET_LISTS_MAX)
		return error_set(err, -EINVAL, "lists: more than %d",
				 TICKET_LISTS_MAX);
	for (unsigned k = 0; k < i; k++)
		if (t->table[k].id == table->id || t->at[k].qpn == at->qpn)
			return error_set(err, -EINVAL,
					 "id or qpn of another table");
	return 0;
}

/* Checks the ticket as a whole, after every line was good. */
static int check_all(struct reader *r, struct error *err)
{
	struct ticket *t = &r->t;
	struct error why = {""};
	int rc;

	if (~r->seen & REQUIRED)
		return error_set(err, -EINVAL,
				 "not a whole ticket: [collector] needs "
				 "version, mac, peer_mac, ip, peer_ip, mtu, "
				 "epoch and tables (dta-collect --ticket "
				 "writes it)");
	if (!t->n || t->n != r->tables)
		return error_set(err, -EINVAL,
				 "not a whole ticket: %u tables of %llu", t->n,
				 (unsigned long long)r->tables);
	for (unsigned i = 0; i < t->n; i++) {
		r->parsed[i].at.heads = t->at[i].heads;
		t->at[i] = r->parsed[i].at;
		t->at[i].lasting = r->parsed[i].seen & LASTING;
		rc = table_finish(&t->table[i], &why);
		if (!rc)
			rc = check_table(r, i, &why);
		if (rc < 0)
			return error_set(err, rc, "[table %s]: %s",
					 t->table[i].name, why.text);
	}
	return 0;
}

int ticket_parse(struct ticket *t, FILE *in, const char *name,
		 struct error *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct error why = {""};
	int rc;

	memset(t, 0, sizeof(*t));
	if (!r)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	r->ini = (struct ini){
		.in = in,
		.name = name,
		.bad_line = "not a line of a ticket",
		.err = err,
	};
	rc = read_all(r);
	if (!rc && (rc = check_all(r, &why)) < 0)
		ini_error(&r->ini, 0, rc, "%s", why.text);
	if (rc < 0)
		ticket_fini(&r->t);
	else
		*t = r->t;
	free(r);
	return rc;
}

int ticket_read(struct ticket *t, const char *path, struct error *err)
{
	bool is_stdin = !strcmp(path, "-");
	struct ticket_stamp stamp = ticket_stamp(path); /* before it is read */
	FILE *in = is_stdin ? stdin : fopen(path, "re");
	int rc;

	if (!in)
		return error_set(err, -errno, "%s: %s", path, strerror(errno));
	rc = ticket_parse(t, in, is_stdin ? "standard input" : path, err);
	if (!is_stdin)
		fclose(in);
	if (rc == 0)
		t->stamp = stamp;
	return rc;
}

bool ticket_is_same(const struct ticket *a, const struct ticket *b)
{
	if (a->version != b->version || a->mtu != b->mtu ||
	    a->atomics != b->atomics || a->epoch != b->epoch ||
	    memcmp(a->mac, b->mac, 6) || memcmp(a->peer_mac, b->peer_mac, 6) ||
	    memcmp(a->ip, b->ip, 16) || memcmp(a->peer_ip, b->peer_ip, 16))
		return false;
	for (unsigned i = 0; i < a->n; i++) {
		const struct ticket_table *x = &a->at[i], *y = &b->at[i];
		size_t heads = a->table[i].lists * sizeof(*x->heads);

		if (x->qpn != y->qpn || x->psn != y->psn ||
		    x->lasting != y->lasting || x->first_psn != y->first_psn ||
		    x->rkey != y->rkey || x->address != y->address ||
		    !x->heads != !y->heads ||
		    (x->heads && memcmp(x->heads, y->heads, heads)))
			return false;
	}
	return true;
}

/* First PSNs are random: another queue pair of the same number has another. */
bool ticket_pair_lasts(const struct ticket *was, const struct ticket *now,
		       unsigned table)
{
	const struct ticket_table *a = &was->at[table], *b = &now->at[table];

	return a->lasting && b->lasting && a->first_psn == b->first_psn &&
	       a->qpn == b->qpn && was->version == now->version &&
	       !memcmp(was->ip, now->ip, 16);
}

/* By the time that the ticket is read, the queue pair expects what was sent
 * after it was written, so next is right. But not if it lies before the
 * ticket's PSN. */
uint32_t ticket_psn(const struct ticket *was, const struct ticket *now,
		    unsigned table, uint32_t next)
{
	uint32_t psn = now->at[table].psn;

	return ticket_pair_lasts(was, now, table) &&
			       ((next - psn) & ROCE_PSN_MASK) < ROCE_PSN_HALF
		       ? next
		       : psn;
}
