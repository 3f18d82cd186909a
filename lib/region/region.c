/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * region.c - opens regions and reads their state; locks; writer slots, recovery
 * after dead writers, and rotation. (region_make.c makes regions.)
 *
 * How kill -9 between any two instructions leaves every operation done or not
 * done: what one store instruction covers is atomic by itself. Anything longer
 * is first put into the writer slot's journal, whole; a journal that is full
 * after its writer's death is carried out again. After the death, stores are
 * visible in program order, so only the compiler's order must be fixed.
 */
#include "region/region.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fence.h"
#include "base/process.h"
#include "region/region_file.h"

/* What one process may do at a time; a byte of the file is locked for each. */
enum region_lock { REGION_LOCK_SLOTS, REGION_LOCK_ROTATE, REGION_LOCKS };

struct region *region_new(void)
{
	struct region *r = calloc(1, sizeof(*r));

	if (r)
		r->fd = -1;
	return r;
}

static void set_map(struct region *r, uint8_t *map)
{
	r->map = map;
	r->state = (struct region_state *)(map + REGION_STATE_AT);
	r->slot = (struct region_writer_slot *)(map + REGION_WRITER_SLOTS_AT);
}

/* Maps the file at an address where a huge page can begin; elsewhere its huge
 * pages would be mapped as small ones. */
int region_map(struct region *r)
{
	uint64_t align = r->huge > REGION_HUGE ? r->huge : REGION_HUGE;
	uint64_t page = r->huge ? r->huge : REGION_ALIGN, skip;
	/* mmap() takes whole pages; file_size may be any number. */
	uint64_t size = (r->h.file_size + page - 1) / page * page;
	int prot = r->write ? PROT_READ | PROT_WRITE : PROT_READ;
	uint8_t *room = mmap(NULL, size + align, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			     0);
	uint8_t *p;

	if (room == MAP_FAILED)
		return -errno;
	skip = -(uintptr_t)room & (align - 1);
	p = mmap(room + skip, size, prot, MAP_SHARED | MAP_FIXED, r->fd, 0);
	if (p == MAP_FAILED) {
		int rc = -errno;

		munmap(room, size + align);
		return rc;
	}
	if (skip)
		munmap(room, skip);
	if (align - skip)
		munmap(p + size, align - skip);
	set_map(r, p);
	return 0;
}

static int copy_head(struct region *r)
{
	set_map(r, malloc(REGION_HEAD_LEN));
	if (!r->map)
		return -ENOMEM;
	return pread(r->fd, r->map, REGION_HEAD_LEN, 0) == REGION_HEAD_LEN
		       ? 0
		       : -ESTALE;
}

int region_fail(const struct region *r, int rc, struct error *err)
{
	return error_set(err, rc, "%s: %s", r->path, strerror(-rc));
}

/* Says that a name has no region, and what helps: a file of that name in the
 * current directory, or else the cure. */
static int fail_absent(const char *path, const char *name, const char *cure,
		       struct error *err)
{
	bool here = !strchr(name, '/') && !access(name, F_OK);

	return error_set(err, -ENOENT, "%s: no such region%s%s", path,
			 here ? "; the file here is ./" : cure,
			 here ? name : "");
}

/* Reads and checks the header, then maps the file, or copies its head. */
static int load_head(struct region *r, struct error *err)
{
	struct error why = {""};
	struct stat st;
	ssize_t n;
	int rc;

	if (fstat(r->fd, &st) < 0)
		return region_fail(r, -errno, err);
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EBADMSG, "%s: not a region", r->path);
	n = pread(r->fd, &r->h, sizeof(r->h), 0);
	if (n < 0)
		return region_fail(r, -errno, err);
	if (n < (ssize_t)sizeof(r->h))
		return error_set(err, -EBADMSG,
				 "%s: not a region, or cut short", r->path);
	rc = region_check(&r->h, (uint64_t)st.st_size, &why);
	if (rc < 0)
		return error_set(err, rc, "%s: %.400s", r->path, why.text);
	rc = r->untrusted ? copy_head(r) : region_map(r);
	if (rc < 0)
		return region_fail(r, rc, err);
	if (!r->untrusted)
		rc = region_check_values(&r->h, r->map + r->h.values_at, &why);
	if (!rc && !region_epoch(r))
		rc = error_set(&why, -EBADMSG, "damaged: there is no epoch 0");
	return rc < 0 ? error_set(err, rc, "%s: %.400s", r->path, why.text) : 0;
}

/* The locks between threads; between processes they are bytes of the file. */
static pthread_mutex_t mutex[REGION_LOCKS] = {
	PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER,
};

/* Locks a byte of the file, or unlocks it. 0 or -errno. */
static int lock_byte(const struct region *r, int command, short type,
		     uint64_t at)
{
	struct flock lock = {
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = (off_t)at,
		.l_len = 1,
	};
	int rc;

	do
		rc = fcntl(r->fd, command, &lock) < 0 ? -errno : 0;
	while (rc == -EINTR);
	return rc;
}

static int lock_region(struct region *r, enum region_lock which,
		       struct error *err)
{
	int rc;

	pthread_mutex_lock(&mutex[which]);
	rc = lock_byte(r, F_OFD_SETLKW, F_WRLCK, which);
	if (rc < 0)
		pthread_mutex_unlock(&mutex[which]);
	return rc < 0 ? region_fail(r, rc, err) : 0;
}

static void unlock_region(struct region *r, enum region_lock which)
{
	lock_byte(r, F_OFD_SETLK, F_UNLCK, which);
	pthread_mutex_unlock(&mutex[which]);
}

int region_claim(struct region *r, uint64_t number)
{
	return lock_byte(r, F_OFD_SETLK, F_WRLCK,
			 REGION_LOCKS + number % (INT64_MAX / 2));
}

bool region_removed(const struct region *r)
{
	struct stat st;

	return fstat(r->fd, &st) == 0 && !st.st_nlink;
}

/* Another process may have the PID by now: its start time differs. */
bool region_writer_slot_lives(const struct region_writer_slot *s)
{
	uint64_t start = process_start(s->pid);

	return start && start == s->start;
}

/* Completes a dead writer's operation and frees its slot. */
static void recover_slot(struct region *r, struct region_writer_slot *s)
{
	/* Loaded once, so that what is checked is what is used. */
	uint32_t length = __atomic_load_n(&s->length, __ATOMIC_RELAXED);
	uint64_t offset = __atomic_load_n(&s->offset, __ATOMIC_RELAXED);

	if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == JOURNAL_FULL &&
	    length <= REGION_JOURNAL_LEN && offset >= r->h.set_at &&
	    offset <= r->h.file_size && length <= r->h.file_size - offset)
		memcpy(r->map + offset, s->payload, length);
	/* If this process is killed here, the next one writes the same bytes
	 * again. */
	__atomic_store_n(&s->state, JOURNAL_IDLE, __ATOMIC_RELEASE);
	__atomic_store_n(&s->epoch, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&s->pid, 0, __ATOMIC_RELEASE);
}

/* Recovers the slots of dead writers. REGION_LOCK_SLOTS is held. */
static void recover_slots(struct region *r)
{
	for (unsigned i = 0; i < REGION_WRITERS; i++) {
		struct region_writer_slot *s = &r->slot[i];

		if (s->pid && !region_writer_slot_lives(s))
			recover_slot(r, s);
	}
}

static int lock_and_recover(struct region *r, struct error *err)
{
	int rc = lock_region(r, REGION_LOCK_SLOTS, err);

	if (rc < 0)
		return rc;
	recover_slots(r);
	unlock_region(r, REGION_LOCK_SLOTS);
	return 0;
}

static int open_named(struct region *r, const char *name, struct error *err)
{
	struct region_place where = {NULL, 0};
	struct error why;
	int rc = region_find(&where, name, err);

	if (rc < 0)
		return rc;
	r->path = where.path;
	r->huge = where.huge;
	/* A FIFO of that name must not block. */
	r->fd = open(r->path,
		     (r->write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
	if (r->fd < 0 && errno == ENOENT)
		return fail_absent(r->path, name,
				   "; dta-collect --create makes one", err);
	if (r->fd < 0) {
		rc = error_opening(&why, -errno, r->path);
		return error_about(err, rc, r->path, &why);
	}
	rc = load_head(r, err);
	return rc < 0 || !r->write ? rc : lock_and_recover(r, err);
}

static int open_region(struct region **out, const char *name, bool write,
		       bool untrusted, struct error *err)
{
	struct region *r = region_new();
	int rc;

	if (!r)
		return error_set(err, -ENOMEM, "out of memory");
	r->write = write;
	r->untrusted = untrusted;
	rc = open_named(r, name, err);
	if (rc < 0)
		region_close(r);
	else
		*out = r;
	return rc;
}

int region_open(struct region **out, const char *name, bool write,
		struct error *err)
{
	return open_region(out, name, write, false, err);
}

int region_open_untrusted(struct region **out, const char *name,
			  struct error *err)
{
	return open_region(out, name, false, true, err);
}

void region_close(struct region *r)
{
	if (!r)
		return;
	if (r->untrusted)
		free(r->map);
	else if (r->map)
		munmap(r->map, r->h.file_size);
	if (r->fd >= 0)
		close(r->fd);
	atomic_file_drop(&r->file);
	free(r->path);
	free(r);
}

/* -EBUSY if a process writes the region. One that cannot be opened is damaged,
 * and has none. */
static int refuse_written(const char *name, struct error *err)
{
	struct region_writer writer;
	struct region *r = NULL;
	unsigned at = 0;
	int rc = 0;

	if (region_open(&r, name, false, NULL) < 0)
		return 0;
	if (region_writer(r, &at, &writer))
		rc = error_set(err, -EBUSY,
			       "%s: %.16s (PID %u) writes it: end that first",
			       r->path, writer.program, writer.pid);
	region_close(r);
	return rc;
}

int region_remove(const char *name, struct error *err)
{
	struct region_place where;
	int rc = refuse_written(name, err);

	if (!rc)
		rc = region_find(&where, name, err);
	if (rc < 0)
		return rc;
	/* A damaged region is removed, too, but no file of another kind. */
	rc = region_begins(where.path);
	if (rc > 0)
		rc = unlink(where.path) < 0 ? -errno : 0;
	else if (!rc)
		rc = -EBADMSG;
	if (rc == -ENOENT)
		fail_absent(where.path, name, "", err);
	else if (rc == -EBADMSG)
		error_set(err, rc, "%s: not a region", where.path);
	else if (rc < 0)
		error_opening(err, rc, where.path);
	free(where.path);
	return rc;
}

const char *region_path(const struct region *r)
{
	return r->path;
}

uint64_t region_size(const struct region *r)
{
	return r->h.file_size;
}

unsigned region_epochs(const struct region *r)
{
	return r->h.epochs;
}

unsigned region_tables(const struct region *r)
{
	return r->h.tables;
}

const struct table *region_table(const struct region *r, unsigned i)
{
	return i < r->h.tables ? &r->h.table[i] : NULL;
}

const struct table *region_by_id(const struct region *r, uint16_t id)
{
	for (unsigned i = 0; i < r->h.tables; i++)
		if (r->h.table[i].id == id)
			return &r->h.table[i];
	return NULL;
}

uint64_t region_epoch(const struct region *r)
{
	return __atomic_load_n(&r->state->epoch, __ATOMIC_ACQUIRE);
}

uint64_t region_oldest(const struct region *r)
{
	uint64_t oldest;

	/* The caller's loads from the epoch are done before it looks here. */
	fence_loads();
	oldest = __atomic_load_n(&r->state->oldest, __ATOMIC_ACQUIRE);
	return region_oldest_of(&r->h, oldest, region_epoch(r));
}

uint64_t region_offset(const struct region *r, const struct table *t,
		       uint64_t epoch)
{
	return region_table_at(&r->h, t, epoch);
}

const uint8_t *region_read(const struct region *r, const struct table *t,
			   uint64_t epoch)
{
	return r->map + region_offset(r, t, epoch);
}

const uint8_t *region_file(const struct region *r)
{
	return r->map;
}

uint64_t region_list_count(const struct region *r, const struct table *t,
			   uint64_t epoch, uint32_t list)
{
	const uint8_t *p = region_read(r, t, epoch) + table_head(t, list);

	return be64toh(__atomic_load_n((const uint64_t *)p, __ATOMIC_ACQUIRE));
}

static void read_program(char out[16], uint32_t pid)
{
	char path[32];
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	in = fopen(path, "re");
	if (!in || !fgets(out, 16, in))
		*out = '\0';
	if (in)
		fclose(in);
	out[strcspn(out, "\n")] = '\0';
}

bool region_writer(const struct region *r, unsigned *at,
		   struct region_writer *out)
{
	for (; *at < REGION_WRITERS; ++*at) {
		struct region_writer_slot s = {
			.pid = r->slot[*at].pid,
			.start = r->slot[*at].start,
		};
		unsigned first = 0; /* slot of this process; one a thread */

		while (first < *at && r->slot[first].pid != s.pid)
			first++;
		if (!s.pid || first < *at || !region_writer_slot_lives(&s))
			continue;
		++*at;
		out->pid = s.pid;
		out->since_ns = process_began_ns(s.start);
		read_program(out->program, s.pid);
		return true;
	}
	return false;
}

uint64_t region_epoch_began(const struct region *r)
{
	return __atomic_load_n(&r->state->began_ns, __ATOMIC_RELAXED);
}

uint64_t region_writer_left_ns(const struct region *r)
{
	return __atomic_load_n(&r->state->left_ns, __ATOMIC_RELAXED);
}

static struct region_writer_slot *take_slot(struct region *r)
{
	uint32_t pid = (uint32_t)getpid();

	recover_slots(r);
	for (unsigned i = 0; i < REGION_WRITERS; i++) {
		struct region_writer_slot *s = &r->slot[i];

		if (s->pid)
			continue;
		s->epoch = 0;
		s->state = JOURNAL_IDLE;
		s->start = process_start(pid);
		r->state->slots_taken++;
		/* Taken only now: a kill before leaves the slot free. */
		__atomic_store_n(&s->pid, pid, __ATOMIC_RELEASE);
		return s;
	}
	return NULL;
}

int writer_open(struct writer **out, struct region *r, struct error *err)
{
	struct writer *w;
	int rc;

	if (!r->write)
		return error_set(err, -EBADF, "%s: is open for reading only",
				 region_path(r));
	w = calloc(1, sizeof(*w));
	if (!w)
		return error_set(err, -ENOMEM, "out of memory");
	rc = lock_region(r, REGION_LOCK_SLOTS, err);
	if (!rc) {
		w->slot = take_slot(r);
		unlock_region(r, REGION_LOCK_SLOTS);
		if (!w->slot)
			rc = error_set(err, -EUSERS,
				       "%s: has %d writers already, no more "
				       "can be",
				       region_path(r), REGION_WRITERS);
	}
	if (rc < 0) {
		free(w);
		return rc;
	}
	w->region = r;
	*out = w;
	return 0;
}

void writer_close(struct writer *w)
{
	if (!w)
		return;
	writer_leave(w);
	__atomic_store_n(&w->region->state->left_ns, clock_wall_ns(),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&w->slot->pid, 0, __ATOMIC_RELEASE);
	free(w);
}

/* Stores the epoch that it enters, then checks that this is still the current
 * one: either a rotation sees the slot, or the rotation is seen here. */
uint64_t writer_enter(struct writer *w)
{
	struct region *r = w->region;
	uint64_t epoch, now = region_epoch(r);

	do {
		epoch = now;
		__atomic_store_n(&w->slot->epoch, epoch, __ATOMIC_SEQ_CST);
		now = __atomic_load_n(&r->state->epoch, __ATOMIC_SEQ_CST);
	} while (now != epoch);
	w->set = r->map + (epoch - 1) % r->h.epochs * r->h.set_len;
	return epoch;
}

void writer_leave(struct writer *w)
{
	__atomic_store_n(&w->slot->epoch, 0, __ATOMIC_RELEASE);
}

uint8_t *writer_mem(struct writer *w, const struct table *t)
{
	return w->set + t->offset;
}

static void put_journalled(struct writer *w, uint8_t *to, const void *data,
			   uint32_t len)
{
	struct region_writer_slot *s = w->slot;

	/* These stores stay behind the one that emptied the journal. */
	atomic_signal_fence(memory_order_seq_cst);
	s->length = len;
	s->offset = (uint64_t)(to - w->region->map);
	memcpy(s->payload, data, len);
	__atomic_store_n(&s->state, JOURNAL_FULL, __ATOMIC_RELEASE);
	atomic_signal_fence(memory_order_seq_cst);
	memcpy(to, data, len);
	__atomic_store_n(&s->state, JOURNAL_IDLE, __ATOMIC_RELEASE);
}

void writer_put(struct writer *w, const struct table *t, uint64_t offset,
		const void *data, size_t len)
{
	uint8_t *to = w->set + t->offset + offset;
	const uint8_t *from = data;
	uint64_t v;

	if (len == 8 && !((uintptr_t)to & 7)) {
		memcpy(&v, data, 8);
		__atomic_store_n((uint64_t *)to, v, __ATOMIC_RELAXED);
		return;
	}
	for (; len > REGION_JOURNAL_LEN; len -= REGION_JOURNAL_LEN) {
		put_journalled(w, to, from, REGION_JOURNAL_LEN);
		to += REGION_JOURNAL_LEN;
		from += REGION_JOURNAL_LEN;
	}
	put_journalled(w, to, from, (uint32_t)len);
}

enum {
	WAIT_MS = 10000,
	NAP_MS = 1,
};

/* Waits until no live writer is in an epoch other than the current one. Then
 * completes what dead writers left half done. */
static int settle_writers(struct region *r, uint64_t current, struct error *err)
{
	uint32_t pid = 0; /* of a live writer in another epoch */

	for (int ms = 0; ms < WAIT_MS; ms += NAP_MS) {
		pid = 0;
		for (unsigned i = 0; i < REGION_WRITERS && !pid; i++) {
			const struct region_writer_slot *s = &r->slot[i];
			uint64_t epoch = __atomic_load_n(&s->epoch,
							 __ATOMIC_SEQ_CST);

			if (epoch && epoch != current && s->pid &&
			    region_writer_slot_lives(s))
				pid = s->pid;
		}
		if (!pid)
			return lock_and_recover(r, err);
		usleep(NAP_MS * 1000);
	}
	return error_set(err, -ETIMEDOUT,
			 "%s: process %u has been writing into the old epoch "
			 "for %d s",
			 region_path(r), pid, WAIT_MS / 1000);
}

static int rotate_locked(struct region *r, uint64_t *old, struct error *err)
{
	uint64_t epoch = region_epoch(r), next = epoch + 1;
	int rc = settle_writers(r, epoch, err);

	if (rc < 0)
		return rc;
	/* Readers must see that the set is gone before it is cleared. */
	if (next > r->h.epochs)
		__atomic_store_n(&r->state->oldest, next - r->h.epochs + 1,
				 __ATOMIC_SEQ_CST);
	fence_all();
	memset(r->map + r->h.set_at + epoch % r->h.epochs * r->h.set_len, 0,
	       r->h.set_len);
	__atomic_store_n(&r->state->began_ns, clock_wall_ns(),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&r->state->epoch, next, __ATOMIC_SEQ_CST);
	if (old)
		*old = epoch;
	return settle_writers(r, next, err);
}

int region_rotate(struct region *r, uint64_t *old, struct error *err)
{
	int rc;

	if (!r->write)
		return error_set(err, -EBADF, "%s: is open for reading only",
				 region_path(r));
	if (r->h.epochs < 2)
		return error_set(err, -EINVAL,
				 "%s: has one epoch only; create it with two "
				 "or more to rotate",
				 region_path(r));
	rc = lock_region(r, REGION_LOCK_ROTATE, err);
	if (rc < 0)
		return rc;
	rc = rotate_locked(r, old, err);
	unlock_region(r, REGION_LOCK_ROTATE);
	return rc;
}

uint64_t region_notify(struct region *r, uint32_t immediate)
{
	uint64_t n = __atomic_add_fetch(&r->state->notified, 1,
					__ATOMIC_SEQ_CST);

	__atomic_store_n(&r->state->ring[n % REGION_IMMEDIATES],
			 n << 32 | immediate, __ATOMIC_RELEASE);
	return n;
}

uint64_t region_notified(const struct region *r)
{
	return __atomic_load_n(&r->state->notified, __ATOMIC_ACQUIRE);
}

int region_immediate(const struct region *r, uint64_t n, uint32_t *immediate)
{
	uint64_t v = __atomic_load_n(&r->state->ring[n % REGION_IMMEDIATES],
				     __ATOMIC_ACQUIRE);
	uint32_t number = (uint32_t)(v >> 32);

	if (number != (uint32_t)n)
		return (int32_t)(number - (uint32_t)n) > 0 ? -ENODATA : -EAGAIN;
	*immediate = (uint32_t)v;
	return 0;
}

static struct region *region_of(struct memory *m)
{
	return (struct region *)((char *)m - offsetof(struct region, memory));
}

static const uint8_t *table_address(struct memory *m, const struct table *t,
				    uint64_t epoch)
{
	const struct region *r = region_of(m);

	return r->untrusted ? NULL : region_read(r, t, epoch);
}

static void read_file(struct memory *m, struct memory_read *r, size_t n)
{
	const struct region *region = region_of(m);

	for (size_t i = 0; i < n; i++) {
		uint64_t at = region_offset(region, r[i].t, r[i].epoch);
		ssize_t got = pread(region->fd, r[i].to, r[i].length,
				    (off_t)(at + r[i].offset));

		r[i].rc = got == (ssize_t)r[i].length ? 0
			  : got < 0		      ? -errno
						      : -ESTALE;
	}
}

static int renew_epochs(struct memory *m)
{
	const struct region *r = region_of(m);

	m->oldest = region_oldest(r);
	m->newest = region_epoch(r);
	if (m->newest < m->oldest) /* rotated between the two loads */
		m->oldest = m->newest;
	return 0;
}

static void close_region(struct memory *m)
{
	region_close(region_of(m));
}

struct memory *region_memory(struct region *r)
{
	static const struct memory_ops ops = {
		.read = read_file,
		.direct = table_address,
		.renew = renew_epochs,
		.close = close_region,
	};
	struct memory *m = &r->memory;

	m->ops = &ops;
	m->path = r->path;
	m->table = r->h.table;
	m->tables = r->h.tables;
	m->values = r->untrusted ? NULL : r->map + r->h.values_at;
	m->values_at = r->h.values_at;
	renew_epochs(m);
	return m;
}
