/* SPDX-License-Identifier: BSD-2-Clause */
/* Tickets are read as strangers' files: nothing is believed unseen. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/ini.h"
#include "base/text.h"
#include "op/ticket.h"
#include "store/layout.h"
#include "wire/roce.h"

/* head = LIST:COUNT, kept until the number of lists is known. */
struct head {
	unsigned table;
	uint32_t list;
	uint64_t count;
};

/* What is said of a table; seen: fields, a bit each. */
struct said {
	struct ticket_table at;
	uint64_t length, seen, layout_seen;
};

struct reader {
	struct ini ini;
	unsigned header; /* of the section in hand */
	struct ticket t;
	uint64_t version, tables, seen;
	struct said said[TABLE_MAX];
	struct head *head;
	size_t heads, head_room;
};

/* Both addresses are of one family. */
static int set_ip(const struct field *field, void *reader, const char *value,
		  struct fault *f)
{
	struct ticket *t = &((struct reader *)reader)->t;
	uint8_t *ip = (uint8_t *)reader + field->at;
	uint8_t version = text_ip(ip, value);

	(void)f;
	if (!version || (t->version && t->version != version))
		return -EINVAL;
	t->version = version;
	return 0;
}

static int set_region(const struct field *field, void *reader,
		      const char *value, struct fault *f)
{
	char *region = ((struct reader *)reader)->t.region;

	(void)field;
	(void)f;
	return snprintf(region, TICKET_REGION, "%s", value) < TICKET_REGION
		       ? 0
		       : -EINVAL;
}

static int set_mtu(const struct field *field, void *reader, const char *value,
		   struct fault *f)
{
	uint64_t n;

	(void)field;
	(void)f;
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
	REQUIRED = 0xff, /* the first eight */
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
	{ "qpn", NUMBER(struct said, at.qpn), 2, ROCE_PSN_MASK,
	  .want = "2 to 0xffffff" },
	{ "psn", NUMBER(struct said, at.psn), 0, ROCE_PSN_MASK,
	  .want = "0 to 0xffffff" },
	{ "rkey", NUMBER(struct said, at.rkey), 0, UINT32_MAX,
	  .want = "0 to 0xffffffff" },
	{ "address", NUMBER(struct said, at.address), 0, UINT64_MAX,
	  .want = "a number" },
	{ "length", NUMBER(struct said, length), 0, UINT64_MAX,
	  .want = "a number" },
	{ "first_psn", NUMBER(struct said, at.first_psn), 0, ROCE_PSN_MASK,
	  .want = "0 to 0xffffff" },
	{ NULL },
};
/* clang-format on */

static int refuse(const struct reader *r, const char *what, const char *value)
{
	return ini_fault(&r->ini, r->ini.line, -EINVAL, "%s: '%s'", what,
			 value);
}

/* "LIST:COUNT" */
static bool head_of(struct reader *r, const char *value)
{
	char list[24];
	size_t len = strcspn(value, ":");
	uint64_t n, count;

	if (len >= sizeof(list) || !value[len])
		return false;
	memcpy(list, value, len);
	list[len] = '\0';
	if (!text_number(&n, list, TICKET_LISTS_MAX - 1) ||
	    !text_number(&count, value + len + 1, UINT64_MAX))
		return false;
	if (r->heads == r->head_room) {
		size_t room = r->head_room ? 2 * r->head_room : 64;
		void *p = realloc(r->head, room * sizeof(*r->head));

		if (!p)
			return false;
		r->head = p;
		r->head_room = room;
	}
	r->head[r->heads++] = (struct head){
		.table = r->t.n - 1,
		.list = (uint32_t)n,
		.count = count,
	};
	return true;
}

/* The geometry's: what a layout may say of a table. But entries is what older
 * tickets call the ring. */
static int layout_field_of(struct reader *r, unsigned i)
{
	const struct ini *ini = &r->ini;
	const char *key = strcmp(ini->key, "entries") ? ini->key : "ring";
	struct fault why = {""};
	int k = layout_field(key);

	if (k >= 0 && !field_once(&r->said[i].layout_seen, k))
		return refuse(r, "given twice", key);
	return layout_set(&r->t.table[i], key, ini->value, &why) < 0
		       ? ini_fault(ini, ini->line, -EINVAL, "%s", why.text)
		       : 0;
}

static int table_field(struct reader *r)
{
	const struct ini *ini = &r->ini;
	unsigned i = r->t.n - 1;

	if (field_find(table_fields, ini->key) >= 0)
		return ini_set(ini, table_fields, &r->said[i].seen,
			       &r->said[i]);
	if (strcmp(ini->key, "head") != 0)
		return layout_field_of(r, i);
	return head_of(r, ini->value)
		       ? 0
		       : ini_fault(ini, ini->line, -EINVAL,
				   "head: '%s' is not LIST:COUNT", ini->value);
}

static int collector_field(struct reader *r)
{
	int rc = ini_set(&r->ini, collector_fields, &r->seen, r);

	if (r->seen & 1 && r->version != TICKET_VERSION && rc >= 0)
		return ini_fault(&r->ini, r->ini.line, -EPROTONOSUPPORT,
				 "a ticket of another version: '%s'",
				 r->ini.value);
	return rc;
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
		return refuse(r, "no such section", section);
	if (t->n == TABLE_MAX)
		return refuse(r, "too many tables", section);
	for (unsigned i = 0; i < t->n; i++)
		if (!strcmp(t->table[i].name, name))
			return refuse(r, "twice the same table", name);
	memcpy(t->table[t->n++].name, name, strlen(name) + 1);
	return 0;
}

static int read_all(struct reader *r)
{
	struct ini *i = &r->ini;
	int rc;

	while ((rc = ini_next(i)) > 0) {
		if (!i->header)
			return refuse(r, "not in a section", i->key);
		if (i->header != r->header && enter_section(r) < 0)
			return -EINVAL;
		rc = strcmp(i->section, "collector") ? table_field(r)
						     : collector_field(r);
		if (rc < 0)
			return rc;
	}
	if (!rc && i->empty)
		rc = ini_fault(i, i->empty, -EINVAL,
			       "a section without fields");
	return rc;
}

static int check_table(const struct reader *r, unsigned i, struct fault *f)
{
	const struct said *said = &r->said[i];
	const struct ticket *t = &r->t;
	const struct ticket_table *at = &t->at[i];
	const struct table *g = &t->table[i];

	if (~said->seen & TABLE_REQUIRED)
		return fault_set(f, -EINVAL,
				 "qpn, psn, rkey, address and length are "
				 "needed");
	if (g->length != said->length)
		return fault_set(f, -EINVAL,
				 "length: the geometry has %llu bytes",
				 (unsigned long long)g->length);
	if (at->address > UINT64_MAX - g->length)
		return fault_set(f, -EINVAL,
				 "address: the table would not end");
	if (g->lists > TICKET_LISTS_MAX)
		return fault_set(f, -EINVAL, "lists: more than %d",
				 TICKET_LISTS_MAX);
	for (unsigned k = 0; k < i; k++)
		if (t->table[k].id == g->id || t->at[k].qpn == at->qpn)
			return fault_set(f, -EINVAL,
					 "id or qpn of another table");
	return 0;
}

static int place_heads(struct reader *r, struct fault *f)
{
	struct ticket *t = &r->t;

	for (size_t k = 0; k < r->heads; k++) {
		const struct head *h = &r->head[k];
		const struct table *g = &t->table[h->table];
		struct ticket_table *at = &t->at[h->table];

		if (h->list >= g->lists)
			return fault_set(f, -EINVAL,
					 "[table %s]: head: there is no list "
					 "%u",
					 g->name, h->list);
		if (!at->heads)
			at->heads = calloc(g->lists, sizeof(*at->heads));
		if (!at->heads)
			return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
		at->heads[h->list] = h->count;
	}
	return 0;
}

/* The whole, once every line was good. */
static int check(struct reader *r, struct fault *f)
{
	struct ticket *t = &r->t;
	struct fault why = {""};
	int rc;

	if (~r->seen & REQUIRED)
		return fault_set(f, -EINVAL,
				 "not a whole ticket: [collector] needs "
				 "version, mac, peer_mac, ip, peer_ip, mtu, "
				 "epoch and tables (dta-collect --ticket "
				 "writes it)");
	if (!t->n || t->n != r->tables)
		return fault_set(f, -EINVAL,
				 "not a whole ticket: %u tables of %llu", t->n,
				 (unsigned long long)r->tables);
	for (unsigned i = 0; i < t->n; i++) {
		t->at[i] = r->said[i].at;
		t->at[i].lasting = r->said[i].seen & LASTING;
		rc = table_finish(&t->table[i], &why);
		if (!rc)
			rc = check_table(r, i, &why);
		if (rc < 0)
			return fault_set(f, rc, "[table %s]: %s",
					 t->table[i].name, why.text);
	}
	return place_heads(r, f);
}

int ticket_parse(struct ticket *t, FILE *in, const char *name, struct fault *f)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct fault why = {""};
	int rc;

	memset(t, 0, sizeof(*t));
	if (!r)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	r->ini = (struct ini){
		.in = in,
		.name = name,
		.strange = "not a line of a ticket",
		.f = f,
	};
	rc = read_all(r);
	if (!rc && (rc = check(r, &why)) < 0)
		ini_fault(&r->ini, 0, rc, "%s", why.text);
	if (rc < 0)
		ticket_fini(&r->t);
	else
		*t = r->t;
	free(r->head);
	free(r);
	return rc;
}

int ticket_read(struct ticket *t, const char *path, struct fault *f)
{
	bool is_stdin = !strcmp(path, "-");
	struct ticket_stamp stamp = ticket_stamp(path); /* before it is read */
	FILE *in = is_stdin ? stdin : fopen(path, "re");
	int rc;

	if (!in)
		return fault_set(f, -errno, "%s: %s", path, strerror(errno));
	rc = ticket_parse(t, in, is_stdin ? "standard input" : path, f);
	if (!is_stdin)
		fclose(in);
	if (rc == 0)
		t->stamp = stamp;
	return rc;
}
