/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "net/be.h"

struct label_paths {
	uint32_t rows;
	struct label_path path[]; /* LABEL_PATHS_ROW of each row */
};

struct label_paths *label_paths_open(uint32_t flows)
{
	uint32_t rows = (flows + LABEL_PATHS_ROW - 1) / LABEL_PATHS_ROW;
	struct label_paths *p;

	rows = rows ? rows : 1;
	p = calloc(1, sizeof(*p) + (size_t)rows * LABEL_PATHS_ROW *
					   sizeof(p->path[0]));
	if (p)
		p->rows = rows;
	return p;
}

void label_paths_close(struct label_paths *p)
{
	free(p);
}

uint32_t label_paths_size(const struct label_paths *p)
{
	return p->rows * LABEL_PATHS_ROW;
}

const struct label_path *label_paths_at(const struct label_paths *p,
					uint32_t place)
{
	return p->path[place].key_len ? &p->path[place] : NULL;
}

unsigned label_flow_key(uint8_t *out, const struct label_view *v)
{
	bool six = v->layout == LABEL_IP6;
	size_t len = six ? KEY_IP6_LEN : KEY_IP4_LEN;
	uint8_t *rest = out + 2 * len;

	/* The destination is behind the source in both. */
	memcpy(out, v->ip + (six ? NET_IP6_AT_SRC : NET_IP4_AT_SRC), 2 * len);
	memset(rest, 0, 4);
	if ((v->next == NET_PROTO_TCP || v->next == NET_PROTO_UDP) &&
	    v->rest_len >= 4)
		memcpy(rest, v->rest, 4);
	rest[4] = v->next;
	return six ? KEY_FLOW6_LEN : KEY_FLOW4_LEN;
}

static uint32_t row_of(const struct label_paths *p, const uint8_t *key,
		       unsigned len)
{
	uint64_t h = len;

	for (unsigned i = 0; i < len; i++)
		h = rng_mix(h ^ key[i]);
	return (uint32_t)(h % p->rows);
}

/* The flow's place, or that of the one that gives way to it. */
static struct label_path *find(struct label_paths *p, const uint8_t *key,
			       unsigned len)
{
	struct label_path *row =
		&p->path[(size_t)row_of(p, key, len) * LABEL_PATHS_ROW];
	struct label_path *oldest = row;

	for (unsigned i = 0; i < LABEL_PATHS_ROW; i++) {
		if (row[i].key_len == len && !memcmp(row[i].key, key, len))
			return &row[i];
		if (row[i].seen_ns < oldest->seen_ns)
			oldest = &row[i];
	}
	memset(oldest, 0, sizeof(*oldest));
	memcpy(oldest->key, key, len);
	oldest->key_len = (uint8_t)len;
	return oldest;
}

const struct label_path *label_paths_take(struct label_paths *p,
					  const struct label_view *v,
					  uint64_t now_ns)
{
	uint8_t key[KEY_FLOW6_LEN];
	unsigned len = label_flow_key(key, v);
	struct label_path *path = find(p, key, len);

	path->seen_ns = now_ns;
	path->packets++;
	path->cut = v->n > LABEL_PATH_HOPS;
	path->n = path->cut ? LABEL_PATH_HOPS : v->n;
	path->latency_ns = 0;
	for (unsigned i = 0; i < path->n; i++) { /* newest first */
		struct label_item *hop = &path->hop[path->n - 1 - i];

		label_item_get(hop, v, i);
		path->latency_ns += hop->latency_ns;
	}
	return path;
}
