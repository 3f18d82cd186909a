/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roce_template_private.h - private to this room: RoCEv2 frames by templates.
 *
 * Frames of one queue pair, opcode and length are equal up to the PSN. That
 * part and the iCRC over it are made once.
 */
#ifndef RDMA_ROCE_TEMPLATE_PRIVATE_H
#define RDMA_ROCE_TEMPLATE_PRIVATE_H

#include "net/net.h"
#include "net/roce.h"

enum {
	TEMPLATE_HEAD_MAX = NET_ETH_LEN + NET_IP6_LEN + NET_UDP_LEN +
			    ROCE_BTH_LEN + ROCE_ATOMIC_LEN + ROCE_IMM_LEN,
	TEMPLATE_PSN = ROCE_BTH_AT_ACK_REQ, /* and the PSN behind it */
};

struct roce_template {
	uint32_t sum;  /* CRC of what the iCRC covers before the PSN */
	uint16_t psn;  /* where AckReq and the PSN are: 4 bytes */
	uint16_t ext;  /* where the extended headers begin */
	uint16_t head; /* bytes in front of the payload */
	uint16_t body; /* bytes in front of the iCRC */
	uint8_t frame[TEMPLATE_HEAD_MAX];
};

/* The template of frames like r, which differ from the PSN on. */
int roce_template_make(struct roce_template *t, const struct roce *r);

#endif
