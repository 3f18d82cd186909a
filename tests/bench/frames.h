/* SPDX-License-Identifier: BSD-2-Clause */
/* frames.h - frames in memory, as dta-gen int makes them. */
#ifndef TESTS_BENCH_FRAMES_H
#define TESTS_BENCH_FRAMES_H

#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "packet/pkt.h"

enum {
	FRAMES = 1 << 17,
	TEXT_MAX = 2 * PATH_MAX,
};

struct frames {
	struct pkt *pkt;
	uint8_t *bytes;
	size_t n, used, size;
};

static void keep(struct frames *fs, const struct pkt *p)
{
	if (fs->used + p->len > fs->size)
		bench_die("the frames are too long");
	memcpy(fs->bytes + fs->used, p->data, p->len);
	fs->pkt[fs->n] = *p;
	fs->pkt[fs->n++].data = fs->bytes + fs->used;
	fs->used += p->len + 16; /* headroom of checksums */
}

/* What the program beside us makes. */
static void load_frames(struct frames *fs, const char *dir, const char *options)
{
	char file[] = "/tmp/bench_int.XXXXXX", command[TEXT_MAX];
	struct pkt pkts[PKT_BATCH];
	struct error err = {0};
	struct src *s = NULL;
	int fd = mkstemp(file), n;

	if (fd < 0)
		bench_die("no temporary file");
	close(fd);
	snprintf(command, sizeof(command),
		 "%s/dta-gen int -q %s -c %d --data 0 -w %s", dir, options,
		 FRAMES, file);
	if (system(command) || src_open(&s, file, &err) < 0)
		bench_die(command);
	fs->n = 0;
	fs->used = 16;
	while ((n = src_rx(s, pkts, PKT_BATCH, &err)) > 0)
		for (int i = 0; i < n; i++)
			keep(fs, &pkts[i]);
	src_close(s);
	unlink(file);
	if (fs->n != FRAMES)
		bench_die("not all frames are there");
}

/* Memory for them. */
static void frames_init(struct frames *fs)
{
	*fs = (struct frames){.size = (size_t)FRAMES * 1024};
	fs->pkt = calloc(FRAMES, sizeof(*fs->pkt));
	fs->bytes = malloc(fs->size);
	if (!fs->pkt || !fs->bytes)
		bench_die("out of memory");
}

static void frames_fini(struct frames *fs)
{
	free(fs->pkt);
	free(fs->bytes);
}

/* BUILD, of BUILD/tests/bench/NAME. */
static char *build_dir(const char *name)
{
	static char self[PATH_MAX];

	if (!realpath(name, self))
		bench_die("where am I?");
	return dirname(dirname(dirname(self)));
}

#endif
