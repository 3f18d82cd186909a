/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "packets.h"

/* The opcodes that carry a RETH. */
static bool is_write(uint8_t opcode)
{
	return opcode == ROCE_RC_WRITE_ONLY ||
	       opcode == ROCE_RC_WRITE_ONLY_IMM ||
	       opcode == ROCE_UC_WRITE_ONLY || opcode == ROCE_UC_WRITE_ONLY_IMM;
}

static bool has_imm(uint8_t opcode)
{
	return opcode == ROCE_RC_WRITE_ONLY_IMM ||
	       opcode == ROCE_UC_WRITE_ONLY_IMM;
}

static bool is_atomic(uint8_t opcode)
{
	return opcode == ROCE_RC_FETCH_ADD || opcode == ROCE_RC_CMP_SWAP;
}

/* The table that is hit, and where in it. The fields keep their order. */
struct hit {
	const struct table *t;
	bool has_slot, has_list, has_entry;
	uint64_t slot, list, entry;
	char va[24], rkey[16], flags[4]; /* as text, until show_end() */
};

static struct hit hit_of(const struct tables *tables, const struct roce *r)
{
	struct hit h = {0};
	uint64_t offset, unit;

	h.t = tables_of_write(tables, r, &offset);
	if (!h.t)
		return h;
	unit = offset / h.t->stride;
	if (h.t->kind != TABLE_APPEND) {
		h.has_slot = true;
		h.slot = unit;
	} else if (offset >= h.t->heads) { /* the count of a list */
		h.has_list = true;
		h.list = (offset - h.t->heads) / 8;
	} else if (unit < h.t->units * h.t->lists) {
		h.has_list = h.has_entry = true;
		h.list = unit / h.t->units;
		h.entry = unit % h.t->units;
	}
	return h;
}

static void show_access(struct show *s, const struct roce *r, struct hit *h)
{
	snprintf(h->va, sizeof(h->va), "0x%llx", (unsigned long long)r->va);
	snprintf(h->rkey, sizeof(h->rkey), "0x%x", r->rkey);
	show_str(s, SHOW_VA, h->va);
	show_str(s, SHOW_RKEY, h->rkey);
	show_u64(s, SHOW_LENGTH, is_atomic(r->opcode) ? 8 : r->dma_len);
	if (h->has_slot)
		show_u64(s, SHOW_SLOT, h->slot);
	if (h->has_entry)
		show_u64(s, SHOW_ENTRY, h->entry);
	if (has_imm(r->opcode))
		show_u64(s, SHOW_IMM, r->imm);
	if (is_atomic(r->opcode))
		show_u64(s, SHOW_ADD, r->swap_add);
	if (r->opcode == ROCE_RC_CMP_SWAP)
		show_u64(s, SHOW_COMPARE, r->compare);
}

/* AETH syndromes: bits 6 and 5 tell the kind (rdma.md). */
static void show_answer(struct show *s, const struct roce *r)
{
	static const char *const nak[] = {"nak_psn", "nak_invalid",
					  "nak_access", "nak_operational"};
	unsigned code = r->syndrome & 0x1f;
	char other[16];

	snprintf(other, sizeof(other), "0x%02x", r->syndrome);
	if (r->syndrome >> 5 == 0)
		show_str(s, SHOW_SYNDROME, "ack");
	else if (r->syndrome >> 5 == ROCE_RNR_NAK >> 5)
		show_str(s, SHOW_SYNDROME, "rnr_nak");
	else if (r->syndrome >> 5 == ROCE_NAK_PSN >> 5 &&
		 code < sizeof(nak) / sizeof(nak[0]))
		show_str(s, SHOW_SYNDROME, nak[code]);
	else
		show_str(s, SHOW_SYNDROME, other);
	show_u64(s, SHOW_MSN, r->msn);
	if (r->opcode == ROCE_RC_ATOMIC_ACK)
		show_u64(s, SHOW_ORIGINAL, r->orig);
	show_str(s, SHOW_ICRC, r->icrc_ok ? "ok" : "bad");
	show_end(s);
}

/* What makes a request void, beside its iCRC. */
static const char *objection(const struct roce *r, const struct tables *t,
			     const struct hit *h)
{
	if (r->tver)
		return "transport version is not 0";
	if (is_write(r->opcode) && r->dma_len != r->len)
		return "DMA length is not the payload's";
	if (t->addresses && !h->t)
		return "no table has this R_Key and address";
	return NULL;
}

static void show_request(struct show *s, const struct tables *t,
			 const struct roce *r)
{
	struct hit h = hit_of(t, r);
	const char *why = objection(r, t, &h);
	char *f = h.flags;

	if (r->ack_req)
		*f++ = 'A';
	if (r->solicited)
		*f++ = 'S';
	if (r->migreq)
		*f++ = 'M';
	*f = '\0';
	if (h.t)
		show_str(s, SHOW_TABLE, h.t->name);
	if (h.has_list)
		show_u64(s, SHOW_LIST, h.list);
	if (h.flags[0])
		show_str(s, SHOW_FLAGS, h.flags);
	show_u64(s, SHOW_QP, r->dest_qp);
	show_u64(s, SHOW_PSN, r->psn);
	show_access(s, r, &h);
	show_str(s, SHOW_ICRC, r->icrc_ok ? "ok" : "bad");
	if (is_write(r->opcode))
		show_bytes(s, SHOW_DATA, r->payload, r->len);
	if (why)
		show_str(s, SHOW_REASON, why);
	show_end(s);
}

static void show_bad(struct show *s, const struct net_udp *u, int rc)
{
	show_bytes(s, SHOW_DATA, u->payload, u->len);
	if (rc == -ENOTSUP)
		show_str(s, SHOW_REASON, "an opcode that is not known");
	else if (rc == -EBADE)
		show_str(s, SHOW_REASON, show_wrong_checksum);
	else
		show_str(s, SHOW_REASON, show_malformed);
	show_end(s);
}

void show_roce(struct show *s, const struct tables *t, const uint8_t *frame,
	       size_t len, const struct net_udp *u)
{
	struct roce r;
	int rc = roce_decode(&r, frame, len);

	if (rc < 0) {
		show_bad(s, u, rc);
		return;
	}
	show_str(s, SHOW_OPCODE, roce_opcode_name(r.opcode));
	if (r.opcode == ROCE_RC_ACK || r.opcode == ROCE_RC_ATOMIC_ACK) {
		show_u64(s, SHOW_QP, r.dest_qp);
		show_u64(s, SHOW_PSN, r.psn);
		show_answer(s, &r);
	} else {
		show_request(s, t, &r);
	}
}
