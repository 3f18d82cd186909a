/* SPDX-License-Identifier: BSD-2-Clause */
/* Any frame; one with the right pad must encode to what decodes the same. */
#include <stdlib.h>
#include <string.h>

#include "net/roce.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const struct roce *a, const struct roce *b)
{
	if (a->opcode != b->opcode || a->dest_qp != b->dest_qp ||
	    a->psn != b->psn || a->ack_req != b->ack_req ||
	    a->pkey != b->pkey || a->va != b->va || a->rkey != b->rkey ||
	    a->dma_len != b->dma_len || a->swap_add != b->swap_add ||
	    a->compare != b->compare || a->syndrome != b->syndrome ||
	    a->msn != b->msn || a->original != b->original ||
	    a->imm != b->imm || a->len != b->len || a->pad != b->pad ||
	    a->tos != b->tos || a->ttl != b->ttl || a->ip_id != b->ip_id ||
	    a->tver != b->tver || a->src_port != b->src_port ||
	    memcmp(a->src, b->src, 16) ||
	    memcmp(a->payload, b->payload, a->len) || !b->icrc_ok)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t buf[ROCE_FRAME_MAX];
	struct roce r, again;
	int len;

	if (roce_decode(&r, data, size))
		return 0;
	if (r.payload < data || r.payload + r.len > data + size ||
	    !roce_opcode_name(r.opcode))
		abort();
	if (r.pad != (-r.len & 3) || r.len > 4096)
		return 0;
	len = roce_encode(buf, sizeof(buf), &r);
	if (len < 0 || roce_decode(&again, buf, (size_t)len))
		abort();
	same(&r, &again);
	return 0;
}
