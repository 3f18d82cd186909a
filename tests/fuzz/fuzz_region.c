/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The input is the head of a region's file of 2 MiB: the fields of the header,
 * then tables; all else is zero. Its checksums are made right, or the fuzzer
 * would never get past them. What opens is read: all of every table must be
 * there; and it can be asked from afar where it can be opened, and only there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hash/crc.h"
#include "region/far.h"
#include "query/query.h"
#include "region/region_file.h"
#include "net/key.h"
#include "../unit/region_sums.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct region *r, const struct table *t, uint64_t epoch)
{
	static const uint8_t room[CRC_HEADROOM + KEY_MAX];
	const uint8_t *key = room + CRC_HEADROOM;
	struct table_view v;
	struct query_rule rule = {.copies = t->copies, .partial = true};
	struct query_reply one, *reply = &one;
	uint64_t n, lost;
	uint8_t entry[TABLE_VALUE_MAX];

	memory_view(&v, region_memory((struct region *)r), t, epoch);
	if (t->kind != TABLE_APPEND)
		query_keys(&v, &rule, &key, 1, &reply);
	else
		query_list_read(&v, t->lists - 1, 0, entry, 1, &n, &lost);
	if (t->kind == TABLE_APPEND && table_kept(t) - 1 >= t->units - 1)
		abort(); /* a list that keeps nothing, or more than there is */
}

enum {
	FIELDS = offsetof(struct region_header, reserved),
};

static int far_read(void *ctx, const struct memory_piece *p, size_t n,
		    struct error *err)
{
	for (; n; n--, p++) {
		if (p->offset > 2 << 20 || p->length > (2 << 20) - p->offset)
			abort();
		if (pread(*(int *)ctx, p->to, p->length, (off_t)p->offset) !=
		    (ssize_t)p->length)
			return error_set(err, -EIO, "it cannot be read");
	}
	return 0;
}

static void far_close(void *ctx)
{
	(void)ctx;
}

static void look_from_afar(int fd, struct region *r)
{
	struct memory_link link = {far_read, far_close, &fd, 2 << 20};
	struct memory *far, *near;
	int rc = memory_open_link(&far, "there", &link, NULL, NULL);

	if (!rc != !!r)
		abort();
	if (rc)
		return;
	near = region_memory(r);
	if (far->tables != near->tables || far->oldest != near->oldest ||
	    memcmp(far->table, near->table,
		   near->tables * sizeof(struct table)) != 0)
		abort();
	memory_close(far);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct region_header h;
	static uint8_t zero[REGION_HEAD_LEN];
	struct region *r = NULL;
	char path[32];
	int fd = memfd_create("region", MFD_CLOEXEC);
	uint64_t one = 1;

	memset(&h, 0, sizeof(h));
	memcpy(&h, data, least(size, FIELDS));
	if (size > FIELDS)
		memcpy(h.table, data + FIELDS,
		       least(size - FIELDS, sizeof(h.table)));
	h.values_crc = h.values_len < sizeof(zero)
			       ? crc(CRC_CHECKSUM, zero, h.values_len)
			       : 0;
	h.crc = region_header_crc(&h);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || ftruncate(fd, 2 << 20) < 0 ||
	    write(fd, &h, sizeof(h)) != sizeof(h) ||
	    pwrite(fd, &one, sizeof(one), REGION_STATE_AT) != sizeof(one))
		abort();
	if (region_open(&r, path, size & 1, NULL) < 0)
		r = NULL;
	look_from_afar(fd, r);
	if (r) {
		for (unsigned i = 0; i < region_tables(r); i++)
			for (uint64_t e = 1; e <= region_epochs(r); e++) {
				const struct table *t = region_table(r, i);

				region_digest(r, t, e);
				ask(r, t, e);
			}
		region_close(r);
	}
	close(fd);
	return 0;
}
