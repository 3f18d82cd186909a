/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * region.h - a collector's memory: a file in /dev/shm or on a hugetlbfs mount
 * that describes itself, mapped by writers and readers (dta-region(5)).
 *
 * Names:   "fabric" or "/fabric" is a file of that name in /dev/hugepages
 *          or in /dev/shm; a name with a further slash is a path.
 * Trust:   the header is checked whole at open; the geometry is copied out of
 *          it then and never read again. What tables hold is input: it is
 *          loaded once, and the copy checked.
 * Writers: at most REGION_WRITERS processes or threads at once. A writer works
 *          between writer_enter() and writer_leave(); meanwhile the epoch that
 *          it entered is not rotated away. A killed writer leaves at
 *          most one operation half done, in its journal; the next open for
 *          writing completes it.
 * Errors:  0 or -errno, with err telling why in words.
 */
#ifndef REGION_REGION_H
#define REGION_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "region/layout.h"
#include "region/memory.h"
#include "region/table.h"

enum {
	REGION_VERSION = 1,
	REGION_WRITERS = 64,
	REGION_EPOCHS_MAX = 64,
	REGION_NAME_MAX = 255,
	REGION_IMMEDIATES = 256, /* of the latest notifications, kept */
};

/* The memory pages of a region's file. */
enum region_pages {
	REGION_PAGES_AUTO, /* huge if there are any, else ordinary */
	REGION_PAGES_HUGE, /* huge or fail */
	REGION_PAGES_SMALL,
};

struct region;
struct writer;

struct region_options {
	unsigned epochs; /* sets of tables, at least 1 */
	enum region_pages pages;
};

/* Makes a region, whole or not at all; -EEXIST if the name is taken. out may be
 * NULL. */
int region_create(struct region **out, const char *name, const struct layout *l,
		  const struct region_options *o, struct error *err);

/* Makes a region unless there is one: -EEXIST if that differs from the layout
 * or the options (epochs 0: any number), and err tells how. Returns 1 if it was
 * made, 0 if it was there. */
int region_create_absent(const char *name, const struct layout *l,
			 const struct region_options *o, struct error *err);

/* Opens for reading (mapped read-only) or for writing (replays journals). */
int region_open(struct region **out, const char *name, bool write,
		struct error *err);
void region_close(struct region *r); /* NULL is fine */

/*
 * Opens a file that is not trusted, and that its owner may truncate meanwhile:
 * nothing is mapped. The header is a copy of this moment. V sets (the values
 * that postcards can carry) are neither read nor checked. Tables are read only
 * through region_memory() (-ESTALE: the file was truncated), not region_read().
 */
int region_open_untrusted(struct region **out, const char *name,
			  struct error *err);
/* -EBUSY: a process writes it. */
int region_remove(const char *name, struct error *err);

/* Claims a number of the caller's choice until this process closes the region,
 * which must be open for writing. -EAGAIN: another process holds the number. */
int region_claim(struct region *r, uint64_t number);

/* Whether the file was removed, by rm instead of region_remove(). */
bool region_removed(const struct region *r);

const char *region_path(const struct region *r);

/* Calls each() for every region of this machine that a name can open. */
typedef void region_each(void *ctx, const char *path, const char *name);
void region_list(region_each *each, void *ctx);

/* A process that writes. region_writer() steps through them: begin with *at 0;
 * false behind the last. */
struct region_writer {
	uint32_t pid;
	char program[16];
	uint64_t since_ns; /* when the process began, since 1970 */
};

bool region_writer(const struct region *r, unsigned *at,
		   struct region_writer *out);

/* When the current epoch began, and when a writer last left, in ns since 1970;
 * 0: not known. */
uint64_t region_epoch_began(const struct region *r);
uint64_t region_writer_left_ns(const struct region *r);

/* The size of the pages, by a sample of them: "1G", "2M", "2M-transparent",
 * "4K", "4K+2M-transparent". */
const char *region_page_kind(const struct region *r);
uint64_t region_size(const struct region *r);	/* bytes of the file */
unsigned region_epochs(const struct region *r); /* sets of tables */

unsigned region_tables(const struct region *r);
const struct table *region_table(const struct region *r, unsigned i);

/* The table with this id, or NULL. */
const struct table *region_by_id(const struct region *r, uint16_t id);

/* Epochs are numbered from 1 and never reused; epoch e lives in set
 * (e - 1) % region_epochs(). region_epoch() is the current one; older ones down
 * to region_oldest() are still there. */
uint64_t region_epoch(const struct region *r);
uint64_t region_oldest(const struct region *r);

/* Start of a table in an epoch's set. The epoch may have been recycled while it
 * was read: test region_oldest() again afterwards. */
const uint8_t *region_read(const struct region *r, const struct table *t,
			   uint64_t epoch);

/* The region as a struct memory; memory_close() of it is region_close(). */
struct memory *region_memory(struct region *r);

/* The file offset of a table in an epoch. */
uint64_t region_offset(const struct region *r, const struct table *t,
		       uint64_t epoch);

/* The file as it is mapped: region_size() bytes. */
const uint8_t *region_file(const struct region *r);

/* How many entries were ever written to a list, host order. list < t->lists. */
uint64_t region_list_count(const struct region *r, const struct table *t,
			   uint64_t epoch, uint32_t list);

/* Starts a new epoch: clears the oldest set, makes it current, waits until no
 * live writer is in the old one. Returns 0 or -errno; *old is the epoch that
 * ended (old may be NULL). */
int region_rotate(struct region *r, uint64_t *old, struct error *err);

/* Counts a notification, keeps its immediate. Returns how many there were. */
uint64_t region_notify(struct region *r, uint32_t immediate);
uint64_t region_notified(const struct region *r);

/* The immediate of the n-th notification, from 1. -EAGAIN: it was counted, but
 * its writer has not stored it yet (or died before); -ENODATA: it was
 * overwritten, as REGION_IMMEDIATES others have come since. */
int region_immediate(const struct region *r, uint64_t n, uint32_t *immediate);

/* A writer takes one of REGION_WRITERS slots. Each thread needs its own. */
int writer_open(struct writer **out, struct region *r, struct error *err);
void writer_close(struct writer *w);
uint64_t writer_enter(struct writer *w); /* returns the epoch to write into */
void writer_leave(struct writer *w);

/* A table's first byte in the entered epoch. */
uint8_t *writer_mem(struct writer *w, const struct table *t);

/* Copies len bytes so that a kill between any two instructions leaves all or
 * nothing, once the region is opened again. offset is from the start of the
 * table; the caller has checked the bounds. */
void writer_put(struct writer *w, const struct table *t, uint64_t offset,
		const void *data, size_t len);

#endif
