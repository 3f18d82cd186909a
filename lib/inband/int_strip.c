/* SPDX-License-Identifier: BSD-2-Clause */
/* int_strip.c - a packet as it was without INT: int_md.h. */
#include <errno.h>

#include "inband/int_private.h"
#include "wire/be.h"
#include "wire/net.h"

/* What the tunnel's own header says of INT. */
static void restore_tunnel(uint8_t *out, const struct int_place *at, size_t len,
			   uint32_t *sum)
{
	uint8_t *h = out + at->l4 + NET_UDP_LEN; /* VXLAN's, Geneve's */
	uint16_t words = (uint16_t)(len / 4);

	switch (at->over) {
	case INT_OVER_VXLAN:
		int_set16(h + 2, (uint16_t)(h[2] << 8 | at->next), sum);
		if (!at->added)
			return;
		/* It was VXLAN as RFC 7348 has it. */
		int_set16(h + 2, (uint16_t)(h[2] << 8), sum);
		int_set16(h,
			  (uint16_t)(be16_load(h) & ~(NET_VXLAN_HAS_NEXT << 8)),
			  sum);
		int_set16(out + at->l4 + NET_UDP_AT_DST, NET_VXLAN_PORT, sum);
		return;
	case INT_OVER_GENEVE:
		int_set16(h, (uint16_t)(be16_load(h) - (words << 8)), sum);
		return;
	case INT_OVER_GRE:
		int_set16(out + at->l4 + NET_GRE_AT_TYPE, at->next, sum);
		return;
	}
}

static void restore(uint8_t *out, const struct int_profile *p,
		    const struct int_place *at, const uint8_t *gone, size_t len)
{
	uint32_t sum = 0;

	net_ip_resize(out + at->ip, -(int)len);
	if (at->over == INT_OVER_NEW_UDP) {
		int_set_protocol(out, at, (uint8_t)at->next);
		return;
	}
	if (at->by == INT_BY_DSCP)
		int_set_dscp(out, at, at->dscp);
	if (at->by == INT_BY_PORT)
		int_set16(out + at->l4 + NET_UDP_AT_DST, at->next, &sum);
	int_sum_less(&sum, gone, len);
	restore_tunnel(out, at, len, &sum);
	int_resize_l4(out, at, -(int)len, &sum);
	int_sum_apply(out, at, p, sum);
}

int int_strip(uint8_t *out, size_t cap, const struct int_profile *p,
	      const struct int_place *at, const uint8_t *frame, size_t len)
{
	size_t gone = at->end - at->begin;

	if (cap < len - gone)
		return -ENOBUFS;
	memcpy(out, frame, at->begin);
	memcpy(out + at->begin, frame + at->end, len - at->end);
	if (at->over != INT_OVER_GRE || !at->added)
		restore(out, p, at, frame + at->begin, gone);
	else if (at->begin && at->type_at) /* the tunnel is gone as well */
		be16_store(out + at->type_at, at->next);
	return (int)(len - gone);
}
