/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/aside.h"
#include "label/policy.h"

enum {
	VALUES = 19, /* of a port */
	LINE_ROOM = VALUES * 21 + 2,
};

static const char head[] = "INTLABEL 2\n";

static void values_of(uint64_t v[VALUES], const struct label_record *r)
{
	const uint64_t values[VALUES] = {
		r->device,  r->out,	   r->in,	r->time_us,
		r->seen_ns, r->before_ns,  r->first_ns, r->latency_ns,
		r->queue,   r->queue_most, r->number,	r->labels,
		r->late,    r->missing,	   r->found,	r->resets,
		r->window,  r->s,	   r->silent,
	};

	memcpy(v, values, sizeof(values));
}

/* Whether they are those of a record that a database may hold. */
static bool record_of(struct label_record *r, const uint64_t v[VALUES])
{
	uint64_t back[VALUES];

	*r = (struct label_record){
		.device = (uint32_t)v[0],
		.out = (uint16_t)v[1],
		.in = (uint16_t)v[2],
		.time_us = v[3],
		.seen_ns = v[4],
		.before_ns = v[5],
		.first_ns = v[6],
		.latency_ns = (uint32_t)v[7],
		.queue = (uint32_t)v[8],
		.queue_most = (uint32_t)v[9],
		.number = (uint32_t)v[10],
		.labels = v[11],
		.late = v[12],
		.missing = v[13],
		.found = v[14],
		.resets = v[15],
		.window = v[16],
		.s = (uint8_t)v[17],
		.silent = v[18],
		.reported = v[13] - v[14],
	};
	values_of(back, r); /* one that had no room is another one now */
	return !memcmp(back, v, sizeof(back)) && r->s <= LABEL_S_MAX &&
	       r->found <= r->missing && r->time_us <= LABEL_TIME_MASK &&
	       r->first_ns <= r->seen_ns;
}

static int write_all(int fd, struct label_db *db)
{
	uint32_t ports = label_db_ports(db);
	FILE *f = fdopen(dup(fd), "w");
	uint64_t v[VALUES];
	int rc = 0;

	if (!f)
		return -errno;
	errno = 0;
	fputs(head, f);
	for (uint32_t i = 0; i < ports; i++) {
		values_of(v, label_db_at(db, i));
		for (unsigned k = 0; k < VALUES; k++)
			fprintf(f, "%" PRIu64 "%c", v[k],
				k + 1 < VALUES ? ' ' : '\n');
	}
	fprintf(f, "end %" PRIu32 "\n", ports);
	if (ferror(f))
		rc = errno ? -errno : -EIO;
	return fclose(f) && !rc ? -errno : rc;
}

int label_state_save(const char *path, struct label_db *db, struct fault *why)
{
	struct aside a;
	struct stat st;
	int rc;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return fault_set(why, -EINVAL, "%s: it is no file", path);
	rc = aside_open(&a, path, 0644);
	if (!rc) {
		rc = write_all(a.fd, db);
		if (!rc)
			rc = aside_replace(&a);
		if (rc)
			aside_drop(&a);
		close(a.fd);
	}
	return rc ? fault_set(why, rc, "%s: %s", path, strerror(-rc)) : 0;
}

static bool read_values(uint64_t v[VALUES], const char *line)
{
	char *end;

	for (unsigned i = 0; i < VALUES; i++, line = end + 1) {
		v[i] = strtoull(line, &end, 10);
		if (end == line || *end != (i + 1 < VALUES ? ' ' : '\n'))
			return false;
	}
	return true;
}

static int take_line(struct label_db *db, const char *line, struct fault *why)
{
	struct label_record r;
	uint64_t v[VALUES];
	int rc = -EEXIST;

	if (read_values(v, line) && record_of(&r, v))
		rc = label_db_restore(db, &r);
	if (rc == -EEXIST)
		return fault_set(why, -EBADMSG, "damaged");
	if (rc == -ENOSPC)
		return fault_set(why, rc, "more ports than there is room for");
	return rc ? fault_set(why, rc, "%s", strerror(-rc)) : 0;
}

int label_state_read(FILE *f, struct label_db *db, struct fault *why)
{
	char line[LINE_ROOM], end[32];
	uint32_t ports = 0;
	int rc;

	if (!fgets(line, sizeof(line), f) || strncmp(line, head, 8) != 0)
		return fault_set(why, -EBADMSG, "no state of int-label-ctl");
	if (strcmp(line, head) != 0)
		return fault_set(why, -ENOTSUP, "of another version");
	while (fgets(line, sizeof(line), f)) {
		snprintf(end, sizeof(end), "end %" PRIu32 "\n", ports);
		if (!strcmp(line, end))
			return 0;
		if ((rc = take_line(db, line, why))) {
			label_db_clear(db);
			return rc;
		}
		ports++;
	}
	label_db_clear(db);
	return fault_set(why, -EBADMSG, "damaged: it has no end");
}

int label_state_load(const char *path, struct label_db *db, struct fault *why)
{
	FILE *in = fopen(path, "re");
	struct fault f;
	int rc;

	if (!in)
		return fault_set(why, -errno, "%s: %s", path, strerror(errno));
	if ((rc = label_state_read(in, db, &f)))
		fault_of(why, rc, path, &f);
	fclose(in);
	return rc;
}
