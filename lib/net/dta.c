/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/dta.h"

#include <errno.h>
#include <string.h>

#include "base/cur.h"
#include "base/put.h"
#include "net/be.h"

enum {
	OPCODES = 1 << DTA_KEYWRITE | 1 << DTA_APPEND | 1 << DTA_KEYINC |
		  1 << DTA_POSTCARD | 1 << DTA_NACK,
	OPCODES_DTA0 = OPCODES & ~(1 << DTA_NACK),
};

const char *const dta_format_names[DTA_FORMATS + 1] = {
	[DTA_FORMAT_1] = "dta1",
	[DTA_FORMAT_0A] = "dta0a",
	[DTA_FORMAT_0B] = "dta0b",
};

const char *const dta_opcode_names[DTA_OPCODES] = {
	"",
	[DTA_KEYWRITE] = "keywrite",
	[DTA_APPEND] = "append",
	[DTA_KEYINC] = "keyinc",
	[DTA_POSTCARD] = "postcard",
	[DTA_NACK] = "nack",
};

const char *dta_opcode_name(uint8_t opcode)
{
	return opcode && opcode < DTA_OPCODES ? dta_opcode_names[opcode] : NULL;
}

static int dta1_decode(struct dta_report *out, const uint8_t *p, size_t len)
{
	uint8_t opcode, copies, hop_byte;
	size_t key_len;

	if (len < DTA_HEADER_LEN)
		return -EBADMSG;
	opcode = p[0] & 15;
	copies = p[DTA_AT_FLAGS] & DTA_COPIES_MASK;
	key_len = p[DTA_AT_KEY_LEN];
	hop_byte = p[DTA_AT_HOP];
	if (!(OPCODES >> opcode & 1))
		return -EOPNOTSUPP;
	if (len - DTA_HEADER_LEN < key_len)
		return -EBADMSG;
	if (copies > DTA_MAX_COPIES)
		return -ERANGE;
	out->opcode = opcode;
	out->copies = copies;
	out->hop = opcode == DTA_NACK ? hop_byte : hop_byte >> 4;
	out->path_len = opcode == DTA_NACK ? 0 : hop_byte & 15;
	out->immediate = p[DTA_AT_FLAGS] & DTA_FLAG_IMMEDIATE;
	out->tracked = p[DTA_AT_FLAGS] & DTA_FLAG_TRACKED;
	out->table = be16_load(p + DTA_AT_TABLE);
	out->sequence = be16_load(p + DTA_AT_SEQUENCE);
	out->key_len = (uint16_t)key_len;
	out->data_len = (uint16_t)(len - DTA_HEADER_LEN - key_len);
	out->key = p + DTA_HEADER_LEN;
	out->data = out->key + key_len;
	return 0;
}

/* Whether a DTA/0 primitive may carry that many bytes of data, by the
 * published DTA translator. */
static bool dta0_data_fits(uint8_t opcode, size_t len)
{
	if (opcode == DTA_KEYWRITE) /* slots of 8, 16, 32: less a checksum */
		return len == 4 || len == 12 || len == 28;
	return len == (opcode == DTA_KEYINC ? DTA_COUNTER_LEN : 4);
}

/* Decodes what follows the DTA/0 base header. */
static int dta0_body(struct dta_report *r, struct cur *c)
{
	uint8_t hop;

	if (r->opcode == DTA_KEYWRITE || r->opcode == DTA_KEYINC) {
		r->copies = cur_u8(c);
		if (cur_ok(c) && (!r->copies || r->copies > DTA_MAX_COPIES))
			return -ERANGE;
	}
	r->key = cur_take(c, DTA0_KEY_LEN);
	r->key_len = DTA0_KEY_LEN;
	if (r->opcode == DTA_POSTCARD) {
		hop = cur_u8(c);
		if (!hop)
			return -EBADMSG;
		r->hop = hop - 1;
	}
	if (!cur_ok(c) || !dta0_data_fits(r->opcode, cur_left(c)))
		return -EBADMSG;
	r->data_len = (uint16_t)cur_left(c);
	r->data = c->p;
	return 0;
}

static __attribute__((noinline)) int dta0_decode(struct dta_report *out,
						 enum dta_format format,
						 const uint8_t *payload,
						 size_t len)
{
	struct dta_report r = {.table = DTA_NO_TABLE};
	struct cur c = cur_of(payload, len);
	uint8_t flags;
	int rc;

	r.opcode = cur_u8(&c);
	if (r.opcode > 15 || !(OPCODES_DTA0 >> r.opcode & 1))
		return -EOPNOTSUPP;
	if (format == DTA_FORMAT_0B)
		r.sequence = cur_u8(&c);
	flags = cur_u8(&c);
	r.immediate = flags & DTA_FLAG_IMMEDIATE;
	r.tracked = format == DTA_FORMAT_0B && (flags & DTA_FLAG_TRACKED);
	if ((rc = dta0_body(&r, &c)))
		return rc;
	*out = r;
	return 0;
}

int dta_decode(struct dta_report *out, enum dta_format format,
	       const uint8_t *payload, size_t len)
{
	uint8_t version;

	if (!len || len > UINT16_MAX)
		return -EBADMSG;
	version = payload[0] >> 4;
	if (version == DTA_VERSION_1)
		return dta1_decode(out, payload, len);
	if (version == DTA_VERSION_0 && format != DTA_FORMAT_1)
		return dta0_decode(out, format, payload, len);
	return -EPROTONOSUPPORT;
}

static int dta1_encode(struct put *w, const struct dta_report *r)
{
	bool nack = r->opcode == DTA_NACK;
	uint8_t *p;

	if (r->key_len > UINT8_MAX || r->copies > DTA_MAX_COPIES)
		return -EINVAL;
	if (!nack && (r->hop > 15 || r->path_len > 15))
		return -EINVAL;
	p = put_room(w, DTA_HEADER_LEN + (size_t)r->key_len + r->data_len);
	if (!p)
		return 0; /* dta_encode() tests put_ok() */
	p[0] = (uint8_t)(DTA_VERSION_1 << 4 | r->opcode);
	p[DTA_AT_FLAGS] = (uint8_t)((r->immediate ? DTA_FLAG_IMMEDIATE : 0) |
				    (r->tracked ? DTA_FLAG_TRACKED : 0) |
				    r->copies);
	p[DTA_AT_KEY_LEN] = (uint8_t)r->key_len;
	p[DTA_AT_HOP] = nack ? r->hop : (uint8_t)(r->hop << 4 | r->path_len);
	be16_store(p + DTA_AT_TABLE, r->table);
	be16_store(p + DTA_AT_SEQUENCE, r->sequence);
	p += DTA_HEADER_LEN;
	if (r->key_len)
		memcpy(p, r->key, r->key_len);
	if (r->data_len)
		memcpy(p + r->key_len, r->data, r->data_len);
	return 0;
}

static int dta0_encode(struct put *w, enum dta_format format,
		       const struct dta_report *r)
{
	bool has_copies = r->opcode == DTA_KEYWRITE || r->opcode == DTA_KEYINC;

	if (r->opcode == DTA_NACK) { /* two bytes, without an opcode */
		if (format != DTA_FORMAT_0B)
			return -EINVAL;
		put_u8(w, (uint8_t)r->sequence);
		put_u8(w, DTA0_NACK_FLAG);
		return 0;
	}
	if (r->key_len != DTA0_KEY_LEN ||
	    !dta0_data_fits(r->opcode, r->data_len))
		return -EINVAL;
	if (has_copies && (!r->copies || r->copies > DTA_MAX_COPIES))
		return -EINVAL;
	if (r->opcode == DTA_POSTCARD && r->hop >= DTA0_HOP_MAX)
		return -EINVAL;
	if (r->tracked && format == DTA_FORMAT_0A)
		return -EINVAL;
	put_u8(w, r->opcode);
	if (format == DTA_FORMAT_0B)
		put_u8(w, (uint8_t)r->sequence); /* eight bits, wraps */
	put_u8(w, (uint8_t)((r->immediate ? DTA_FLAG_IMMEDIATE : 0) |
			    (r->tracked ? DTA_FLAG_TRACKED : 0)));
	if (has_copies)
		put_u8(w, r->copies);
	put_bytes(w, r->key, DTA0_KEY_LEN);
	if (r->opcode == DTA_POSTCARD)
		put_u8(w, (uint8_t)(r->hop + 1));
	put_bytes(w, r->data, r->data_len);
	return 0;
}

int dta_encode(uint8_t *buf, size_t cap, enum dta_format format,
	       const struct dta_report *r)
{
	struct put w = put_to(buf, cap);
	int rc;

	if (r->opcode > 15 || !(OPCODES >> r->opcode & 1))
		return -EINVAL;
	rc = format == DTA_FORMAT_1 ? dta1_encode(&w, r)
				    : dta0_encode(&w, format, r);
	if (rc)
		return rc;
	return put_ok(&w) ? (int)put_len(&w) : -ENOBUFS;
}
