/* SPDX-License-Identifier: BSD-2-Clause */
#include "remote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "op/ticket.h"
#include "replies.h"
#include "remote_list.h"
#include "ssh.h"
#include "wire/key.h"

enum {
	CHUNK = 128,   /* keys on their way at once: less than a pipe holds */
	RUNS_MAX = 16, /* started at once; the oldest is ended for one more */
};

/* What a run of dta-query over there is asked for. */
struct errand {
	const struct table *t;
	uint8_t copies, policy, threshold;
	bool partial;
	uint64_t from, until;
};

struct run {
	struct ssh ssh;
	struct errand errand;
	struct replies_format format; /* without columns: no header yet */
};

struct remote {
	const struct cluster_collector *c;
	char ssh[LINE_MAX_LEN];
	struct ticket ticket;
	struct run run[RUNS_MAX];
	unsigned next;
	struct listings *listings; /* remote_list.c */
};

int remote_open(struct remote **out, const struct cluster_collector *c,
		const struct opts *o, struct fault *f)
{
	struct remote *r;
	int rc;

	if (!*c->ticket)
		return fault_set(f, -EINVAL,
				 "host: its ticket is needed, for the tables "
				 "that it has");
	if (o->ssh && strlen(o->ssh) >= sizeof(r->ssh))
		return fault_set(f, -ENAMETOOLONG, "--ssh: too long");
	r = calloc(1, sizeof(*r));
	if (!r)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	r->c = c;
	snprintf(r->ssh, sizeof(r->ssh), "%s", o->ssh ? o->ssh : "ssh");
	rc = ticket_read(&r->ticket, c->ticket, f);
	if (rc < 0) {
		free(r);
		return rc;
	}
	*out = r;
	return 0;
}

unsigned remote_tables(const struct remote *r)
{
	return r->ticket.n;
}

const struct table *remote_table(const struct remote *r, unsigned i)
{
	return &r->ticket.table[i];
}

void remote_close(struct remote *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < RUNS_MAX; i++)
		ssh_end(&r->run[i].ssh);
	listings_close(r->listings);
	ticket_fini(&r->ticket);
	free(r);
}

static const char *policy_text(const struct errand *e, char *room, size_t len)
{
	static const char *const names[QUERY_POLICIES] = {
		[QUERY_PLURALITY] = "plurality",
		[QUERY_FIRST] = "first",
		[QUERY_UNIQUE] = "unique",
	};

	if (e->policy != QUERY_CONSENSUS)
		return names[e->policy];
	snprintf(room, len, "consensus:%u", e->threshold);
	return room;
}

static int run_start(const struct remote *r, struct run *u,
		     const struct errand *e, struct fault *f)
{
	char table[8], epochs[48], copies[4], policy[16];
	const char *const words[] = {
		"dta-query",
		e->t->kind == TABLE_KEYWRITE   ? "keywrite"
		: e->t->kind == TABLE_POSTCARD ? "path"
					       : "count",
		"--region",
		r->c->region,
		"--table",
		table,
		"--epoch",
		epochs,
		"--copies",
		copies,
		"--policy",
		policy_text(e, policy, sizeof(policy)),
		"--keys",
		"-",
		"--output",
		"csv",
		"--as",
		"hex",
		"--quiet",
		e->partial ? "--partial" : NULL,
		NULL,
	};

	snprintf(table, sizeof(table), "%u", e->t->id);
	snprintf(epochs, sizeof(epochs), "%" PRIu64 "-%" PRIu64, e->from,
		 e->until);
	snprintf(copies, sizeof(copies), "%u", e->copies);
	u->errand = *e;
	u->format.columns = 0;
	return ssh_start(&u->ssh, r->ssh, r->c->host, words, f);
}

static bool same_errand(const struct errand *a, const struct errand *b)
{
	return a->t == b->t && a->copies == b->copies &&
	       a->policy == b->policy && a->threshold == b->threshold &&
	       a->partial == b->partial && a->from == b->from &&
	       a->until == b->until;
}

static int run_of(struct remote *r, const struct errand *e, struct run **out,
		  struct fault *f)
{
	for (unsigned i = 0; i < RUNS_MAX; i++)
		if (r->run[i].ssh.pid && same_errand(&r->run[i].errand, e)) {
			*out = &r->run[i];
			return 0;
		}
	*out = &r->run[r->next++ % RUNS_MAX];
	ssh_end(&(*out)->ssh);
	return run_start(r, *out, e, f);
}

static int send_keys(struct run *u, const uint8_t *const *keys, size_t n)
{
	const struct table *t = u->errand.t;
	char text[KEY_TEXT_MAX + 1];

	for (size_t i = 0; i < n; i++) {
		size_t len;
		int rc;

		key_format(text, (enum key_type)t->key_type, keys[i],
			   t->key_len);
		len = strlen(text);
		text[len] = '\n';
		rc = ssh_send(&u->ssh, text, len + 1);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_header(struct run *u)
{
	char *line = ssh_line(&u->ssh);

	return line ? replies_header(&u->format, line) : -EPIPE;
}

static int read_rows(struct run *u, const uint8_t *const *keys, size_t n,
		     struct reply *const *reply)
{
	const struct table *t = u->errand.t;
	char text[KEY_TEXT_MAX];

	if (!u->format.columns && read_header(u) < 0)
		return -EPIPE;
	for (size_t i = 0; i < n; i++) {
		char *line = ssh_line(&u->ssh);

		if (!line)
			return -EPIPE;
		key_format(text, (enum key_type)t->key_type, keys[i],
			   t->key_len);
		if (!replies_row(&u->format, t, line, text, reply[i]))
			return -EBADMSG;
	}
	return 0;
}

int remote_ask(struct remote *r, const struct table *t,
	       const struct query_rule *rule, uint64_t from, uint64_t until,
	       const uint8_t *const *keys, size_t n, struct reply *const *reply,
	       struct fault *f)
{
	struct errand e = {
		.t = t,
		.copies = rule->copies		    ? rule->copies
			  : t->kind == TABLE_KEYINC ? t->copies
						    : HASH_COPIES,
		.policy = rule->policy,
		.threshold = rule->threshold,
		.partial = rule->partial,
		.from = from,
		.until = until,
	};
	struct run *u;
	int rc = run_of(r, &e, &u, f), status;

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n && !rc; i += CHUNK) {
		size_t some = n - i < CHUNK ? n - i : CHUNK;

		rc = send_keys(u, keys + i, some);
		if (!rc)
			rc = read_rows(u, keys + i, some, reply + i);
	}
	if (!rc)
		return 0;
	status = ssh_end(&u->ssh);
	if (rc == -EBADMSG)
		return fault_set(f, rc, "%s: an answer that is none",
				 r->c->host);
	return fault_set(f, rc, "%s: cannot be asked (%s ended with status %d)",
			 r->c->host, r->ssh, status);
}

struct listings **remote_listings(struct remote *r, const char **command,
				  const struct cluster_collector **c)
{
	*command = r->ssh;
	*c = r->c;
	return &r->listings;
}
