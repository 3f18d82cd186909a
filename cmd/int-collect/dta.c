/* SPDX-License-Identifier: BSD-2-Clause */
/* dta.c - rows of events and flows as DTA reports, to a capture. */
#include "int_collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "telemetry/objects.h"
#include "net/be.h"
#include "net/dta.h"
#include "net/net.h"

enum {
	PATH_TABLE = 1,
	POSTCARD_TABLE = 3,
	PACKETS_TABLE = 5, /* 2 below the table of bytes */
	SOURCE_PORT = 49374,
	FRAME_MAX = 256,
};

/* clang-format off */
#define FIELD(counter, role) LEDGER_FIELD(struct dta_ledger, counter, role)
static const struct ledger_field fields[] = {
	FIELD(rows, LEDGER_IN),
	FIELD(reported, LEDGER_DONE),
	FIELD(long_path, LEDGER_LOSS),
	FIELD(wide_node, LEDGER_LOSS),
	FIELD(reports, LEDGER_NOTE),
};
#undef FIELD
LEDGER_COMPLETE(fields, struct dta_ledger);
/* clang-format on */

const struct ledger dta_ledger = {"dta", "rows", fields,
				  sizeof(fields) / sizeof(fields[0])};

struct dta_sink {
	struct row_sink sink;
	struct snk *out;
	struct dta_ledger ctr;
	uint16_t sequence;
	int err;
};

/* A cell of a row, NULL: it is null, or there is no such field. */
static const struct row_cell *cell_of(const struct input_row *r,
				      const char *name)
{
	const struct schema *s = r->b->schema;
	const struct row_cell *c = row_batch_cell(r->b, r->row, 0);

	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp(s->fields[i].name, name))
			return c[i].kind == ROW_NULL ? NULL : &c[i];
	return NULL;
}

const char *text_of(const struct input_row *r, const char *name)
{
	const struct row_cell *c = cell_of(r, name);

	return c ? (const char *)r->b->bytes + c->at : "";
}

uint64_t number_in(const struct input_row *r, const char *name)
{
	const struct row_cell *c = cell_of(r, name);

	return c ? c->u64 : UINT64_MAX;
}

static void send_report(struct dta_sink *s, struct dta_report *d,
			uint64_t ts_ns)
{
	static const struct net_udp4 h = {
		.eth_dst = {0x02, 0x44, 0x54, 0x41, 0xff, 0xff},
		.eth_src = {0x02, 0x44, 0x54, 0x41, 0, 0},
		.src = {10, 1, 0, 0},
		.dst = {10, 0, 0, 51},
		.src_port = SOURCE_PORT,
		.dst_port = DTA_PORT,
		.ttl = 64,
	};
	uint8_t *frame = snk_room(s->out, FRAME_MAX);
	int head = NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN, len;

	if (!frame) {
		s->err = s->err ? s->err : -errno;
		return;
	}
	d->sequence = s->sequence++;
	len = dta_encode(frame + head, (size_t)(FRAME_MAX - head), DTA_FORMAT_1,
			 d);
	net_udp4_encode(frame, FRAME_MAX, &h, (size_t)len); /* it is short */
	snk_done(s->out, (size_t)(head + len), ts_ns);
	s->ctr.reports++;
}

/* Sets the report's key to the row's flow; those of IPv6 go to the next table.
 * key_format() made the text, so key_parse() does not fail. */
static void set_key(struct dta_report *d, uint8_t key[KEY_MAX],
		    const struct input_row *r)
{
	const char *flow = text_of(r, "flow");
	enum key_type type = flow[0] == '[' ? KEY_FLOW6 : KEY_FLOW4;

	d->key = key;
	d->key_len = (uint16_t)key_type_len(type);
	d->table += type == KEY_FLOW6;
	key_parse(key, type, d->key_len, flow);
}

static void put_path(struct dta_sink *s, const struct input_row *r,
		     uint64_t ts_ns)
{
	const struct row_cell *c = cell_of(r, "path");
	uint8_t key[KEY_MAX] = {0}, ids[4 * DTA_PATH] = {0};
	struct dta_report d = {.opcode = DTA_KEYWRITE,
			       .table = PATH_TABLE,
			       .data = ids,
			       .data_len = sizeof(ids)};
	const uint64_t *node;
	bool wide = false;

	if (!c || c->len > DTA_PATH) {
		s->ctr.long_path++;
		return;
	}
	node = (const void *)(r->b->bytes + c->at);
	for (unsigned i = 0; i < c->len; i++) {
		be32_store(ids + (size_t)4 * i, (uint32_t)node[i]);
		wide |= node[i] > UINT32_MAX;
	}
	if (wide) {
		s->ctr.wide_node++;
		return;
	}
	set_key(&d, key, r);
	s->ctr.reported++;
	send_report(s, &d, ts_ns);
	d.opcode = DTA_POSTCARD;
	d.table += POSTCARD_TABLE - PATH_TABLE;
	d.path_len = (uint8_t)c->len;
	d.data_len = 4;
	for (d.hop = 0; d.hop < c->len; d.hop++, d.data += 4)
		send_report(s, &d, ts_ns);
}

static void put_event(struct dta_sink *s, const struct input_row *r)
{
	int kind = event_of(text_of(r, "event"));
	int metric = metric_of(text_of(r, "metric"));
	uint64_t ts_ns = number_in(r, "time"), queue = number_in(r, "queue");
	uint8_t key[4], entry[DTA_ENTRY_LEN] = {0};
	struct dta_report d = {.opcode = DTA_APPEND,
			       .table = DTA_EVENTS,
			       .key = key,
			       .key_len = sizeof(key),
			       .data = entry,
			       .data_len = sizeof(entry)};

	be32_store(key, (uint32_t)kind);
	be64_store(entry, ts_ns);
	entry[8] = (uint8_t)metric;
	entry[9] = (uint8_t)number_in(r, "hw_id");
	be32_store(entry + 12, (uint32_t)number_in(r, "node"));
	be32_store(entry + 16, (uint32_t)number_in(r, "port"));
	be32_store(entry + 20,
		   (uint32_t)(queue == UINT64_MAX ? number_in(r, "buffer")
						  : queue));
	be32_store(entry + 24, (uint32_t)number_in(r, "value"));
	be32_store(entry + 28, (uint32_t)number_in(r, "reference"));
	send_report(s, &d, ts_ns);
	if (metric == METRIC_PATH &&
	    (kind == EVENT_NEW_KEY || kind == EVENT_PATH_CHANGE))
		put_path(s, r, ts_ns);
	else
		s->ctr.reported++;
}

static void put_flow(struct dta_sink *s, const struct input_row *r)
{
	static const char *const counters[] = {"packets", "bytes"};
	uint8_t key[KEY_MAX] = {0}, n[DTA_COUNTER_LEN];

	for (uint16_t i = 0; i < 2; i++) {
		struct dta_report d = {.opcode = DTA_KEYINC,
				       .table = PACKETS_TABLE + 2 * i,
				       .data = n,
				       .data_len = sizeof(n)};

		be64_store(n, number_in(r, counters[i]));
		set_key(&d, key, r);
		send_report(s, &d, number_in(r, "time"));
	}
	s->ctr.reported++;
}

static int dta_put(struct row_sink *sink, struct row_batch *b)
{
	struct dta_sink *s = (struct dta_sink *)sink;
	bool events = !strcmp(b->schema->name, "int_event");

	for (struct input_row r = {.b = b}; r.row < b->rows; r.row++) {
		s->ctr.rows++;
		if (events)
			put_event(s, &r);
		else
			put_flow(s, &r);
	}
	return s->err;
}

static int dta_flush(struct row_sink *sink)
{
	struct dta_sink *s = (struct dta_sink *)sink;
	int rc = snk_flush(s->out);

	return s->err = s->err ? s->err : rc;
}

static int dta_close(struct row_sink *sink)
{
	struct dta_sink *s = (struct dta_sink *)sink;
	int rc = snk_close(s->out);

	rc = s->err ? s->err : rc;
	free(s);
	return rc;
}

int dta_open(struct row_sink **out, const char *path, struct error *err)
{
	struct dta_sink *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->sink = (struct row_sink){dta_put, dta_flush, dta_close};
	if ((rc = cli_snk_open(&s->out, path, err)) < 0) {
		free(s);
		return rc;
	}
	*out = &s->sink;
	return 0;
}

const struct dta_ledger *dta_counters(const struct row_sink *s)
{
	return &((const struct dta_sink *)s)->ctr;
}
