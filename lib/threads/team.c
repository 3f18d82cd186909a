/* SPDX-License-Identifier: BSD-2-Clause */
#include "threads/team.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct worker {
	struct team *team;
	unsigned number;
	pthread_t thread;
};

/* Of all workers that run, by place; 0: nobody's. For signal handlers. */
static _Atomic pid_t running[THREADS_MAX];

struct team {
	team_run *run;
	void *ctx;
	unsigned n; /* that were started */
	/* Held while they are started: who is not to run after all ends. */
	pthread_mutex_t gate;
	int rc;
	struct worker worker[THREADS_MAX];
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct team *c = w->team;
	pid_t nobody = 0, own = (pid_t)syscall(SYS_gettid);
	unsigned at = 0;
	int rc;

	pthread_mutex_lock(&c->gate);
	rc = c->rc;
	pthread_mutex_unlock(&c->gate);
	if (rc)
		return NULL;
	while (at < THREADS_MAX &&
	       !atomic_compare_exchange_strong(&running[at], &nobody, own))
		nobody = 0, at++;
	c->run(c->ctx, w->number);
	if (at < THREADS_MAX)
		running[at] = 0;
	return NULL;
}

void threads_wake(void)
{
	int before = errno;

	for (unsigned i = 0; i < THREADS_MAX; i++)
		if (running[i])
			syscall(SYS_tgkill, getpid(), running[i], THREADS_WAKE);
	errno = before;
}

/* What a worker does not block: what wakes it, and what it has done itself. */
static void mask(sigset_t *set)
{
	sigfillset(set);
	sigdelset(set, THREADS_WAKE);
	sigdelset(set, SIGPIPE);
	sigdelset(set, SIGBUS);
}

static void start(struct team *c, unsigned n)
{
	for (unsigned i = 1; i < n && !c->rc; i++) {
		struct worker *w = &c->worker[c->n];

		*w = (struct worker){.team = c, .number = i};
		c->rc = -pthread_create(&w->thread, NULL, work, w);
		c->n += !c->rc;
	}
}

int team_start(struct team **out, unsigned n, team_run *run, void *ctx)
{
	struct team *c = calloc(1, sizeof(*c));
	sigset_t own, before;
	int rc;

	if (!c)
		return -ENOMEM;
	c->run = run;
	c->ctx = ctx;
	pthread_mutex_init(&c->gate, NULL);
	mask(&own);
	pthread_sigmask(SIG_SETMASK, &own, &before);
	pthread_mutex_lock(&c->gate);
	start(c, n < THREADS_MAX ? n : THREADS_MAX);
	rc = c->rc;
	pthread_mutex_unlock(&c->gate);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc) {
		team_join(c);
		return rc;
	}
	*out = c;
	return 0;
}

void team_join(struct team *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->n; i++)
		pthread_join(c->worker[i].thread, NULL);
	pthread_mutex_destroy(&c->gate);
	free(c);
}
