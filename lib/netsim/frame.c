/* SPDX-License-Identifier: BSD-2-Clause */
/* frame.c - what a last hop exports, in bytes: the headers of the packet, its
 * labels, no data. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "netsim/private.h"
#include "traffic/frame.h"

enum {
	FIRST_PORT = 1024, /* of flow 0 */
	SERVICE = 5001,
	TTL = 64,
	FRAME_ROOM = 2048,
	LABELS_MAX = FRAME_ROOM / LABEL_ITEM_LEN,
};

/* A packet of the model: UDP between the hosts; flows differ by their source
 * port. */
static void of_model(const struct netsim *s, const struct sim_packet *p,
		     struct traffic_packet *t)
{
	const struct fabric_node *src = &s->f->node[p->src];
	const struct fabric_node *dst = &s->f->node[p->dst];

	*t = (struct traffic_packet){
		.protocol = IPPROTO_UDP,
		.ttl = TTL,
		.src_port = (uint16_t)(FIRST_PORT + p->flow % (1 << 15)),
		.dst_port = SERVICE,
		.ip_len = p->bytes - NET_ETH_LEN,
		.key_len = KEY_FLOW4_LEN,
	};
	memcpy(t->key, src->ip, 4);
	memcpy(t->key + 4, dst->ip, 4);
	t->key[8] = (uint8_t)(t->src_port >> 8);
	t->key[9] = (uint8_t)t->src_port;
	t->key[10] = (uint8_t)(t->dst_port >> 8);
	t->key[11] = (uint8_t)t->dst_port;
	t->key[12] = t->protocol;
}

/* One label more; 0: it does not fit. */
static size_t push(const struct netsim *s, uint8_t *frame, size_t cap,
		   size_t len, const struct sim_packet *p,
		   const struct label_item *item)
{
	uint8_t longer[FRAME_ROOM];
	struct label_view v;
	int rc = label_find(&v, &s->format, frame, len);

	if (rc < 0 && rc != -ENOENT)
		return 0;
	rc = label_push(longer, cap < FRAME_ROOM ? cap : FRAME_ROOM, &s->format,
			&v, frame, len, item, p->specific, 0);
	if (rc < 0)
		return 0;
	memcpy(frame, longer, (size_t)rc);
	return (size_t)rc;
}

size_t frame_export(struct netsim *s, const struct sim_packet *p, uint8_t *out,
		    size_t cap)
{
	const struct label_item *item[LABELS_MAX];
	struct traffic_packet made, *t = &made;
	unsigned n = 0;
	int len;

	if (s->capture && p->kind == OF_TRAFFIC)
		t = pool_get(&s->heads, p->flow);
	else
		of_model(s, p, t);
	for (uint32_t l = p->label; l != POOL_NONE && n < LABELS_MAX;
	     l = sim_label(s, l)->next)
		item[n++] = &sim_label(s, l)->item;
	len = traffic_frame(out, cap, t, 0, 0);
	while (len > 0 && n > 0) /* the oldest was written first */
		len = (int)push(s, out, cap, (size_t)len, p, item[--n]);
	return len > 0 ? (size_t)len : 0;
}
