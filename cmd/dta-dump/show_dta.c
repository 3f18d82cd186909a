/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "packets.h"
#include "wire/be.h"
#include "wire/key.h"

static const char *reason_of(int rc)
{
	switch (rc) {
	case -ERANGE:
		return "copies not between 1 and 4";
	case -EPROTONOSUPPORT:
		return "unknown version";
	case -EOPNOTSUPP:
		return "unknown opcode";
	default:
		return "cut short, or lengths that do not add up";
	}
}

/* What a table has against a report, or NULL. */
static const char *objection(const struct table *t, const struct dta_report *r)
{
	if (t->kind != r->opcode)
		return "the table is of another kind";
	if (r->key_len != t->key_len)
		return "the key is not as long as the table's";
	switch (t->kind) {
	case TABLE_APPEND:
		if (!r->data_len || r->data_len % t->value_len)
			return "not whole entries of the table";
		if (be32_load(r->key) >= t->lists)
			return "no such list";
		return NULL;
	case TABLE_POSTCARD:
		if (r->hop >= t->hops)
			return "the hop is outside the chunk";
		/* Cut short, it would be answered as whole (dta.md 1.1). */
		if (r->path_len > t->hops)
			return "the path is longer than the chunk";
		if (r->path_len && r->hop >= r->path_len)
			return "the hop is outside the path";
		if (r->data_len == 4 && be32_load(r->data) == TABLE_BLANK)
			return "the value stands for no hop";
		break;
	}
	return r->data_len == t->value_len
		       ? NULL
		       : "the data is not as long as the table's";
}

/* The type that keys of a length usually have. */
static enum key_type usual_type(size_t len)
{
	static const enum key_type types[] = {KEY_FLOW4, KEY_FLOW6, KEY_HOP4,
					      KEY_HOP6, KEY_U32};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (key_type_len(types[i]) == len)
			return types[i];
	return KEY_HEX;
}

/* text: KEY_TEXT_MAX bytes or twice the longest key on the wire. */
static const char *key_text(char *text, size_t room, const struct table *t,
			    const struct dta_report *r)
{
	enum key_type type = usual_type(r->key_len);

	if (t && t->key_len == r->key_len)
		type = (enum key_type)t->key_type;
	if (r->key_len <= KEY_MAX) {
		key_format(text, type, r->key, r->key_len);
		return text;
	}
	for (size_t i = 0; i < r->key_len && 2 * i + 2 < room; i++)
		snprintf(text + 2 * i, 3, "%02x", r->key[i]);
	return text;
}

static void show_nack(struct show *s, const struct dta_report *r)
{
	static const char *const reason[] = {
		[DTA_NACK_STATE] = "state",
		[DTA_NACK_GAP] = "gap",
		[DTA_NACK_RATE] = "rate limit",
		[DTA_NACK_RESYNC] = "resynchronisation",
		[DTA_NACK_GONE] = "gone",
	};

	show_u64(s, SHOW_SEQUENCE, r->sequence);
	if (r->hop < sizeof(reason) / sizeof(reason[0]))
		show_str(s, SHOW_SYNDROME, reason[r->hop]);
	show_end(s);
}

/* The NACK of the published system has no opcode. */
static bool show_nack0(struct show *s, const struct net_udp *u)
{
	if (u->len < DTA0_NACK_LEN || !(u->payload[1] & DTA0_NACK_FLAG))
		return false;
	show_str(s, SHOW_OPCODE, dta_opcode_name(DTA_NACK));
	show_u64(s, SHOW_SEQUENCE, u->payload[0]);
	show_end(s);
	return true;
}

static void show_report(struct show *s, const struct tables *tables,
			const struct dta_report *r, bool dta0)
{
	const struct table *t = tables_of_report(tables, r, dta0);
	const char *why = t	      ? objection(t, r)
			  : tables->n ? "no such table"
				      : NULL;
	char key[2 * UINT8_MAX + 1 + KEY_TEXT_MAX], id[8], flags[3] = "";

	snprintf(id, sizeof(id), "%u", r->table);
	snprintf(flags, sizeof(flags), "%s%s", r->immediate ? "I" : "",
		 r->tracked ? "T" : "");
	if (t || !dta0)
		show_str(s, SHOW_TABLE, t ? t->name : id);
	if (r->opcode == DTA_APPEND && r->key_len == 4)
		show_u64(s, SHOW_LIST, be32_load(r->key));
	else
		show_str(s, SHOW_KEY, key_text(key, sizeof(key), t, r));
	if (r->opcode == DTA_POSTCARD) {
		show_u64(s, SHOW_HOP, r->hop);
		show_u64(s, SHOW_PATH_LEN, r->path_len);
	}
	if (r->opcode != DTA_APPEND)
		show_u64(s, SHOW_COPIES, r->copies);
	show_u64(s, SHOW_SEQUENCE, r->sequence);
	if (flags[0])
		show_str(s, SHOW_FLAGS, flags);
	if (r->opcode == DTA_KEYINC && r->data_len == 8)
		show_u64(s, SHOW_ADD, be64_load(r->data));
	show_bytes(s, SHOW_DATA, r->data, r->data_len);
	if (why)
		show_str(s, SHOW_REASON, why);
	show_end(s);
}

void show_dta(struct show *s, enum dta_format format, const struct tables *t,
	      const struct net_udp *u)
{
	struct dta_report r;
	int rc;

	if (u->dst_port == DTA_NACK_PORT && format != DTA_FORMAT_1 &&
	    show_nack0(s, u))
		return;
	rc = dta_decode(&r, format, u->payload, u->len);
	if (rc < 0) {
		show_bytes(s, SHOW_DATA, u->payload, u->len);
		show_str(s, SHOW_REASON, reason_of(rc));
		show_end(s);
		return;
	}
	show_str(s, SHOW_OPCODE, dta_opcode_name(r.opcode));
	if (r.opcode == DTA_NACK)
		show_nack(s, &r);
	else
		show_report(s, t, &r, u->payload[0] >> 4 == 0);
}
