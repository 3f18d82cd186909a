/* SPDX-License-Identifier: BSD-2-Clause */
/* write.c - a program's own page. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/aside.h"
#include "base/clock.h"
#include "base/process.h"
#include "ledger/private.h"

struct ledger_writer {
	int fd;
	char path[LEDGER_PATH];
	struct ledger_page page;
};

/* As much of a text as there is room for; what a reader would not take for one
 * is "?". */
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

static bool put(const struct ledger_writer *w, size_t at, size_t len)
{
	ssize_t n = pwrite(w->fd, (const uint8_t *)&w->page + at, len,
			   (off_t)at);

	return n == (ssize_t)len;
}

/* Whole, and locked, before it has its name. */
static int make(struct ledger_writer *w)
{
	struct aside a;
	int rc = aside_open(&a, w->path, 0640);

	w->fd = a.fd;
	if (!rc && (flock(w->fd, LOCK_EX | LOCK_NB) < 0 ||
		    !put(w, 0, sizeof(w->page))))
		rc = errno ? -errno : -ENOSPC;
	if (!rc)
		rc = aside_link(&a);
	aside_drop(&a);
	return rc;
}

int ledger_page_open(struct ledger_writer **out, const char *dir,
		     const struct ledger_about *about, struct fault *f)
{
	struct ledger_writer *w = calloc(1, sizeof(*w));
	char name[LEDGER_FILE];
	int rc;

	if (!w)
		return fault_set(f, -ENOMEM, "out of memory");
	w->fd = -1;
	set_about(&w->page, about);
	ledger_name(name, w->page.pid, w->page.start);
	snprintf(w->path, sizeof(w->path), "%s/%s", dir, name);
	ledger_sweep(dir);
	rc = make(w);
	if (rc < 0) {
		fault_set(f, rc, "%.400s: %s", w->path, strerror(-rc));
		w->path[0] = '\0'; /* it is not ours to remove */
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

/* queue, queue_2, queue_3... */
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

/* A ledger's fields of one stage: before, or not. */
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

/* The counters in use, between an odd and an even number. A write that fails
 * leaves the odd one: better nothing than half of it. */
void ledger_page_end(struct ledger_writer *w)
{
	struct ledger_page *p = &w->page;
	size_t head = offsetof(struct ledger_page, sequence);
	size_t body = offsetof(struct ledger_page, at_ns);
	size_t end = offsetof(struct ledger_page, counter) +
		     p->counters * sizeof(p->counter[0]);

	p->sequence |= 1;
	p->at_ns = clock_ns();
	if (!put(w, head, sizeof(p->sequence)) || !put(w, body, end - body))
		return;
	p->sequence++;
	put(w, head, sizeof(p->sequence));
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
