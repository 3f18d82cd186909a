/* SPDX-License-Identifier: BSD-2-Clause */
#include "crew/crew.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct worker {
	struct crew *crew;
	unsigned number;
	pthread_t thread;
};

struct crew {
	crew_run *run;
	void *ctx;
	unsigned n; /* that were started */
	/* Held while they are started: who is not to run after all ends. */
	pthread_mutex_t gate;
	int rc;
	struct worker worker[CREW_MAX];
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct crew *c = w->crew;
	int rc;

	pthread_mutex_lock(&c->gate);
	rc = c->rc;
	pthread_mutex_unlock(&c->gate);
	if (!rc)
		c->run(c->ctx, w->number);
	return NULL;
}

static void start(struct crew *c, unsigned n)
{
	for (unsigned i = 1; i < n && !c->rc; i++) {
		struct worker *w = &c->worker[c->n];

		*w = (struct worker){.crew = c, .number = i};
		c->rc = -pthread_create(&w->thread, NULL, work, w);
		c->n += !c->rc;
	}
}

int crew_start(struct crew **out, unsigned n, crew_run *run, void *ctx)
{
	struct crew *c = calloc(1, sizeof(*c));
	sigset_t all, before;
	int rc;

	if (!c)
		return -ENOMEM;
	c->run = run;
	c->ctx = ctx;
	pthread_mutex_init(&c->gate, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&c->gate);
	start(c, n < CREW_MAX ? n : CREW_MAX);
	rc = c->rc;
	pthread_mutex_unlock(&c->gate);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc) {
		crew_join(c);
		return rc;
	}
	*out = c;
	return 0;
}

void crew_join(struct crew *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->n; i++)
		pthread_join(c->worker[i].thread, NULL);
	pthread_mutex_destroy(&c->gate);
	free(c);
}
