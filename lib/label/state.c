/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * state.c - the file: "INTLABEL", version 32, bytes of a record 32, records 64;
 * a record for each port, as put_record() writes it; the CRC.
 */
#include "label/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/aside.h"
#include "base/cur.h"
#include "base/put.h"
#include "hash/crc.h"
#include "label/policy.h"

enum {
	STATE_VERSION = 1,
	MAGIC_LEN = 8,
	HEADER_LEN = 24,
	RECORD_LEN = 106,
	CRC_LEN = 4,
	STATE_MAX = 1 << 30, /* bytes of a file */
};

static const char magic[MAGIC_LEN + 1] = "INTLABEL";

static void put_record(struct put *w, const struct label_record *r)
{
	put_be32(w, r->device);
	put_be16(w, r->out);
	put_be16(w, r->in);
	put_be64(w, r->time_us);
	put_be64(w, r->seen_ns);
	put_be64(w, r->before_ns);
	put_be64(w, r->first_ns);
	put_be32(w, r->latency_ns);
	put_be32(w, r->queue);
	put_be32(w, r->queue_most);
	put_be32(w, r->number);
	put_be64(w, r->labels);
	put_be64(w, r->late);
	put_be64(w, r->missing);
	put_be64(w, r->found);
	put_be64(w, r->resets);
	put_be64(w, r->window);
	put_u8(w, r->s);
	put_u8(w, r->silent);
}

static void take_record(struct cur *c, struct label_record *r)
{
	*r = (struct label_record){
		.device = cur_be32(c),
	};
	r->out = cur_be16(c);
	r->in = cur_be16(c);
	r->time_us = cur_be64(c);
	r->seen_ns = cur_be64(c);
	r->before_ns = cur_be64(c);
	r->first_ns = cur_be64(c);
	r->latency_ns = cur_be32(c);
	r->queue = cur_be32(c);
	r->queue_most = cur_be32(c);
	r->number = cur_be32(c);
	r->labels = cur_be64(c);
	r->late = cur_be64(c);
	r->missing = cur_be64(c);
	r->found = cur_be64(c);
	r->resets = cur_be64(c);
	r->window = cur_be64(c);
	r->s = cur_u8(c);
	r->silent = cur_u8(c);
	r->reported = r->missing - r->found;
}

_Static_assert(HEADER_LEN + CRC_LEN + (uint64_t)LABEL_PORTS_MOST * RECORD_LEN <=
		       STATE_MAX,
	       "a file may be saved that is not loaded");

static void put_all(struct put *w, const struct label_record *records,
		    uint32_t n)
{
	put_bytes(w, magic, MAGIC_LEN);
	put_be32(w, STATE_VERSION);
	put_be32(w, RECORD_LEN);
	put_be64(w, n);
	for (uint32_t i = 0; i < n; i++)
		put_record(w, &records[i]);
	put_be32(w, crc(CRC_CHECKSUM, w->start, put_len(w)));
}

static int write_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int write_file(const char *path, const uint8_t *data, size_t len)
{
	struct aside a;
	int rc = aside_open(&a, path, 0644);

	if (rc)
		return rc;
	rc = write_all(a.fd, data, len);
	if (!rc)
		rc = aside_replace(&a);
	if (rc)
		aside_drop(&a);
	close(a.fd);
	return rc;
}

int label_state_save(const char *path, struct label_db *db, struct fault *why)
{
	uint32_t n = label_db_ports(db);
	size_t len = HEADER_LEN + CRC_LEN + (size_t)n * RECORD_LEN;
	uint8_t *data = malloc(len);
	struct put w = put_to(data, len);
	int rc = -ENOMEM;

	if (data) {
		put_all(&w, label_db_at(db, 0), n);
		rc = write_file(path, data, len);
	}
	free(data);
	return rc ? fault_set(why, rc, "%s: %s", path, strerror(-rc)) : 0;
}

int label_state_check(const char *path, struct fault *why)
{
	struct aside a;
	struct stat st;
	int rc;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return fault_set(why, -EINVAL, "%s: it is no file", path);
	rc = aside_open(&a, path, 0644);
	if (rc)
		return fault_set(why, rc, "%s: %s", path, strerror(-rc));
	aside_drop(&a);
	close(a.fd);
	return 0;
}

/* Whether a record is one that a database may hold. */
static bool is_sane(const struct label_record *r)
{
	return r->s <= LABEL_S_MAX && r->found <= r->missing &&
	       r->time_us <= LABEL_TIME_MASK && r->first_ns <= r->seen_ns;
}

/* What the header says of a file of len bytes. */
static int take_header(struct cur *c, const uint8_t *data, size_t len,
		       uint64_t *records, struct fault *why)
{
	const uint8_t *head = cur_take(c, MAGIC_LEN);
	uint32_t version = cur_be32(c), record_len = cur_be32(c);
	struct cur sum;

	*records = cur_be64(c);
	if (!cur_ok(c) || memcmp(head, magic, MAGIC_LEN) != 0)
		return fault_set(why, -EBADMSG, "no state of int-label-ctl");
	if (version != STATE_VERSION)
		return fault_set(why, -ENOTSUP,
				 "of version %" PRIu32 ", and this is %d",
				 version, STATE_VERSION);
	if (len < HEADER_LEN + CRC_LEN || record_len != RECORD_LEN ||
	    *records > (len - HEADER_LEN - CRC_LEN) / RECORD_LEN ||
	    len != HEADER_LEN + CRC_LEN + *records * RECORD_LEN)
		return fault_set(why, -EBADMSG, "damaged: its length");
	sum = cur_of(data + len - CRC_LEN, CRC_LEN);
	if (cur_be32(&sum) != crc(CRC_CHECKSUM, data, len - CRC_LEN))
		return fault_set(why, -EBADMSG, "damaged: its checksum");
	return 0;
}

int label_state_take(const uint8_t *data, size_t len, struct label_db *db,
		     struct fault *why)
{
	struct cur c = cur_of(data, len);
	struct label_record r;
	uint64_t records;
	int rc = take_header(&c, data, len, &records, why);

	for (uint64_t i = 0; i < records && !rc; i++) {
		take_record(&c, &r);
		rc = is_sane(&r) ? label_db_restore(db, &r) : -EBADMSG;
		if (rc == -EEXIST || rc == -EBADMSG)
			rc = fault_set(why, -EBADMSG, "damaged: its records");
		else if (rc == -ENOSPC)
			fault_set(why, rc, "more ports than there is room for");
		else if (rc)
			fault_set(why, rc, "%s", strerror(-rc));
	}
	if (rc)
		label_db_clear(db);
	return rc;
}

/* A whole file, for the caller to free. */
static int read_file(uint8_t **out, size_t *len, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_size > STATE_MAX) {
		close(fd);
		return -EFBIG;
	}
	*len = (size_t)st.st_size;
	if (!(*out = malloc(*len + 1)))
		rc = -ENOMEM;
	for (size_t got = 0; !rc && got < *len; got += (size_t)n)
		if ((n = read(fd, *out + got, *len - got)) <= 0)
			rc = n < 0 ? -errno : -EBADMSG;
	close(fd);
	if (rc)
		free(*out);
	return rc;
}

int label_state_load(const char *path, struct label_db *db, struct fault *why)
{
	struct fault f;
	uint8_t *data = NULL;
	size_t len = 0;
	int rc = read_file(&data, &len, path);

	if (rc)
		return fault_set(why, rc, "%s: %s", path, strerror(-rc));
	if ((rc = label_state_take(data, len, db, &f)))
		fault_of(why, rc, path, &f);
	free(data);
	return rc;
}
