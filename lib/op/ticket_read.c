/* SPDX-License-Identifier: BSD-2-Clause */
/* Tickets are read as strangers' files: nothing is believed unseen. */
#include <arpa/inet.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "op/ticket.h"
#include "store/layout.h"
#include "wire/roce.h"

/* head = LIST:COUNT, kept until the number of lists is known. */
struct head {
	unsigned table;
	uint32_t list;
	uint64_t count;
};

struct reader {
	struct ticket *t;
	FILE *in;
	int line;
	int error, error_line; /* the first bad line */
	struct fault why;
	char section[TABLE_NAME_MAX + 8];
	uint64_t tables;		      /* as the ticket says */
	uint64_t length[TABLE_MAX];	      /* the same */
	uint16_t seen, table_seen[TABLE_MAX]; /* fields, a bit each */
	uint32_t layout_seen[TABLE_MAX];      /* those of layouts */
	struct head *head;
	size_t heads, head_room;
};

/* What inih's handlers return: 1 good, 0 bad. */
static int bad(struct reader *r, int err, const char *what, const char *value)
{
	if (!r->error) {
		r->error = fault_set(&r->why, err, "%s: '%s'", what, value);
		r->error_line = r->line;
	}
	return 0;
}

static int bad_value(struct reader *r, const char *name, const char *value,
		     const char *want)
{
	if (!r->error) {
		r->error = fault_set(&r->why, -EINVAL, "%s: '%.200s' is not %s",
				     name, value, want);
		r->error_line = r->line;
	}
	return 0;
}

/* What the fault tells already, value included. */
static int bad_field(struct reader *r, const struct fault *why)
{
	if (!r->error) {
		r->error = fault_set(&r->why, -EINVAL, "%s", why->text);
		r->error_line = r->line;
	}
	return 0;
}

/* Decimal, or hexadecimal with 0x in front. */
static bool number(const char *text, uint64_t max, uint64_t *out)
{
	bool hex = text[0] == '0' && text[1] == 'x';
	const char *digits = hex ? text + 2 : text;
	char *end;

	if (!*digits || strspn(digits, hex ? "0123456789abcdefABCDEF"
					   : "0123456789") != strlen(digits))
		return false;
	errno = 0;
	*out = strtoull(digits, &end, hex ? 16 : 10);
	return !errno && *out <= max;
}

/* Six pairs of hexadecimal digits with colons between them. */
static bool mac_of(const char *text, uint8_t *m)
{
	char pair[5] = "0x";
	uint64_t byte;

	if (strlen(text) != 17)
		return false;
	for (unsigned i = 0; i < 6; i++, text += 3) {
		memcpy(pair + 2, text, 2);
		if (!number(pair, 255, &byte) || (i < 5 && text[2] != ':'))
			return false;
		m[i] = (uint8_t)byte;
	}
	return true;
}

/* Both addresses are of one family. */
static const char IP_WANTED[] = "an IP address of one family with the other";

static bool ip_of(struct ticket *t, const char *text, uint8_t *ip)
{
	uint8_t version = strchr(text, ':') ? 6 : 4;

	if (t->version && t->version != version)
		return false;
	t->version = version;
	return inet_pton(version == 6 ? AF_INET6 : AF_INET, text, ip) == 1;
}

/* The place of a field among names, which is noted in *seen; -EEXIST if it was.
 */
static int field_of(const char *name, const char *const *names, unsigned n,
		    uint16_t *seen)
{
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		if (*seen >> i & 1)
			return -EEXIST;
		*seen |= (uint16_t)(1 << i);
		return (int)i;
	}
	return -ENOENT;
}

/* The geometry's: what a layout may say of a table. But entries is what older
 * tickets call the ring. */
static int layout_field_of(struct reader *r, unsigned i, const char *name,
			   const char *value)
{
	struct fault why = {""};
	int k;

	if (!strcmp(name, "entries"))
		name = "ring";
	k = layout_field(name);
	if (k >= 0 && r->layout_seen[i] >> k & 1)
		return bad(r, -EINVAL, "given twice", name);
	if (k >= 0)
		r->layout_seen[i] |= UINT32_C(1) << k;
	return layout_set(&r->t->table[i], name, value, &why) < 0
		       ? bad_field(r, &why)
		       : 1;
}

/* Every field of [collector], and those of a table that layouts do not have.
 * All up to F_TABLES and F_LENGTH are required. */
enum {
	F_VERSION,
	F_MAC,
	F_PEER_MAC,
	F_IP,
	F_PEER_IP,
	F_MTU,
	F_EPOCH,
	F_TABLES,
	F_ATOMICS,
};

enum {
	F_QPN,
	F_PSN,
	F_RKEY,
	F_ADDRESS,
	F_LENGTH,
	F_FIRST_PSN,
};

static int collector_field(struct reader *r, const char *name,
			   const char *value)
{
	static const char *const names[] = {
		[F_VERSION] = "version",   [F_MAC] = "mac",
		[F_PEER_MAC] = "peer_mac", [F_IP] = "ip",
		[F_PEER_IP] = "peer_ip",   [F_MTU] = "mtu",
		[F_EPOCH] = "epoch",	   [F_TABLES] = "tables",
		[F_ATOMICS] = "atomics",
	};
	struct ticket *t = r->t;
	const char *want = "a number";
	uint64_t n = 0;
	bool ok = false;

	switch (field_of(name, names, F_ATOMICS + 1, &r->seen)) {
	case F_VERSION:
		ok = number(value, UINT32_MAX, &n);
		if (ok && n != TICKET_VERSION)
			return bad(r, -EPROTONOSUPPORT,
				   "a ticket of another version", value);
		break;
	case F_MAC:
		ok = mac_of(value, t->mac);
		want = "a MAC address";
		break;
	case F_PEER_MAC:
		ok = mac_of(value, t->peer_mac);
		want = "a MAC address";
		break;
	case F_IP:
		ok = ip_of(t, value, t->ip);
		want = IP_WANTED;
		break;
	case F_PEER_IP:
		ok = ip_of(t, value, t->peer_ip);
		want = IP_WANTED;
		break;
	case F_MTU:
		ok = number(value, 4096, &n) && n >= 256 && !(n & (n - 1));
		t->mtu = (uint16_t)n;
		want = "256, 512, 1024, 2048 or 4096";
		break;
	case F_EPOCH:
		ok = number(value, UINT64_MAX, &t->epoch) && t->epoch;
		want = "a number from 1";
		break;
	case F_TABLES:
		ok = number(value, TABLE_MAX, &r->tables);
		want = "a number up to 64";
		break;
	case F_ATOMICS:
		ok = number(value, UINT16_MAX, &n) && n;
		t->atomics = (uint16_t)n;
		want = "1 to 65535";
		break;
	case -EEXIST:
		return bad(r, -EINVAL, "given twice", name);
	default:
		return bad(r, -EINVAL, "no such field", name);
	}
	return ok ? 1 : bad_value(r, name, value, want);
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
	if (!number(list, TICKET_LISTS_MAX - 1, &n) ||
	    !number(value + len + 1, UINT64_MAX, &count))
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
		.table = r->t->n - 1,
		.list = (uint32_t)n,
		.count = count,
	};
	return true;
}

static int table_field(struct reader *r, const char *name, const char *value)
{
	static const char *const names[] = {
		[F_QPN] = "qpn",       [F_PSN] = "psn",
		[F_RKEY] = "rkey",     [F_ADDRESS] = "address",
		[F_LENGTH] = "length", [F_FIRST_PSN] = "first_psn",
	};
	unsigned i = r->t->n - 1;
	struct ticket_table *at = &r->t->at[i];
	const char *want = "a number", *psn = "0 to 0xffffff";
	uint64_t n = 0;
	bool ok = false;

	switch (field_of(name, names, F_FIRST_PSN + 1, &r->table_seen[i])) {
	case F_QPN: /* 0 and 1 are management's */
		ok = number(value, ROCE_PSN_MASK, &n) && n > 1;
		at->qpn = (uint32_t)n;
		want = "2 to 0xffffff";
		break;
	case F_PSN:
		ok = number(value, ROCE_PSN_MASK, &n);
		at->psn = (uint32_t)n;
		want = psn;
		break;
	case F_FIRST_PSN:
		ok = number(value, ROCE_PSN_MASK, &n);
		at->first_psn = (uint32_t)n;
		at->lasting = true;
		want = psn;
		break;
	case F_RKEY:
		ok = number(value, UINT32_MAX, &n);
		at->rkey = (uint32_t)n;
		want = "0 to 0xffffffff";
		break;
	case F_ADDRESS:
		ok = number(value, UINT64_MAX, &at->address);
		break;
	case F_LENGTH:
		ok = number(value, UINT64_MAX, &r->length[i]);
		break;
	case -EEXIST:
		return bad(r, -EINVAL, "given twice", name);
	default:
		if (strcmp(name, "head") != 0)
			return layout_field_of(r, i, name, value);
		ok = head_of(r, value);
		want = "LIST:COUNT";
	}
	return ok ? 1 : bad_value(r, name, value, want);
}

static int enter_section(struct reader *r, const char *section)
{
	static const char prefix[] = "table ";
	struct ticket *t = r->t;
	const char *name = section + strlen(prefix);

	if (strlen(section) >= sizeof(r->section))
		return bad(r, -EINVAL, "section name too long", section);
	snprintf(r->section, sizeof(r->section), "%s", section);
	if (!strcmp(section, "collector"))
		return 1;
	if (strncmp(section, prefix, strlen(prefix)) != 0 || !*name ||
	    strlen(name) >= TABLE_NAME_MAX)
		return bad(r, -EINVAL, "no such section", section);
	if (t->n == TABLE_MAX)
		return bad(r, -EINVAL, "too many tables", section);
	for (unsigned i = 0; i < t->n; i++)
		if (!strcmp(t->table[i].name, name))
			return bad(r, -EINVAL, "twice the same table", name);
	memcpy(t->table[t->n++].name, name, strlen(name) + 1);
	return 1;
}

static int on_field(void *user, const char *section, const char *name,
		    const char *value)
{
	struct reader *r = user;

	if (r->error)
		return 0;
	if (!*section)
		return bad(r, -EINVAL, "not in a section", name);
	if (strcmp(section, r->section) != 0 && !enter_section(r, section))
		return 0;
	return strcmp(section, "collector") ? table_field(r, name, value)
					    : collector_field(r, name, value);
}

/* inih's fgets(), which counts as inih does. */
static char *on_line(char *text, int size, void *user)
{
	struct reader *r = user;

	r->line++;
	return fgets(text, size, r->in);
}

static int check_table(const struct reader *r, unsigned i, struct fault *f)
{
	const struct ticket *t = r->t;
	const struct ticket_table *at = &t->at[i];
	const struct table *g = &t->table[i];

	if (~r->table_seen[i] & ((2 << F_LENGTH) - 1))
		return fault_set(f, -EINVAL,
				 "qpn, psn, rkey, address and length are "
				 "needed");
	if (g->length != r->length[i])
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
	struct ticket *t = r->t;

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
	struct ticket *t = r->t;
	struct fault why = {""};
	int rc;

	if (~r->seen & ((2 << F_TABLES) - 1))
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
	struct reader r = {.t = t, .in = in};
	struct fault why = {""};
	int line, rc;

	memset(t, 0, sizeof(*t));
	line = ini_parse_stream(on_line, &r, on_field, &r);
	if (ferror(in))
		rc = fault_set(f, -EIO, "%s: cannot be read", name);
	else if (line && line == r.error_line)
		rc = fault_set(f, r.error, "%s:%d: %s", name, line, r.why.text);
	else if (line)
		rc = fault_set(f, -EINVAL, "%s:%d: not a line of a ticket",
			       name, line);
	else if ((rc = check(&r, &why)) < 0)
		fault_set(f, rc, "%s: %.400s", name, why.text);
	free(r.head);
	if (rc < 0)
		ticket_fini(t);
	return rc;
}

int ticket_read(struct ticket *t, const char *path, struct fault *f)
{
	bool is_stdin = !strcmp(path, "-");
	struct ticket_stamp stamp = ticket_stamp(path); /* before it is read */
	FILE *in = is_stdin ? stdin : fopen(path, "r");
	int rc;

	if (!in)
		return fault_set(f, -errno, "%s: %s", path, strerror(errno));
	rc = ticket_parse(t, in, is_stdin ? "stdin" : path, f);
	if (!is_stdin)
		fclose(in);
	if (rc == 0)
		t->stamp = stamp;
	return rc;
}
