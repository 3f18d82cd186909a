/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * region_file.h - private to this room: a region's file as it lies in memory
 * (dta-region(5)), and what an open region knows.
 *
 *	0       struct region_header with its tables       static, has a CRC
 *	20480   struct region_state                        changes
 *	24576   struct region_writer_slot[REGION_WRITERS]  changes
 *	294912  V sets (possible values): uint32_t sorted  static, has a CRC
 *	set_at  epoch sets, set_len bytes each: the tables at their offsets
 *
 * All in the byte order of the machine that made it.
 */
/* clang-format on */
#ifndef REGION_REGION_FILE_H
#define REGION_REGION_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic_file.h"
#include "region/region.h"

enum {
	REGION_ORDER = 0x01020304,
	REGION_ALIGN = 4096,   /* an ordinary page */
	REGION_HUGE = 2 << 20, /* a transparent huge page */
	REGION_STATIC_LEN = 20480,
	REGION_JOURNAL_LEN = 4096,
};

/* The first bytes of each kind of file. */
extern const char region_magic[8], snapshot_magic[8];

#define REGION_EXISTS "%s exists: remove it, or take another name"

struct region_header {
	char magic[8];
	uint32_t order;	     /* REGION_ORDER */
	uint32_t version;    /* REGION_VERSION */
	uint32_t length;     /* REGION_STATIC_LEN */
	uint32_t crc;	     /* CRC-32C of the static part, this field 0 */
	uint32_t values_crc; /* CRC-32C of the V sets, padding included */
	uint32_t tables;
	uint32_t epochs;       /* sets */
	uint32_t writer_slots; /* REGION_WRITERS */
	uint64_t file_size;
	uint64_t values_at, values_len;
	uint64_t set_at, set_len;
	uint8_t reserved[4096 - 80];
	struct table table[TABLE_MAX];
};

_Static_assert(sizeof(struct region_header) == REGION_STATIC_LEN,
	       "the region format");

struct region_state {
	uint64_t epoch;	   /* current; set (epoch - 1) % epochs */
	uint64_t oldest;   /* epoch that is still there */
	uint64_t notified; /* how many immediates came */
	uint64_t reserved0;
	uint64_t slots_taken; /* writers that ever took a slot */
	uint64_t began_ns; /* of the current epoch, since 1970; 0: not known */
	uint64_t left_ns;  /* when a writer last gave up its slot */
	uint8_t reserved1[2048 - 56];
	/* The last immediates. Number n is in the low half of word n %
	 * REGION_IMMEDIATES, with n's low 32 bits above it. */
	uint64_t ring[REGION_IMMEDIATES];
};

_Static_assert(sizeof(struct region_state) == 4096, "the region format");

enum region_journal {
	JOURNAL_IDLE,
	JOURNAL_FULL, /* payload, offset and length hold an operation */
};

/* A writer's slot. Free: pid 0. */
struct region_writer_slot {
	uint64_t epoch; /* which the writer has entered; 0: none */
	uint64_t start; /* of its process: field 22 of /proc/PID/stat */
	uint32_t pid;
	uint8_t reserved0[64 - 20];
	uint32_t state;	 /* enum region_journal */
	uint32_t length; /* bytes of payload */
	uint64_t offset; /* in the file, where payload goes */
	uint8_t reserved1[64 - 16];
	uint8_t payload[REGION_JOURNAL_LEN];
};

_Static_assert(sizeof(struct region_writer_slot) == 128 + REGION_JOURNAL_LEN,
	       "the region format");

enum {
	REGION_STATE_AT = REGION_STATIC_LEN,
	REGION_WRITER_SLOTS_AT = REGION_STATE_AT +
				 (int)sizeof(struct region_state),
	REGION_HEAD_LEN = REGION_WRITER_SLOTS_AT +
			  REGION_WRITERS *
				  (int)sizeof(struct region_writer_slot),
};

_Static_assert(REGION_HEAD_LEN == 294912, "the region format");

struct region {
	struct memory memory;	/* region_memory() */
	struct region_header h; /* a checked copy */
	char *path;
	struct atomic_file file; /* until it is published */
	int fd;
	bool write;
	bool untrusted; /* by region_open_untrusted(): map is a copy */
	uint8_t *map;	/* the whole file, or a copy of REGION_HEAD_LEN bytes */
	struct region_state *state;
	struct region_writer_slot *slot;
	uint64_t huge;	/* page size of a hugetlbfs, or 0 */
	char pages[24]; /* region_page_kind(), once asked */
};

struct writer {
	struct region *region;
	struct region_writer_slot *slot;
	uint8_t *set; /* where table offsets count from, in the entered epoch */
};

/* Checks h, a copy of the static part of a file of file_size bytes. -EBADMSG:
 * no region, or damaged; -EPROTONOSUPPORT: of another version or byte order;
 * -ESTALE: the file shrank. */
int region_check(const struct region_header *h, uint64_t file_size,
		 struct error *err);

/* Checks the first fields of a file: found must be the magic (region_magic or
 * snapshot_magic), order this machine's, and version the one known here. */
int region_check_magic(const char found[8], uint32_t order, uint32_t version,
		       const char magic[8], struct error *err);

/* CRC-32C over the static part, its crc field taken as 0. */
uint32_t region_header_crc(const struct region_header *h);

/* Checks the V sets: their CRC, and that each is sorted. */
int region_check_values(const struct region_header *h, const uint8_t *values,
			struct error *err);

/* Where a region of that name is, or will be. */
struct region_place {
	char *path;    /* malloc'ed */
	uint64_t huge; /* page size if that is on a hugetlbfs, else 0 */
};

int region_find(struct region_place *out, const char *name, struct error *err);

/* Whether a file begins as a region does; -errno: it cannot be read. */
int region_begins(const char *path);

/* Makes a region without a name: mapped for writing, all zero, epoch 1. It gets
 * one by region_publish() (-EEXIST: taken), or is dropped by region_close(). */
int region_make(struct region **out, const char *name, const struct layout *l,
		const struct region_options *o, struct error *err);
int region_publish(struct region *r, struct error *err);

struct region *region_new(void);

/* "path: reason". Returns rc. */
int region_fail(const struct region *r, int rc, struct error *err);

/* Maps h.file_size bytes of fd. Returns 0 or -errno. */
int region_map(struct region *r);

/* Whether the writer of a slot lives. The slot is not free. */
bool region_writer_slot_lives(const struct region_writer_slot *s);

/* The file offset of a table in an epoch. */
static inline uint64_t region_table_at(const struct region_header *h,
				       const struct table *t, uint64_t epoch)
{
	return t->offset + (epoch - 1) % h->epochs * h->set_len;
}

/* Bounds region_state.oldest, which may hold anything: between the oldest epoch
 * that has a set, and the current one. */
static inline uint64_t region_oldest_of(const struct region_header *h,
					uint64_t oldest, uint64_t epoch)
{
	uint64_t least = epoch >= h->epochs ? epoch - h->epochs + 1 : 1;

	if (oldest < least)
		return least;
	return oldest < epoch ? oldest : epoch;
}

#endif
