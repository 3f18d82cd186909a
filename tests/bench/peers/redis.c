/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Redis: a server of our own on a UNIX socket, which keeps nothing on disk; the
 * commands of a batch are sent before its answers are read. The server may run
 * on any core, also on another one than we do.
 */
#include <hiredis/hiredis.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

enum {
	TRIES = 500, /* to connect, */
	TRY_MS = 20, /* so long apart */
};

struct store {
	pid_t server;
	redisContext *c;
	uint64_t before; /* bytes, of the server alone */
};

static void serve(const char *path)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!freopen("/dev/null", "w", stdout))
		_exit(1);
	execlp("redis-server", "redis-server", "--port", "0", "--unixsocket",
	       path, "--save", "", "--appendonly", "no", NULL);
	_exit(127);
}

/* The server's context, when it answers. NULL: it never did. */
static redisContext *reach(const char *path)
{
	const struct timespec pause = {.tv_nsec = TRY_MS * 1000000};

	for (int i = 0; i < TRIES; i++) {
		redisContext *c = redisConnectUnix(path);

		if (c && !c->err)
			return c;
		if (c)
			redisFree(c);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static uint64_t used(redisContext *c)
{
	redisReply *r = redisCommand(c, "INFO memory");
	const char *at = r && r->str ? strstr(r->str, "used_memory:") : NULL;
	uint64_t n = at ? strtoull(at + strlen("used_memory:"), NULL, 10) : 0;

	freeReplyObject(r);
	return n;
}

static void close_store(void *p)
{
	struct store *m = p;

	if (m->c)
		redisFree(m->c);
	kill(m->server, SIGKILL); /* nothing of it is to be kept */
	waitpid(m->server, NULL, 0);
	free(m);
}

static void *open_store(const struct peer_setup *s)
{
	struct store *m = calloc(1, sizeof(*m));
	char path[100]; /* of a socket: 107 */

	if (!m)
		peer_fail("redis", "out of memory");
	if (snprintf(path, sizeof(path), "%s/redis.sock", s->dir) >=
	    (int)sizeof(path)) {
		peer_why("redis", "the directory's name is too long");
		free(m);
		return NULL;
	}
	m->server = fork();
	if (m->server == 0)
		serve(path);
	m->c = reach(path);
	if (!m->c) {
		peer_why("redis", "redis-server does not answer");
		close_store(m);
		return NULL;
	}
	m->before = used(m->c);
	return m;
}

static redisReply *reply(struct store *m)
{
	void *r = NULL;

	if (redisGetReply(m->c, &r) != REDIS_OK)
		peer_fail("redis", m->c->errstr);
	return r;
}

static void update(void *p, const uint8_t *const *keys, const uint32_t *values,
		   size_t n)
{
	struct store *m = p;

	for (size_t i = 0; i < n; i++) {
		const char *words[] = {"SET", (const char *)keys[i],
				       (const char *)&values[i]};
		static const size_t lens[] = {3, PEER_KEY, 4};

		redisAppendCommandArgv(m->c, 3, words, lens);
	}
	for (size_t i = 0; i < n; i++) {
		redisReply *r = reply(m);

		if (r->type == REDIS_REPLY_ERROR)
			peer_fail("redis", r->str);
		freeReplyObject(r);
	}
}

static void lookup(void *p, const uint8_t *const *keys, uint32_t *values,
		   uint8_t *found, size_t n)
{
	struct store *m = p;

	for (size_t i = 0; i < n; i++) {
		const char *words[] = {"GET", (const char *)keys[i]};
		static const size_t lens[] = {3, PEER_KEY};

		redisAppendCommandArgv(m->c, 2, words, lens);
	}
	for (size_t i = 0; i < n; i++) {
		redisReply *r = reply(m);

		found[i] = r->type == REDIS_REPLY_STRING && r->len == 4;
		if (found[i])
			memcpy(&values[i], r->str, 4);
		freeReplyObject(r);
	}
}

static uint64_t bytes(void *p)
{
	struct store *m = p;

	return used(m->c) - m->before;
}

const struct peer peer_redis = {
	.key_bytes = 130,
	.open = open_store,
	.update = update,
	.lookup = lookup,
	.bytes = bytes,
	.close = close_store,
};
