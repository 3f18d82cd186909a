/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/roce_template_private.h"

int roce_template_make(struct roce_template *f, const struct roce *r)
{
	uint8_t frame[ROCE_FRAME_MAX], masked[ICRC_ONES + TEMPLATE_HEAD_MAX];
	uint8_t *ip = masked + ICRC_ONES;
	size_t ip_len = r->version == 6 ? NET_IP6_LEN : NET_IP4_LEN;
	int len = roce_encode(frame, sizeof(frame), r);

	if (len < 0)
		return len;
	f->psn = (uint16_t)(NET_ETH_LEN + ip_len + NET_UDP_LEN + TEMPLATE_PSN);
	f->ext = (uint16_t)(f->psn - TEMPLATE_PSN + ROCE_BTH_LEN);
	f->body = (uint16_t)(len - ROCE_ICRC_LEN);
	f->head = (uint16_t)(f->body - r->len - (-r->len & 3));
	memcpy(f->frame, frame, f->head);
	memset(masked, 0xff, ICRC_ONES);
	memcpy(ip, frame + NET_ETH_LEN, f->psn - (size_t)NET_ETH_LEN);
	icrc_mask(ip, ip_len);
	f->sum = crc(CRC_SLOT0, masked,
		     ICRC_ONES + f->psn - (size_t)NET_ETH_LEN);
	return 0;
}
