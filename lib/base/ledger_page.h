/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ledger_page.h - the page of a running program: a small file in /dev/shm by
 * which others see its ledgers while it runs.
 *
 * Name:    dta-ledger-PID-START: START is the process's start as process.h has
 *          it, so that no name is used twice.
 * Writer:  its program alone writes it, and removes it at its end; its mode is
 *          0640 (less the umask): the program's group may read it.
 * Bytes:   LEDGER_PAGE_SIZE, as in struct ledger_page. Numbers are aligned, and
 *          in the writer's byte order: order reads LEDGER_ORDER in it.
 * Texts:   printable ASCII with a NUL at the end. What is not used is zero.
 * Reading: by pread(2), not mapped: a file that shrinks is no SIGBUS then.
 *          sequence is odd while the program writes what is behind it. A
 *          reader takes what it has read if sequence was the same even number
 *          before and after; the part before it never changes.
 * Trust:   whatever has such a name is input. A page is valid if all of it is
 *          as above, and its owner is the user of the process that it names.
 * Life:    the program holds a lock of the file (flock(2), exclusive), which
 *          ends with the program. A page is dead if no process has this PID and
 *          start, and the lock is free: /proc does not show all that live, as
 *          in another PID namespace. A dead page stays for ten minutes after
 *          its last write, to show what a killed or crashed program did; then
 *          it is removed by the next reader, or program that makes a page.
 *          ended_by tells the signal, unless it is one that cannot be caught.
 */
#ifndef BASE_LEDGER_PAGE_H
#define BASE_LEDGER_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ledger.h"

#define LEDGER_DIR "/dev/shm" /* where programs have them unless told */

enum {
	LEDGER_VERSION = 2,
	LEDGER_ORDER = 0x01020304,
	LEDGER_PAGE_SIZE = 16384,
	LEDGER_STAGES = 16,
	LEDGER_COUNTERS = 256,
	LEDGER_NAME = 32,   /* bytes of a name, its NUL included */
	LEDGER_PLACE = 256, /* the same of what the program works on */
	LEDGER_PATH = 4096,
	LEDGER_PAGES_MAX = 1024, /* of one directory, others are not read */
};

#define LEDGER_KEEP_NS UINT64_C(600000000000) /* of a dead program */

struct ledger_stage {
	char name[LEDGER_NAME]; /* letters a-z, digits, _; each once */
	char unit[LEDGER_NAME];
};

struct ledger_counter {
	char name[LEDGER_NAME]; /* letters a-z, digits, _ */
	uint16_t stage;		/* its stage's index in stage[] */
	uint8_t role;		/* enum ledger_role */
	uint8_t level;		/* 1: it may fall; else 0 */
	uint8_t reserved[4];
	uint64_t value;
};

struct ledger_page {
	char magic[8]; /* "DTALEDG\n" */
	uint32_t order, version;
	uint32_t size, pid;
	uint64_t start;
	char program[LEDGER_NAME]; /* letters a-z, digits, -, blanks */
	char release[LEDGER_NAME]; /* the program's version */
	/* What the program works on; empty: nothing of that kind. */
	char region[LEDGER_PLACE];
	char input[LEDGER_PLACE];  /* an interface or a file */
	char output[LEDGER_PLACE]; /* a ticket, a cluster file, an interface */
	uint8_t reserved[160];
	/* What follows changes; sequence is odd meanwhile. */
	uint64_t sequence;
	uint64_t at_ns; /* of CLOCK_MONOTONIC, when it was written last */
	uint32_t stages, counters;
	uint32_t ended_by; /* the signal that ended the program; 0: none yet */
	uint8_t reserved_2[36];
	struct ledger_stage stage[LEDGER_STAGES];
	struct ledger_counter counter[LEDGER_COUNTERS]; /* stage by stage */
	uint8_t reserved_3[LEDGER_PAGE_SIZE - 14400];
};

_Static_assert(offsetof(struct ledger_page, program) == 32 &&
		       offsetof(struct ledger_page, region) == 96 &&
		       offsetof(struct ledger_page, input) == 352 &&
		       offsetof(struct ledger_page, output) == 608 &&
		       offsetof(struct ledger_page, sequence) == 1024 &&
		       offsetof(struct ledger_page, at_ns) == 1032 &&
		       offsetof(struct ledger_page, stages) == 1040 &&
		       offsetof(struct ledger_page, ended_by) == 1048 &&
		       offsetof(struct ledger_page, stage) == 1088 &&
		       offsetof(struct ledger_page, counter) == 2112 &&
		       sizeof(struct ledger_counter) == 48 &&
		       sizeof(struct ledger_page) == LEDGER_PAGE_SIZE,
	       "other programs read it");

/* --- writing -------------------------------------------------------------- */

struct ledger_writer;

/* The part of a page that does not change. Texts are cut if they are too long;
 * NULL is empty. */
struct ledger_about {
	const char *program, *release, *region, *input, *output;
};

/* Makes this process's page in a directory, and removes old dead ones there. 0
 * or -errno with err set. */
int ledger_page_open(struct ledger_writer **out, const char *dir,
		     const struct ledger_about *about, struct error *err);

/*
 * Writes all ledgers of a program again: begin, add each, end. The last makes
 * system calls: it is for some times a second, not for each batch.
 * A stage whose name is taken gets a number (queue, queue_2). LEDGER_BEFORE
 * counters become a stage of their own (ledger_stage()). What does not fit into
 * LEDGER_STAGES and LEDGER_COUNTERS is left out.
 */
void ledger_page_begin(struct ledger_writer *w);
void ledger_page_add(struct ledger_writer *w, const struct ledger *l,
		     const void *ctr);
void ledger_page_end(struct ledger_writer *w);

/* Notes the signal that ends the program. For signal handlers, too. */
void ledger_page_note_signal(struct ledger_writer *w, int sig);

/* Whether readers can no longer find it: its name was removed, or is another
 * file's. */
bool ledger_page_is_lost(const struct ledger_writer *w);

/* Removes the page. NULL is fine. */
void ledger_page_close(struct ledger_writer *w);

/* --- reading -------------------------------------------------------------- */

/* The owner of a page. */
struct ledger_owner {
	uint32_t uid;
	uint64_t since_ns; /* the process began, since 1970; 0: not known */
};

/*
 * Copies a valid page; with out NULL, only looks whether its program lives. 0;
 * -ESRCH: the program is dead, and out is what it wrote last. After any other
 * -errno out is not to be used. -ENOENT: there is no page, or one of a program
 * that died long ago, which was removed if permissions allow; -EBADMSG: it is
 * damaged, or no page; -EPERM: its owner is not the process's user; -EAGAIN:
 * the program was stopped while it wrote; -EACCES and others.
 */
int ledger_page_read(struct ledger_page *out, struct ledger_owner *owner,
		     const char *dir, const char *name);

/* Calls each() with the name of what looks like a page in a directory, in the
 * order of names; LEDGER_PAGES_MAX at most. Returns how many there were above
 * that, or -errno. */
typedef void ledger_each(void *ctx, const char *name);
int ledger_pages(const char *dir, ledger_each *each, void *ctx);

/* In - done - loss - harmless of a stage: what is still under way in it. Levels
 * are parts of that, and not subtracted. */
uint64_t ledger_page_rest(const struct ledger_page *p, unsigned stage);

#endif
