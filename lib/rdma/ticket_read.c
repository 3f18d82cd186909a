/* SPDX-License-Identifier: BSD-2-Clause */
/* Tickets are read as strangers' files: nothing is believed unseen. */
#include <arpa/inet.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "rdma/ticket.h"
#include "store/layout.h"
#include "wire/roce.h"

struct reader {
	struct ticket *t;
	struct fault *f;
	struct fault line; /* of the first bad line */
	uint64_t length[TABLE_MAX]; /* as the ticket says */
	/* head = lines come before lists may be known: list and count */
	struct {
		unsigned table;
		uint32_t list;
		uint64_t count;
	} *head;
	size_t heads, head_room;
	char section[TABLE_NAME_MAX + 16];
	bool version_seen;
	int error;
};

static int bad(struct reader *r, int err, const char *what, const char *value)
{
	if (!r->error)
		r->error = fault_set(&r->line, err, "%s: '%s'", what, value);
	return 0; /* as inih wants it */
}

static bool number(const char *text, uint64_t max, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 0);
	return !errno && !*end && *out <= max;
}

static bool mac_of(const char *text, uint8_t *m)
{
	char end;

	return sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%c", &m[0],
		      &m[1], &m[2], &m[3], &m[4], &m[5], &end) == 6;
}

static bool ip_of(struct ticket *t, const char *text, uint8_t *ip)
{
	uint8_t version = strchr(text, ':') ? 6 : 4;

	if (t->version && t->version != version)
		return false;
	t->version = version;
	return inet_pton(version == 6 ? AF_INET6 : AF_INET, text, ip) == 1;
}

static int collector_field(struct reader *r, const char *name,
			   const char *value)
{
	struct ticket *t = r->t;
	uint64_t n = 0;
	bool ok;

	if (!strcmp(name, "version")) {
		r->version_seen = ok = number(value, UINT32_MAX, &n);
		if (ok && n != TICKET_VERSION)
			return bad(r, -EPROTONOSUPPORT,
				   "a ticket of another version", value);
	} else if (!strcmp(name, "mac")) {
		ok = mac_of(value, t->mac);
	} else if (!strcmp(name, "peer_mac")) {
		ok = mac_of(value, t->peer_mac);
	} else if (!strcmp(name, "ip")) {
		ok = ip_of(t, value, t->ip);
	} else if (!strcmp(name, "peer_ip")) {
		ok = ip_of(t, value, t->peer_ip);
	} else if (!strcmp(name, "mtu")) {
		ok = number(value, 4096, &n) && n >= 256 && !(n & (n - 1));
		t->mtu = (uint16_t)n;
	} else if (!strcmp(name, "epoch")) {
		ok = number(value, UINT64_MAX, &t->epoch);
	} else {
		return bad(r, -EINVAL, "no such field", name);
	}
	return ok ? 1 : bad(r, -EINVAL, name, value);
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
	if (!number(list, UINT32_MAX, &n) ||
	    !number(value + len + 1, UINT64_MAX >> 1, &count))
		return false;
	if (r->heads == r->head_room) {
		size_t room = r->head_room ? 2 * r->head_room : 64;
		void *p = realloc(r->head, room * sizeof(*r->head));

		if (!p)
			return false;
		r->head = p;
		r->head_room = room;
	}
	r->head[r->heads].table = r->t->n - 1;
	r->head[r->heads].list = (uint32_t)n;
	r->head[r->heads++].count = count;
	return true;
}

static int table_field(struct reader *r, const char *name, const char *value)
{
	unsigned i = r->t->n - 1;
	struct ticket_table *at = &r->t->at[i];
	struct fault why = { "" };
	uint64_t n = 0;
	int rc;

	if (!strcmp(name, "qpn")) {
		rc = number(value, ROCE_PSN_MASK, &n) && n > 1;
		at->qpn = (uint32_t)n;
	} else if (!strcmp(name, "psn")) {
		rc = number(value, ROCE_PSN_MASK, &n);
		at->psn = (uint32_t)n;
	} else if (!strcmp(name, "rkey")) {
		rc = number(value, UINT32_MAX, &n);
		at->rkey = (uint32_t)n;
	} else if (!strcmp(name, "address")) {
		rc = number(value, UINT64_MAX, &at->address);
	} else if (!strcmp(name, "length")) {
		rc = number(value, UINT64_MAX, &r->length[i]);
	} else if (!strcmp(name, "head")) {
		rc = head_of(r, value);
	} else {
		rc = layout_set(&r->t->table[i], name, value, &why);
		if (rc < 0)
			return bad(r, rc, why.text[0] ? why.text : name, value);
		return 1;
	}
	return rc ? 1 : bad(r, -EINVAL, name, value);
}

static int enter_section(struct reader *r, const char *section)
{
	struct ticket *t = r->t;
	const char *name = section + strlen("table ");

	if (strlen(section) >= sizeof(r->section))
		return bad(r, -EINVAL, "section name too long", section);
	strcpy(r->section, section);
	if (!strcmp(section, "collector"))
		return 1;
	if (strncmp(section, "table ", 6) != 0 || !*name ||
	    strlen(name) >= TABLE_NAME_MAX)
		return bad(r, -EINVAL, "no such section", section);
	if (t->n == TABLE_MAX)
		return bad(r, -EINVAL, "too many tables", section);
	for (unsigned i = 0; i < t->n; i++)
		if (!strcmp(t->table[i].name, name))
			return bad(r, -EINVAL, "twice the same table", name);
	strcpy(t->table[t->n++].name, name);
	return 1;
}

static int on_line(void *user, const char *section, const char *name,
		   const char *value)
{
	struct reader *r = user;

	if (r->error)
		return 0;
	if (strcmp(section, r->section) != 0 && !enter_section(r, section))
		return 0;
	return strcmp(section, "collector") ? table_field(r, name, value) :
					      collector_field(r, name, value);
}

static int place_heads(struct reader *r)
{
	struct ticket *t = r->t;

	for (unsigned i = 0; i < t->n; i++) {
		if (t->table[i].kind != TABLE_APPEND)
			continue;
		t->at[i].heads =
			calloc(t->table[i].lists, sizeof(*t->at[i].heads));
		if (!t->at[i].heads)
			return fault_set(r->f, -ENOMEM, "%s", strerror(ENOMEM));
	}
	for (size_t k = 0; k < r->heads; k++) {
		unsigned i = r->head[k].table;

		if (t->table[i].kind != TABLE_APPEND ||
		    r->head[k].list >= t->table[i].lists)
			return fault_set(r->f, -EINVAL, "%s: no list %u",
					 t->table[i].name, r->head[k].list);
		t->at[i].heads[r->head[k].list] = r->head[k].count;
	}
	return 0;
}

/* The whole, once every line was good. */
static int check(struct reader *r)
{
	struct ticket *t = r->t;

	if (!r->version_seen || !t->version || !t->mtu || !t->n)
		return fault_set(r->f, -EINVAL,
				 "not a ticket: version, ip, mtu and a table "
				 "are needed (dta-collect --ticket writes it)");
	for (unsigned i = 0; i < t->n; i++) {
		struct table *g = &t->table[i];
		struct ticket_table *at = &t->at[i];
		struct fault why = { "" };
		int rc = table_finish(g, &why);

		if (rc < 0)
			return fault_set(r->f, rc, "[table %s]: %s", g->name,
					 why.text);
		if (g->length != r->length[i])
			return fault_set(r->f, -EINVAL,
					 "[table %s]: length does not fit the "
					 "geometry", g->name);
		if (!at->qpn || at->address > UINT64_MAX - g->length)
			return fault_set(r->f, -EINVAL,
					 "[table %s]: qpn or address is wrong",
					 g->name);
		for (unsigned k = 0; k < i; k++)
			if (t->table[k].id == g->id || t->at[k].qpn == at->qpn)
				return fault_set(r->f, -EINVAL,
						 "[table %s]: id or qpn of "
						 "another table", g->name);
	}
	return place_heads(r);
}

int ticket_read(struct ticket *t, const char *path, struct fault *f)
{
	struct reader r = { .t = t, .f = f };
	bool is_stdin = !strcmp(path, "-");
	FILE *in = is_stdin ? stdin : fopen(path, "r");
	int line, rc;

	memset(t, 0, sizeof(*t));
	if (!in)
		return fault_set(f, -errno, "%s: %s", path, strerror(errno));
	line = ini_parse_file(in, on_line, &r);
	if (!is_stdin)
		fclose(in);
	if (line && r.error)
		rc = fault_set(f, r.error, "%s:%d: %s", path, line,
			       r.line.text);
	else if (line)
		rc = fault_set(f, -EBADMSG, "%s:%d: not a line of a ticket",
			       path, line);
	else if ((rc = check(&r)) < 0 && f) {
		struct fault why = *f;

		fault_set(f, rc, "%s: %.400s", path, why.text);
	}
	free(r.head);
	if (rc < 0)
		ticket_fini(t);
	return rc;
}
