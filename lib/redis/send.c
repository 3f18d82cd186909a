/* SPDX-License-Identifier: BSD-2-Clause */
#include "redis/send.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "redis/private.h"

enum {
	PORT = 6379,
	ROUNDS = 8, /* that items are moved before they wait */
	PAUSE = 4,  /* as long as it took to find out that a node is not there,
		       it is not tried again, while there are others */
};

int redis_nodes_open(struct redis_nodes **out, const struct url *u,
		     uint64_t timeout_ns, const struct stop *stop)
{
	struct redis_nodes *n = calloc(1, sizeof(*n));
	size_t len = strlen(u->host);

	if (!n)
		return -ENOMEM;
	n->url = u;
	n->stop = stop;
	n->timeout_ms = (int)(timeout_ns / 1000000);
	n->n = 1;
	/* brackets of IPv6 are the URL's, not the resolver's */
	if (u->host[0] == '[')
		redis_link_name(&n->node[0], u->host + 1, len - 2,
				u->port ? u->port : PORT);
	else
		redis_link_name(&n->node[0], u->host, len,
				u->port ? u->port : PORT);
	*out = n;
	return 0;
}

void redis_nodes_close(struct redis_nodes *n)
{
	for (unsigned i = 0; n && i < n->n; i++)
		redis_link_close(&n->node[i]);
	if (n) {
		free(n->item);
		free(n->fate);
	}
	free(n);
}

/* As redis_run(). */
static int try_node(struct redis_nodes *n, uint8_t i, struct tally *t,
		    struct fault *f)
{
	uint64_t began = clock_ns();
	int rc;

	if (n->n > 1 && began < n->again_ns[i])
		return fault_set(f, -EAGAIN, "%s:%u is not there",
				 n->node[i].host, (unsigned)n->node[i].port);
	rc = redis_run(n, i, t, f);
	if (rc < 0)
		n->again_ns[i] = clock_ns() + PAUSE * (clock_ns() - began);
	return rc;
}

/*
 * A node is not there, and another one is: items of its slots wait, as those do
 * whose slot is not served. The other one knows who has the slots from now on.
 */
static void put_aside(struct redis_nodes *n, uint8_t dead, uint8_t other)
{
	for (uint32_t i = 0; (i = redis_block_next(n, dead, i)) < n->items; i++)
		redis_block_hold(n, i);
	for (unsigned s = 0; s < REDIS_SLOTS; s++)
		if (n->of[s] == dead)
			n->of[s] = other;
}

/* Each node that there is something for. *other: one that is there, -1: none
 * is known. -errno: not even that. */
static int run_round(struct redis_nodes *n, int *other, struct tally *t,
		     struct fault *f)
{
	bool dead[REDIS_NODES] = {false};
	int rc = 0, one;

	for (unsigned i = 0; i < n->n; i++) {
		if (redis_block_next(n, (uint8_t)i, 0) >= n->items)
			continue;
		one = try_node(n, (uint8_t)i, t, f);
		dead[i] = one < 0;
		rc = rc ? rc : one;
		if (!one)
			*other = (int)i;
		else if (*other == (int)i)
			*other = -1;
	}
	if (rc != -EAGAIN || *other < 0 || n->stop->now)
		return rc;
	n->why = *f;
	for (unsigned i = 0; i < n->n; i++)
		if (dead[i])
			put_aside(n, (uint8_t)i, (uint8_t)*other);
	return 0;
}

static int run_all(struct redis_nodes *n, struct tally *t, struct fault *f)
{
	int rc = 0, other = -1;

	for (unsigned round = 0; round < ROUNDS && !rc; round++) {
		rc = run_round(n, &other, t, f);
		if (!redis_block_move(n))
			break;
	}
	/* whom it does not reach any more may have handed on its slots: the
	 * next one may know to whom */
	if (rc < 0) {
		n->first = (uint8_t)((n->first + 1) % n->n);
		memset(n->of, n->first, sizeof(n->of));
	}
	return rc;
}

int redis_nodes_send(struct redis_nodes *n, struct block *b, struct tally *t,
		     struct fault *f)
{
	int rc = redis_block_begin(n, b);

	if (rc < 0)
		return fault_set(f, rc, "out of memory");
	fault_set(&n->why, 0,
		  n->any_held ? "slots are not served" : "moved too often");
	rc = run_all(n, t, f);
	if (redis_block_end(n, t) < 0)
		return fault_set(f, -ENOMEM, "out of memory");
	if (rc == 0 && b->rows)
		rc = fault_set(f, -EAGAIN, "%.*s", REDIS_REASON, n->why.text);
	return rc;
}
