/* SPDX-License-Identifier: BSD-2-Clause */
#include "roce/form.h"

int form_make(struct form *f, const struct roce *r)
{
	uint8_t frame[ROCE_FRAME_MAX], masked[8 + FORM_HEAD_MAX];
	uint8_t *ip = masked + 8;
	size_t ip_len = r->version == 6 ? NET_IP6_LEN : NET_IP4_LEN;
	int len = roce_encode(frame, sizeof(frame), r);

	if (len < 0)
		return len;
	f->psn = (uint16_t)(NET_ETH_LEN + ip_len + NET_UDP_LEN + FORM_PSN);
	f->ext = (uint16_t)(f->psn - FORM_PSN + ROCE_BTH_LEN);
	f->body = (uint16_t)(len - ROCE_ICRC_LEN);
	f->head = (uint16_t)(f->body - r->len - (-r->len & 3));
	memcpy(f->frame, frame, f->head);
	/* Annex A17.3: what routers change counts as ones. */
	memset(masked, 0xff, 8);
	memcpy(ip, frame + NET_ETH_LEN, f->psn - (size_t)NET_ETH_LEN);
	if (r->version == 6) {
		be32_store(ip, 0x6fffffff); /* traffic class, flow label */
		ip[NET_IP6_AT_HOPS] = 0xff;
	} else {
		ip[NET_IP4_AT_TOS] = 0xff;
		ip[NET_IP4_AT_TTL] = 0xff;
		be16_store(ip + NET_IP4_AT_SUM, 0xffff);
	}
	be16_store(ip + ip_len + NET_UDP_AT_SUM, 0xffff);
	ip[ip_len + NET_UDP_LEN + ROCE_BTH_AT_RESERVED] = 0xff;
	f->sum = crc(CRC_SLOT0, masked, 8 + f->psn - (size_t)NET_ETH_LEN);
	return 0;
}
