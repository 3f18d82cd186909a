/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/gate.h"

#include <pthread.h>
#include <stdlib.h>

enum {
	DOORS = sizeof(struct telemetry_sinks) / sizeof(struct row_sink *),
};

struct door {
	struct row_sink sink;
	struct row_sink *to;
	struct gate *gate;
};

struct gate {
	pthread_mutex_t alone;
	struct door door[DOORS];
	struct telemetry_sinks sinks;
};

static int put(struct row_sink *s, struct row_batch *b)
{
	struct door *d = (struct door *)s;
	int rc;

	pthread_mutex_lock(&d->gate->alone);
	rc = d->to->put(d->to, b);
	pthread_mutex_unlock(&d->gate->alone);
	return rc;
}

static int flush(struct row_sink *s)
{
	struct door *d = (struct door *)s;
	int rc;

	pthread_mutex_lock(&d->gate->alone);
	rc = d->to->flush(d->to);
	pthread_mutex_unlock(&d->gate->alone);
	return rc;
}

struct gate *gate_open(const struct telemetry_sinks *behind)
{
	struct gate *g = calloc(1, sizeof(*g));
	struct row_sink *const to[DOORS] = {behind->event,	  behind->value,
					    behind->flow,	  behind->hop,
					    behind->distribution, behind->bin,
					    behind->snapshot};
	struct row_sink *through[DOORS] = {NULL};

	if (!g)
		return NULL;
	pthread_mutex_init(&g->alone, NULL);
	for (unsigned i = 0; i < DOORS; i++) {
		g->door[i] = (struct door){{put, flush, NULL}, to[i], g};
		if (to[i])
			through[i] = &g->door[i].sink;
	}
	g->sinks = (struct telemetry_sinks){through[0], through[1], through[2],
					    through[3], through[4], through[5],
					    through[6]};
	return g;
}

const struct telemetry_sinks *gate_sinks(const struct gate *g)
{
	return &g->sinks;
}

void gate_close(struct gate *g)
{
	if (!g)
		return;
	pthread_mutex_destroy(&g->alone);
	free(g);
}
