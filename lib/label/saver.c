/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/saver.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "label/state.h"

struct label_saver {
	const char *path;
	struct label_record *copy;
	uint32_t n, room;
	pthread_t thread;
	bool runs, ended; /* ended: of the thread, atomic */
	int rc;
	struct fault why;
};

int label_saver_open(struct label_saver **out, const char *path)
{
	struct label_saver *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->path = path;
	*out = s;
	return 0;
}

static void *save(void *saver)
{
	struct label_saver *s = saver;

	s->rc = label_state_write(s->path, s->copy, s->n, &s->why);
	__atomic_store_n(&s->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static int start(struct label_saver *s)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&s->thread, NULL, save, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	s->runs = !rc;
	return -rc;
}

int label_saver_begin(struct label_saver *s, struct label_db *db)
{
	struct label_record *copy;

	if (s->runs)
		return -EBUSY;
	s->n = label_db_ports(db);
	if (s->n > s->room) {
		copy = realloc(s->copy, s->n * sizeof(*copy));
		if (!copy)
			return -ENOMEM;
		s->copy = copy;
		s->room = s->n;
	}
	if (s->n)
		memcpy(s->copy, label_db_at(db, 0), s->n * sizeof(*s->copy));
	s->ended = false;
	return start(s);
}

static void join(struct label_saver *s)
{
	pthread_join(s->thread, NULL);
	s->runs = false;
}

int label_saver_look(struct label_saver *s, struct fault *why)
{
	if (!s->runs || !__atomic_load_n(&s->ended, __ATOMIC_ACQUIRE))
		return -EAGAIN;
	join(s);
	*why = s->why;
	return s->rc;
}

void label_saver_close(struct label_saver *s)
{
	if (!s)
		return;
	if (s->runs)
		join(s);
	free(s->copy);
	free(s);
}
