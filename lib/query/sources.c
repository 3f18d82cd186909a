/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/sources.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "hash/crc.h"
#include "hash/family.h"
#include "region/far_wire.h"
#include "region/snapshot.h"
#include "region/region.h"
#include "verbs/verbs.h"

bool query_epochs_parse(struct query_epoch_range *e, const char *text)
{
	const char *p = text;

	*e = (struct query_epoch_range){.until = UINT64_MAX};
	if (!strcmp(text, "0"))
		return true;
	e->text = text;
	if (!strcmp(text, "-"))
		return false;
	if (*p != '-') {
		p = text_digits(&e->from, p, UINT64_MAX);
		e->until = e->from;
	}
	if (p && *p == '-') {
		e->until = UINT64_MAX;
		if (*++p)
			p = text_digits(&e->until, p, UINT64_MAX);
	}
	return p && !*p && e->until && e->from <= e->until;
}

/* A region on another machine, sent by dta-dump serve over ssh. */
struct ssh {
	pid_t pid; /* 0: ended */
	const char *host;
	struct far_wire wire;
};

static int spawn_ssh(pid_t *pid, const char *host, const char *region, int fd,
		     struct error *err)
{
	const char *const argv[] = {
		"ssh",
		"-o",
		"BatchMode=yes",
		"-o",
		"ConnectTimeout=10",
		"-o",
		"ServerAliveInterval=5",
		host,
		"dta-dump",
		"serve",
		region,
		NULL,
	};
	posix_spawn_file_actions_t to;
	int rc = posix_spawn_file_actions_init(&to);

	if (rc)
		return error_set(err, -rc, "%s", strerror(rc));
	rc = posix_spawn_file_actions_adddup2(&to, fd, STDIN_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(&to, fd, STDOUT_FILENO);
	if (!rc)
		rc = posix_spawnp(pid, argv[0], &to, NULL, (char *const *)argv,
				  environ);
	posix_spawn_file_actions_destroy(&to);
	return rc ? error_set(err, -rc, "%s: %s", argv[0], strerror(rc)) : 0;
}

/* Ends the process. Returns its exit status, or 128 plus a signal's number. */
static int end_ssh(struct ssh *s, bool at_once)
{
	pid_t pid = s->pid;
	int status = 0;

	if (!pid)
		return 0;
	s->pid = 0;
	close(s->wire.fd);
	far_wire_fini(&s->wire);
	if (at_once || *s->wire.stop) /* do not wait for its answer */
		kill(pid, SIGTERM);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Ends ssh after an error. If the connection was lost, err has ssh's exit
 * status, which tells why. Returns rc. */
static int fail_ssh(struct ssh *s, int rc, const struct error *why,
		    struct error *err)
{
	int status = end_ssh(s, rc != -EPIPE);

	if (rc == -EPIPE)
		return error_set(err, rc,
				 "%s: cannot be asked (ssh ended with status "
				 "%d)",
				 s->host, status);
	return error_set(err, rc, "%s: %.400s", s->host, why->text);
}

/*
 * Starts ssh HOST dta-dump serve REGION. A shell on that machine interprets
 * host and region: they must hold plain characters only. ssh never asks for a
 * password, and gives up when the machine is silent or stop becomes true. host
 * must outlive it.
 */
static int ssh_start(struct ssh **out, const char *host, const char *region,
		     const atomic_int *stop, struct error *err)
{
	struct ssh *s = calloc(1, sizeof(*s));
	int fd[2], rc;

	if (!s || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0) {
		rc = error_set(err, -errno, "%s", strerror(errno));
		free(s);
		return rc;
	}
	rc = far_wire_init(&s->wire, fd[0], stop);
	if (rc < 0)
		error_set(err, rc, "%s", strerror(-rc));
	else
		rc = spawn_ssh(&s->pid, host, region, fd[1], err);
	close(fd[1]);
	if (rc < 0) {
		close(fd[0]);
		far_wire_fini(&s->wire);
		free(s);
		return rc;
	}
	s->host = host;
	*out = s;
	return 0;
}

static int read_pieces(void *ctx, const struct memory_piece *p, size_t n,
		       struct error *err)
{
	struct ssh *s = ctx;
	struct error why = {""};
	int rc = far_wire_read(&s->wire, p, n, &why);

	return rc < 0 ? fail_ssh(s, rc, &why, err) : 0;
}

static void close_ssh(void *ctx)
{
	end_ssh(ctx, false);
	free(ctx);
}

/* Opens the memory behind s. The memory owns s; if this fails, s is freed. */
static int ssh_memory(struct memory **out, struct ssh *s, struct error *err)
{
	struct memory_link link = {read_pieces, close_ssh, s};
	const char *host = s->host;
	struct error why = {""};
	int rc = far_wire_hello(&s->wire, &link.size, &why);

	if (rc < 0) {
		fail_ssh(s, rc, &why, err);
		free(s);
		return rc;
	}
	rc = memory_open_link(out, s->host, &link, s->wire.stop, &why);
	return rc < 0 ? error_about(err, rc, host, &why) : 0;
}

static int open_region(struct query_source *s, const char *name,
		       struct error *err)
{
	struct region *r;
	int rc = region_open(&r, name, false, err);

	if (!rc)
		s->memory = region_memory(r);
	return rc;
}

static void mark_lost(struct query_sources *p, struct query_source *s,
		      const char *why)
{
	if (s->lost)
		return;
	s->lost = true;
	p->lost++;
	if (!*p->o->stop) /* else it is this program that gave up */
		p->o->warn("collector %s: %s", s->name, why);
}

/* A collector on another machine: by RDMA if that works, else by ssh. */
static int open_remote(struct query_sources *p, unsigned i, struct error *err)
{
	const struct cluster_collector *a = &p->cluster.collector[i];
	struct query_source *s = &p->source[i];
	int rc;

	if (*a->verbs) {
		rc = verbs_memory(&s->memory, a->verbs, p->o->stop, err);
		if (!rc || !*a->host)
			return rc;
		p->o->warn("collector %s: %s; asking by ssh", s->name,
			   err->text);
	}
	rc = s->ssh ? 0
		    : ssh_start(&s->ssh, a->host, a->region, p->o->stop, err);
	return rc < 0 ? rc : ssh_memory(&s->memory, s->ssh, err);
}

static void open_collector(struct query_sources *p, unsigned i)
{
	const struct cluster_collector *a = &p->cluster.collector[i];
	struct query_source *s = &p->source[i];
	struct error err = {0};
	int rc;

	if (s->lost)
		return;
	if (*a->host || *a->verbs)
		rc = open_remote(p, i, &err);
	else if (*a->region)
		rc = open_region(s, a->region, &err);
	else
		rc = error_set(&err, -ENOENT,
			       "neither region, host nor verbs: by its "
			       "ticket alone it cannot be asked");
	if (rc < 0)
		mark_lost(p, s, err.text);
}

static int open_cluster(struct query_sources *p, struct error *err)
{
	int rc = cluster_read(&p->cluster, p->o->cluster, err);
	struct error why;

	if (rc < 0)
		return rc;
	p->clustered = true;
	p->sources = p->cluster.n;
	/* All ssh processes start before the first is waited for. */
	for (unsigned i = 0; i < p->sources; i++) {
		const struct cluster_collector *a = &p->cluster.collector[i];
		struct query_source *s = &p->source[i];

		snprintf(s->id, sizeof(s->id), "%u", a->id);
		s->name = s->id;
		s->path = *a->region   ? a->region
			  : *a->ticket ? a->ticket
				       : a->verbs;
		s->live = true;
		if (*a->host && !*a->verbs &&
		    ssh_start(&s->ssh, a->host, a->region, p->o->stop, &why))
			mark_lost(p, s, why.text);
	}
	for (unsigned i = 0; i < p->sources; i++)
		open_collector(p, i);
	if (p->lost == p->sources)
		return error_set(err, -EHOSTUNREACH,
				 "%s: no collector can be asked",
				 p->o->cluster);
	return 0;
}

static struct query_source *add_source(struct query_sources *p,
				       const char *name, const char *path)
{
	struct query_source *s = &p->source[p->sources++];

	*s = (struct query_source){.name = name, .path = path};
	return s;
}

bool query_source_failed(struct query_sources *p, unsigned source)
{
	const char *why = memory_broken(p->source[source].memory);

	if (!why)
		return false;
	if (p->clustered)
		mark_lost(p, &p->source[source], why);
	else
		p->gone = why;
	return true;
}

/* Updates the epochs of a source; false if it cannot be read any more. */
static bool renew_source(struct query_sources *p, unsigned source)
{
	return memory_renew(p->source[source].memory) == 0 ||
	       !query_source_failed(p, source);
}

/* Adds the epochs of source i within these bounds, unless listed already. */
static void add_epochs(struct query_sources *p, unsigned i, uint64_t from,
		       uint64_t until)
{
	struct query_source *s = &p->source[i];

	if (from < p->o->only.from)
		from = p->o->only.from;
	if (until > p->o->only.until)
		until = p->o->only.until;
	if (!s->memory || (!s->fresh && !renew_source(p, i)))
		return;
	s->fresh = s->memory->far;
	s->oldest = s->memory->oldest;
	s->newest = s->memory->newest;
	if (until > s->newest)
		until = s->newest;
	if (from < s->oldest)
		from = s->oldest;
	for (uint64_t e = until; e && e >= from; e--) {
		unsigned k = p->clustered ? 0 : p->n;

		/* A generation's last epoch is the next's first. */
		while (k < p->n &&
		       (p->epoch[k].source != i || p->epoch[k].epoch != e))
			k++;
		if (k == p->n)
			p->epoch[p->n++] = (struct query_epoch){i, e};
	}
}

static void list_epochs(struct query_sources *p)
{
	p->n = 0;
	for (unsigned i = 0; i < p->sources; i++) {
		p->source[i].fresh = false;
		add_epochs(p, i, 0, UINT64_MAX);
	}
}

static int open_sources(struct query_sources *p,
			const struct query_sources_options *o,
			struct error *err)
{
	struct query_source *s;
	struct error why = {""};
	int rc = 0;

	if (o->cluster)
		return open_cluster(p, err);
	if (o->verbs) {
		s = add_source(p, "region", o->verbs);
		s->live = true;
		rc = verbs_memory(&s->memory, o->verbs, o->stop, err);
	} else if (o->region) {
		s = add_source(p, "region", o->region);
		s->live = true;
		rc = open_region(s, o->region, &why);
		if (rc < 0)
			error_about(err, rc, o->region, &why);
	}
	for (unsigned i = 0; i < o->snapshots && !rc; i++) {
		const char *path = o->snapshot[i];
		struct snapshot *snapshot;

		s = add_source(p, path, path);
		rc = snapshot_open(&snapshot, path, &why);
		if (rc < 0)
			return error_about(err, rc, path, &why);
		s->memory = snapshot_memory(snapshot);
	}
	return rc;
}

int query_sources_open(struct query_sources *p,
		       const struct query_sources_options *o, struct error *err)
{
	const struct query_source *first = &p->source[0];
	int rc;

	*p = (struct query_sources){.o = o};
	rc = open_sources(p, o, err);
	if (rc < 0)
		return rc;
	p->epoch = calloc(p->sources * REGION_EPOCHS_MAX, sizeof(p->epoch[0]));
	if (!p->epoch)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	list_epochs(p);
	if (p->gone)
		return error_set(err, -EIO, "%s: %s", first->path, p->gone);
	if (!p->clustered && !p->n)
		return error_set(err, -ENOENT,
				 "no epoch %s: %s has %llu to %llu",
				 o->only.text, first->path,
				 (unsigned long long)first->oldest,
				 (unsigned long long)first->newest);
	return 0;
}

static void add_owner(struct query_sources *p,
		      const struct cluster_generation *g, unsigned owner)
{
	const struct cluster_member *m = &g->member[owner],
				    *next = &g->member[(owner + 1) % g->n];
	struct query_source *s = &p->source[m->collector],
			    *mirror = &p->source[next->collector];

	if (!s->lost) {
		add_epochs(p, m->collector, m->from, m->until);
		return;
	}
	if (!p->cluster.mirror || g->n < 2 || mirror->lost) {
		p->incomplete = true;
		return;
	}
	if (!s->mirrored)
		p->o->warn("collector %s: asking its mirror, collector %s",
			   s->name, mirror->name);
	s->mirrored = true;
	add_epochs(p, next->collector, next->from, next->until);
}

void query_sources_for_key(struct query_sources *p, const uint8_t *key,
			   size_t len)
{
	unsigned lost;

	if (!p->clustered)
		return;
	do { /* again if a collector was found lost: its mirror may answer */
		lost = p->lost;
		p->n = 0;
		p->incomplete = false;
		for (unsigned i = p->cluster.generations; i-- > 0;) {
			const struct cluster_generation *g =
				&p->cluster.generation[i];

			add_owner(p, g, cluster_owner(g, key, len));
		}
	} while (lost != p->lost);
}

void query_sources_close(struct query_sources *p)
{
	for (unsigned i = 0; i < p->sources; i++)
		memory_close(p->source[i].memory);
	if (p->clustered)
		cluster_fini(&p->cluster);
	free(p->epoch);
}

void query_sources_refresh(struct query_sources *p)
{
	struct query_source *s = &p->source[0];

	if (p->clustered) {
		for (unsigned i = 0; i < p->sources; i++)
			p->source[i].fresh = false;
		return;
	}
	renew_source(p, 0);
	if (s->memory->newest == s->newest && s->memory->oldest == s->oldest)
		return;
	list_epochs(p);
}

static bool is_any_stale(struct query_sources *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		unsigned source = p->epoch[i].source;
		const struct query_source *s = &p->source[source];

		if (!s->live || (i && source == p->epoch[i - 1].source))
			continue;
		if (!renew_source(p, source) || s->memory->oldest > s->oldest)
			return true;
	}
	return false;
}

bool query_epoch_stale(struct query_sources *p, unsigned epoch)
{
	const struct query_epoch *at = &p->epoch[epoch];
	const struct query_source *s = &p->source[at->source];

	return s->live &&
	       (!renew_source(p, at->source) || s->memory->oldest > at->epoch);
}

bool query_epoch_repeats(const struct query_sources *p, unsigned epoch)
{
	const struct query_epoch *at = &p->epoch[epoch];
	const struct query_source *first = &p->source[0];

	return !p->clustered && at->source && first->live &&
	       at->epoch >= first->oldest && at->epoch <= first->newest;
}

void query_sources_set_failed(struct query_sources *p)
{
	p->failed = p->failed || !*p->o->stop;
}

void query_target_init(struct query_target *out, const struct query_sources *p,
		       const struct table *t)
{
	*out = (struct query_target){.t = t};
	for (unsigned i = 0; i < p->sources; i++) {
		const struct memory *m = p->source[i].memory;

		for (unsigned k = 0; m && k < m->tables; k++) {
			const struct table *a = &m->table[k];

			if (a->id == t->id && a->kind == t->kind &&
			    a->key_type == t->key_type &&
			    a->key_len == t->key_len &&
			    a->value_len == t->value_len)
				out->in[i] = a;
		}
		if (p->clustered && m && !out->in[i])
			p->o->warn("collector %s: has no table %s like that of "
				   "the others: nothing is found there",
				   p->source[i].name, t->name);
	}
}

static void add_target(struct query_targets *out, const struct query_sources *p,
		       unsigned source, const struct table *t)
{
	for (unsigned i = 0; i < out->n; i++)
		if (out->target[i].in[source] == t)
			return; /* a counterpart */
	if (out->n < TABLE_MAX)
		query_target_init(&out->target[out->n++], p, t);
}

int query_targets_pick(struct query_targets *out, const struct query_sources *p,
		       int kind, const char *name, struct error *err)
{
	struct error why = {""};

	out->n = 0;
	for (unsigned i = 0; i < p->sources; i++) {
		const struct memory *m = p->source[i].memory;
		const struct table *t;

		for (unsigned k = 0; m && !name && k < m->tables; k++)
			if (!kind || m->table[k].kind == kind)
				add_target(out, p, i, &m->table[k]);
		if (!m || out->n)
			continue;
		t = table_pick(m->table, m->tables, kind, name,
			       *why.text ? NULL : &why);
		if (t)
			add_target(out, p, i, t);
	}
	if (out->n)
		return 0;
	return error_set(err, -ENOENT, "%s: %.400s", p->source[0].path,
			 why.text);
}

bool query_target_view(struct table_view *out, const struct query_sources *p,
		       const struct query_target *t, unsigned epoch)
{
	const struct query_epoch *at = &p->epoch[epoch];
	const struct table *in = t->in[at->source];

	if (in)
		memory_view(out, p->source[at->source].memory, in, at->epoch);
	return in != NULL;
}

/* Moves the keys without an answer to the front, and returns their number. */
static size_t keep_unanswered(const struct query_epoch *at,
			      const struct query_sources *p,
			      const uint8_t **key, struct query_reply **out,
			      size_t n)
{
	const struct query_source *s = &p->source[at->source];
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		struct query_reply *r = out[i];

		if (r->answer == QUERY_FOUND || r->answer == QUERY_AMBIGUOUS) {
			r->source = s->name;
			r->epoch = at->epoch;
			continue;
		}
		r->unreadable |= r->answer == QUERY_UNREADABLE;
		key[left] = key[i];
		out[left++] = r;
	}
	return left;
}

/* Looks up keys in one epoch; false: its source lacks the table, or failed. */
static bool ask_epoch(struct query_ask *a, const struct query_target *t,
		      unsigned epoch, const uint8_t *const *key, size_t n,
		      struct query_reply *const *out)
{
	struct table_view view;

	if (!query_target_view(&view, a->sources, t, epoch))
		return false;
	query_keys(&view, &a->rule, key, n, out);
	a->failed = query_source_failed(a->sources,
					a->sources->epoch[epoch].source);
	return !a->failed;
}

/* Sums counters over all epochs. Returns how many sums are 0. */
static size_t sum_counters(struct query_ask *a, const struct query_target *t,
			   const uint8_t *const *keys, size_t n,
			   struct query_reply *const *reply)
{
	uint64_t sum[QUERY_BATCH] = {0};
	size_t left = 0;

	for (unsigned e = 0; e < a->sources->n && !a->failed; e++) {
		if (query_epoch_repeats(a->sources, e) ||
		    !ask_epoch(a, t, e, keys, n, reply))
			continue;
		for (size_t i = 0; i < n; i++) {
			reply[i]->unreadable |= reply[i]->answer ==
						QUERY_UNREADABLE;
			if (reply[i]->answer == QUERY_FOUND)
				sum[i] += reply[i]->count;
		}
	}
	for (size_t i = 0; i < n; i++) {
		reply[i]->count = sum[i];
		reply[i]->answer = reply[i]->unreadable ? QUERY_UNREADABLE
				   : sum[i]		? QUERY_FOUND
							: QUERY_NOT_FOUND;
		left += !sum[i];
	}
	return left;
}

/* Goes through the epochs with the keys that have no answer yet. Keys without
 * an answer at the end are unreadable if a unit of theirs was, else not found.
 * Returns their number. */
static size_t ask_epochs(struct query_ask *a, const struct query_target *t,
			 const uint8_t *const *keys, size_t n,
			 struct query_reply *const *reply)
{
	const uint8_t *key[QUERY_BATCH];
	struct query_reply *out[QUERY_BATCH];
	size_t left = n;

	for (size_t i = 0; i < n; i++) {
		key[i] = keys[i];
		out[i] = reply[i];
		out[i]->answer = QUERY_NOT_FOUND;
		out[i]->agreed = out[i]->matched = out[i]->copies = 0;
		out[i]->unreadable = false;
		out[i]->source = NULL;
	}
	if (a->sum)
		return sum_counters(a, t, keys, n, reply);
	for (unsigned e = 0; e < a->sources->n && left && !a->failed; e++)
		if (ask_epoch(a, t, e, key, left, out))
			left = keep_unanswered(&a->sources->epoch[e],
					       a->sources, key, out, left);
	for (size_t i = 0; i < left; i++)
		out[i]->answer = out[i]->unreadable ? QUERY_UNREADABLE
						    : QUERY_NOT_FOUND;
	return left;
}

/* Looks up keys with the same owners; if a source fails, without it. */
static void ask_same_owner(struct query_ask *a, const struct query_target *t,
			   const uint8_t *const *keys, size_t n,
			   struct query_reply *const *reply)
{
	struct query_sources *p = a->sources;
	size_t left;

	do {
		a->failed = false;
		query_sources_for_key(p, keys[0], t->t->key_len);
		left = ask_epochs(a, t, keys, n, reply);
	} while (a->failed || is_any_stale(p));
	if ((!left && !a->sum) || !p->incomplete)
		return;
	query_sources_set_failed(p);
	for (size_t i = 0; i < n; i++)
		if (a->sum || reply[i]->answer == QUERY_NOT_FOUND)
			reply[i]->answer = QUERY_UNREADABLE;
}

static bool have_same_owners(const struct cluster *c, uint32_t a, uint32_t b)
{
	for (unsigned i = 0; i < c->generations; i++) {
		unsigned n = c->generation[i].n;

		if (hash_mod(a, n) != hash_mod(b, n))
			return false;
	}
	return true;
}

static void ask_cluster(struct query_ask *a, const struct query_target *t,
			const uint8_t *const *keys, size_t n,
			struct query_reply *const *reply)
{
	const struct cluster *c = &a->sources->cluster;
	uint32_t hash[QUERY_BATCH];
	bool asked[QUERY_BATCH] = {false};

	for (size_t i = 0; i < n; i++)
		hash[i] = crc(CRC_COLLECTOR, keys[i], t->t->key_len);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *key[QUERY_BATCH];
		struct query_reply *out[QUERY_BATCH];
		size_t m = 0;

		for (size_t k = i; k < n && !asked[i]; k++) {
			if (asked[k] || !have_same_owners(c, hash[i], hash[k]))
				continue;
			asked[k] = k != i; /* asked[i] ends the loop */
			key[m] = keys[k];
			out[m++] = reply[k];
		}
		if (m)
			ask_same_owner(a, t, key, m, out);
	}
}

void query_ask_keys(struct query_ask *a, const struct query_target *t,
		    const uint8_t *const *keys, size_t n,
		    struct query_reply *const *reply)
{
	if (a->sources->clustered) {
		query_sources_refresh(a->sources);
		ask_cluster(a, t, keys, n, reply);
		return;
	}
	do {
		a->failed = false;
		query_sources_refresh(a->sources);
		ask_epochs(a, t, keys, n, reply);
		/* Again if an epoch was cleared meanwhile. */
	} while (!a->failed && is_any_stale(a->sources));
}
