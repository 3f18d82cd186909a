/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/ledger_page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/process.h"
#include "base/text.h"
#include "base/fence.h"

static const char ledger_magic[8] = {'D', 'T', 'A', 'L', 'E', 'D', 'G', '\n'};

enum {
	FILE_NAME = 64, /* bytes of a page's name */
	TRIES = 100,	/* a program takes microseconds to write its page */
};

static void make_name(char out[FILE_NAME], uint32_t pid, uint64_t start)
{
	snprintf(out, FILE_NAME, "dta-ledger-%u-%llu", pid,
		 (unsigned long long)start);
}

/* The process whose page has this name. False: it is no page's name. */
static bool read_name(const char *name, uint32_t *pid, uint64_t *start)
{
	unsigned long long number;
	char own[FILE_NAME];

	if (sscanf(name, "dta-ledger-%u-%llu", pid, &number) != 2)
		return false;
	*start = number;
	make_name(own, *pid, number);
	return !strcmp(name, own); /* no leading zeros, nothing behind it */
}

/* --- whether a page is valid ---------------------------------------------- */

/* Ends with NUL, and holds nothing but what is printable. */
static bool is_text(const char *text, size_t room)
{
	size_t n = strnlen(text, room);

	for (size_t i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return n < room;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyz0123456789"

static bool is_word(const char *word, const char *allowed)
{
	return memchr(word, '\0', LEDGER_NAME) && *word &&
	       !word[strspn(word, allowed)];
}

static bool is_head(const struct ledger_page *p, uint32_t pid, uint64_t start)
{
	return !memcmp(p->magic, ledger_magic, sizeof(p->magic)) &&
	       p->order == LEDGER_ORDER && p->version == LEDGER_VERSION &&
	       p->size == LEDGER_PAGE_SIZE && p->pid == pid &&
	       p->start == start && is_word(p->program, LETTERS "- ") &&
	       is_text(p->release, sizeof(p->release)) &&
	       is_text(p->region, sizeof(p->region)) &&
	       is_text(p->input, sizeof(p->input)) &&
	       is_text(p->output, sizeof(p->output));
}

/* Stages have different names; counters are in the order of their stages. */
static bool is_body(const struct ledger_page *p)
{
	const struct ledger_counter *c = p->counter;

	if (p->stages > LEDGER_STAGES || p->counters > LEDGER_COUNTERS)
		return false;
	for (unsigned i = 0; i < p->stages; i++) {
		const struct ledger_stage *s = &p->stage[i];

		if (!is_word(s->name, LETTERS "_") ||
		    !is_text(s->unit, sizeof(s->unit)))
			return false;
		for (unsigned k = 0; k < i; k++)
			if (!strcmp(p->stage[k].name, s->name))
				return false;
	}
	for (unsigned i = 0; i < p->counters; i++, c++)
		if (!is_word(c->name, LETTERS "_") || c->role > LEDGER_NOTE ||
		    c->level > 1 || c->stage >= p->stages ||
		    (i && c->stage < c[-1].stage))
			return false;
	return true;
}

/* --- reading one ---------------------------------------------------------- */

static bool read_at(int fd, void *out, size_t at, size_t len)
{
	return pread(fd, out, len, (off_t)at) == (ssize_t)len;
}

/* 0, -EBADMSG or -EAGAIN. The caller then checks whether the page is valid. */
static int copy_page(int fd, struct ledger_page *p)
{
	size_t at = offsetof(struct ledger_page, sequence);
	uint64_t before, after;

	for (unsigned i = 0; i < TRIES; i++) {
		if (!read_at(fd, &before, at, sizeof(before)))
			return -EBADMSG;
		fence_loads();
		if (!read_at(fd, p, 0, sizeof(*p)))
			return -EBADMSG;
		fence_loads();
		if (!read_at(fd, &after, at, sizeof(after)))
			return -EBADMSG;
		if (before == after && before % 2 == 0)
			return 0;
		sched_yield();
	}
	return -EAGAIN;
}

/* Whether its program holds the lock. A shared lock is tried, so that two
 * readers at the same moment do not take each other for the program. */
static bool is_locked(int fd)
{
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK;
	flock(fd, LOCK_UN);
	return false;
}

/* 0: it lives; -ESRCH: it is dead; -EPERM: the page is another user's. */
static int judge_life(int fd, const struct stat *st, uint32_t pid,
		      uint64_t start, struct ledger_owner *owner)
{
	uint32_t uid;

	*owner = (struct ledger_owner){st->st_uid, 0};
	if (!start || process_start(pid) != start)
		return is_locked(fd) ? 0 : -ESRCH;
	owner->since_ns = process_began_ns(start);
	/* A page of root's is accepted for every process. */
	return st->st_uid && process_user(&uid, pid) && uid != st->st_uid
		       ? -EPERM
		       : 0;
}

/* A dead program's page: what was written last holds, if only half of it was
 * meant to be, too. -ESRCH; -ENOENT: it is too old, or never held. */
static int read_dead(struct ledger_page *out, int fd, uint32_t pid,
		     uint64_t start)
{
	uint64_t now = clock_ns();
	int rc = copy_page(fd, out);

	if ((rc && rc != -EAGAIN) || !is_head(out, pid, start) ||
	    !is_body(out) || !out->at_ns || out->at_ns > now ||
	    now - out->at_ns >= LEDGER_KEEP_NS)
		return -ENOENT;
	return -ESRCH;
}

/* out: NULL where it is only asked whether the writer lives. */
static int read_open(struct ledger_page *out, struct ledger_owner *owner,
		     int fd, uint32_t pid, uint64_t start)
{
	struct ledger_page dead;
	struct stat st;
	int rc;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	rc = judge_life(fd, &st, pid, start, owner);
	if (rc == -ESRCH)
		return read_dead(out ? out : &dead, fd, pid, start);
	if (rc || !out)
		return rc;
	if (st.st_size != LEDGER_PAGE_SIZE)
		return -EBADMSG;
	rc = copy_page(fd, out);
	if ((rc && rc != -EAGAIN) || !is_head(out, pid, start))
		return -EBADMSG;
	return rc ? rc : is_body(out) ? 0 : -EBADMSG;
}

int ledger_page_read(struct ledger_page *out, struct ledger_owner *owner,
		     const char *dir, const char *name)
{
	char path[LEDGER_PATH];
	uint64_t start;
	uint32_t pid;
	int fd, rc;

	if (!read_name(name, &pid, &start))
		return -EBADMSG;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	/* O_NONBLOCK: a FIFO of that name must not make us wait. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? -EBADMSG : -errno;
	rc = read_open(out, owner, fd, pid, start);
	close(fd);
	if (rc == -ENOENT)
		unlink(path);
	return rc;
}

/* --- all pages of a directory --------------------------------------------- */

static int is_page(const struct dirent *e)
{
	uint64_t start;
	uint32_t pid;

	return read_name(e->d_name, &pid, &start);
}

int ledger_pages(const char *dir, ledger_each *each, void *ctx)
{
	struct dirent **e;
	int n = scandir(dir, &e, is_page, alphasort);

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		if (i < LEDGER_PAGES_MAX)
			each(ctx, e[i]->d_name);
		free(e[i]);
	}
	free(e);
	return n > LEDGER_PAGES_MAX ? n - LEDGER_PAGES_MAX : 0;
}

static void remove_if_old(void *ctx, const char *name)
{
	struct ledger_owner owner;

	ledger_page_read(NULL, &owner, ctx, name);
}

uint64_t ledger_page_rest(const struct ledger_page *p, unsigned stage)
{
	uint64_t rest = 0;

	for (unsigned i = 0; i < p->counters; i++) {
		const struct ledger_counter *c = &p->counter[i];

		if (c->stage != stage || c->role == LEDGER_NOTE || c->level)
			continue;
		rest += c->role == LEDGER_IN ? c->value : -c->value;
	}
	return rest;
}

/* --- a program's own page ------------------------------------------------ */

struct ledger_writer {
	int fd;
	char path[LEDGER_PATH];
	struct ledger_page page;
};

/* As much of a text as there is room for; "?" for what is not printable. */
static void put_text(char *out, size_t room, const char *text)
{
	size_t n = 0;

	for (; text && text[n] && n + 1 < room; n++)
		out[n] = text[n] < ' ' || text[n] > '~' ? '?' : text[n];
	memset(out + n, 0, room - n);
}

static void set_about(struct ledger_page *p, const struct ledger_about *a)
{
	memcpy(p->magic, ledger_magic, sizeof(p->magic));
	p->order = LEDGER_ORDER;
	p->version = LEDGER_VERSION;
	p->size = LEDGER_PAGE_SIZE;
	p->pid = (uint32_t)getpid();
	p->start = process_start(p->pid);
	put_text(p->program, sizeof(p->program), a->program);
	put_text(p->release, sizeof(p->release), a->release);
	put_text(p->region, sizeof(p->region), a->region);
	put_text(p->input, sizeof(p->input), a->input);
	put_text(p->output, sizeof(p->output), a->output);
}

static bool write_at(const struct ledger_writer *w, size_t at, size_t len)
{
	ssize_t n = pwrite(w->fd, (const uint8_t *)&w->page + at, len,
			   (off_t)at);

	return n == (ssize_t)len;
}

/* The page is whole, and locked, before it gets its name. */
static int make_page(struct ledger_writer *w)
{
	struct atomic_file a;
	int rc = atomic_file_open(&a, w->path, 0640);

	w->fd = a.fd;
	if (!rc && (flock(w->fd, LOCK_EX | LOCK_NB) < 0 ||
		    !write_at(w, 0, sizeof(w->page))))
		rc = errno ? -errno : -ENOSPC;
	if (!rc)
		rc = atomic_file_link(&a);
	atomic_file_drop(&a);
	return rc;
}

int ledger_page_open(struct ledger_writer **out, const char *dir,
		     const struct ledger_about *about, struct error *err)
{
	struct ledger_writer *w = calloc(1, sizeof(*w));
	char name[FILE_NAME];
	int rc;

	if (!w)
		return error_set(err, -ENOMEM, "out of memory");
	w->fd = -1;
	set_about(&w->page, about);
	make_name(name, w->page.pid, w->page.start);
	snprintf(w->path, sizeof(w->path), "%s/%s", dir, name);
	ledger_pages(dir, remove_if_old, (void *)dir);
	rc = make_page(w);
	if (rc < 0) {
		error_set(err, rc, "%.400s: %s", w->path, strerror(-rc));
		w->path[0] = '\0'; /* a file of that name is not ours */
		ledger_page_close(w);
		return rc;
	}
	*out = w;
	return 0;
}

void ledger_page_begin(struct ledger_writer *w)
{
	w->page.stages = w->page.counters = 0;
}

/* "queue"; if there is one, "queue_2", "queue_3"... */
static void name_stage(struct ledger_page *p, struct ledger_stage *s,
		       const char *name)
{
	unsigned same = 1;
	char numbered[LEDGER_NAME];

	put_text(s->name, sizeof(s->name), name);
	for (unsigned i = 0; i < p->stages; i++) {
		if (strcmp(p->stage[i].name, s->name) != 0)
			continue;
		snprintf(numbered, sizeof(numbered), "%.24s_%u", name, ++same);
		put_text(s->name, sizeof(s->name), numbered);
	}
}

/* Adds a ledger's LEDGER_BEFORE counters as one stage, or all others. */
static void add_stage(struct ledger_page *p, const struct ledger *l,
		      const void *ctr, bool before)
{
	struct ledger_stage *s = &p->stage[p->stages];
	unsigned from = p->counters;

	if (p->stages == LEDGER_STAGES || l->n > LEDGER_COUNTERS - p->counters)
		return;
	for (unsigned i = 0; i < l->n; i++) {
		struct ledger_counter *c = &p->counter[p->counters];

		if (l->fields[i].before != before)
			continue;
		if (p->counters++ == from)
			name_stage(p, s, ledger_stage(l, i));
		put_text(c->name, sizeof(c->name), l->fields[i].name);
		c->stage = (uint16_t)p->stages;
		c->role = l->fields[i].role;
		c->level = l->fields[i].level;
		c->value = ledger_get(l, ctr, i);
	}
	if (p->counters == from)
		return;
	put_text(s->unit, sizeof(s->unit), l->unit);
	p->stages++;
}

void ledger_page_add(struct ledger_writer *w, const struct ledger *l,
		     const void *ctr)
{
	add_stage(&w->page, l, ctr, false);
	add_stage(&w->page, l, ctr, true);
}

/* Writes what is in use of the page. sequence is odd before, and even behind
 * it; it stays odd if a write fails: better no page than half of one. */
void ledger_page_end(struct ledger_writer *w)
{
	struct ledger_page *p = &w->page;
	size_t head = offsetof(struct ledger_page, sequence);
	size_t body = offsetof(struct ledger_page, at_ns);
	size_t end = offsetof(struct ledger_page, counter) +
		     p->counters * sizeof(p->counter[0]);

	p->sequence |= 1;
	p->at_ns = clock_ns();
	if (!write_at(w, head, sizeof(p->sequence)) ||
	    !write_at(w, body, end - body))
		return;
	p->sequence++;
	write_at(w, head, sizeof(p->sequence));
}

void ledger_page_note_signal(struct ledger_writer *w, int sig)
{
	w->page.ended_by = (uint32_t)sig;
	write_at(w, offsetof(struct ledger_page, ended_by),
		 sizeof(w->page.ended_by));
}

bool ledger_page_is_lost(const struct ledger_writer *w)
{
	struct stat own, there;

	return fstat(w->fd, &own) < 0 ||
	       fstatat(AT_FDCWD, w->path, &there, AT_SYMLINK_NOFOLLOW) < 0 ||
	       own.st_dev != there.st_dev || own.st_ino != there.st_ino;
}

void ledger_page_close(struct ledger_writer *w)
{
	if (!w)
		return;
	if (w->path[0] && !ledger_page_is_lost(w))
		unlink(w->path);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}
