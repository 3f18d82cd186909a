/* SPDX-License-Identifier: BSD-2-Clause */
#include "tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "label/rows.h"

enum table {
	TABLE_PORTS,
	TABLE_SILENT,
	TABLE_LINKS,
	TABLE_PATHS,
	TABLES,
};

const char *const table_names[] = {"ports", "silent", "links", "paths", NULL};

enum {
	L_DEVICE,
	L_PORT,
	L_NEXT_DEVICE,
	L_NEXT_PORT,
	L_LABELS,
	L_LOST,
	L_LOSS,
	L_MINUTES,
	L_S,
	L_EVIDENCE,
};

static const struct row_field link_fields[] = {
	[L_DEVICE] = {"device", ROW_U64, 6, ROW_TAG},
	[L_PORT] = {"port", ROW_U64, 5, ROW_TAG},
	[L_NEXT_DEVICE] = {"next_device", ROW_U64, 11, .spare = 1},
	[L_NEXT_PORT] = {"next_port", ROW_U64, 9, .spare = 1},
	[L_LABELS] = {"labels", ROW_U64, 8},
	[L_LOST] = {"lost", ROW_U64, 6},
	[L_LOSS] = {"loss", ROW_F64, 7, ROW_VALUE, "%"},
	[L_MINUTES] = {"loss_minutes", ROW_F64, 12, ROW_VALUE, "%"},
	[L_S] = {"s", ROW_U64, 3},
	[L_EVIDENCE] = {"evidence", ROW_STR, 16, ROW_TAG, .spare = 1},
};

enum {
	W_FLOW,
	W_TIME,
	W_PACKETS,
	W_HOPS,
	W_LATENCY,
	W_PATH,
	W_LATENCIES,
	W_QUEUES,
};

static const struct row_field path_fields[] = {
	[W_FLOW] = {"flow", ROW_STR, 40, ROW_TAG},
	[W_TIME] = {"time", ROW_TIME, 20, ROW_WHEN},
	[W_PACKETS] = {"packets", ROW_U64, 8, .spare = 1},
	[W_HOPS] = {"hops", ROW_U64, 4},
	[W_LATENCY] = {"latency", ROW_U64, 10, ROW_VALUE, "ns"},
	[W_PATH] = {"path", ROW_LIST, 12},
	[W_LATENCIES] = {"latencies", ROW_LIST, 24, ROW_VALUE, "ns",
			 .spare = 1},
	[W_QUEUES] = {"queues", ROW_LIST, 0, .spare = 1},
};

#define SCHEMA(name, fields)                                                   \
	{                                                                      \
		name, fields, sizeof(fields) / sizeof((fields)[0])             \
	}

static const struct schema links = SCHEMA("label_link", link_fields);
static const struct schema paths = SCHEMA("label_path", path_fields);

static const struct {
	const struct schema *schema;
	const char *sort;
	unsigned fixed;
} table_of[TABLES] = {
	[TABLE_PORTS] = {&label_schema[LABEL_ROWS_PORT], "queue", 3},
	[TABLE_SILENT] = {&label_schema[LABEL_ROWS_SILENCE], "silent_for", 3},
	[TABLE_LINKS] = {&links, "loss_minutes", 2},
	[TABLE_PATHS] = {&paths, "latency", 1},
};

static const struct schema *schema(unsigned table)
{
	return table_of[table].schema;
}

static unsigned sort(unsigned table)
{
	unsigned i = 0;

	while (strcmp(table_of[table].schema->fields[i].name,
		      table_of[table].sort) != 0)
		i++;
	return i;
}

static unsigned fixed(unsigned table)
{
	return table_of[table].fixed;
}

static uint32_t size(void *ctx, unsigned table)
{
	struct label_control *c = ((struct tables *)ctx)->c;

	if (table == TABLE_PATHS)
		return label_paths_size(label_control_paths(c));
	return label_db_ports(label_control_db(c));
}

static bool has(void *ctx, unsigned table, uint32_t i)
{
	struct label_control *c = ((struct tables *)ctx)->c;
	const struct label_record *r;

	if (table == TABLE_PATHS)
		return label_paths_at(label_control_paths(c), i) != NULL;
	if (i >= label_db_ports(label_control_db(c)))
		return false; /* forgotten meanwhile */
	r = label_db_at(label_control_db(c), i);
	return table == TABLE_PORTS || r->silent ||
	       (table == TABLE_LINKS && label_lost(r));
}

static void set(struct row_batch *b, unsigned field, uint64_t v)
{
	row_batch_set(b, field, ROW_U64)->u64 = v;
}

/* The time of the packets; before the first of them, that of the record. */
static uint64_t now_at(const struct label_control *c,
		       const struct label_record *r)
{
	uint64_t now_ns = label_control_now(c);

	return now_ns > r->seen_ns ? now_ns : r->seen_ns;
}

static void set_loss(struct row_batch *b, unsigned field, uint64_t labels,
		     uint64_t lost)
{
	if (labels + lost)
		row_batch_set(b, field, ROW_F64)->f64 = 100. * (double)lost /
							(double)(labels + lost);
}

static void link_row(struct row_batch *b, struct label_control *c,
		     const struct label_record *r)
{
	static const char *const evidence[] = {"", "numbers", "silence",
					       "numbers,silence"};
	struct label_lately minutes = label_lately(r, now_at(c, r));

	set(b, L_DEVICE, r->device);
	set(b, L_PORT, r->out);
	if (r->has_next) {
		set(b, L_NEXT_DEVICE, r->next_device);
		set(b, L_NEXT_PORT, r->next_in);
	}
	set(b, L_LABELS, r->labels);
	if (r->number) {
		set(b, L_LOST, label_lost(r));
		set_loss(b, L_LOSS, r->labels, label_lost(r));
		set_loss(b, L_MINUTES, (uint64_t)minutes.labels,
			 (uint64_t)minutes.lost);
	}
	set(b, L_S, r->s);
	row_batch_str(b, L_EVIDENCE,
		      evidence[(minutes.lost > 0) + 2 * r->silent]);
}

static void path_row(struct row_batch *b, const struct label_path *p)
{
	uint64_t node[LABEL_PATH_HOPS], ns[LABEL_PATH_HOPS];
	uint64_t queue[LABEL_PATH_HOPS];
	char flow[KEY_TEXT_MAX];

	for (unsigned i = 0; i < p->n; i++) {
		node[i] = p->hop[i].device;
		ns[i] = p->hop[i].latency_ns;
		queue[i] = p->hop[i].queue;
	}
	key_format(flow, p->key_len == KEY_FLOW4_LEN ? KEY_FLOW4 : KEY_FLOW6,
		   p->key, p->key_len);
	row_batch_str(b, W_FLOW, flow);
	row_batch_set(b, W_TIME, ROW_TIME)->i64 = (int64_t)p->seen_ns;
	set(b, W_PACKETS, p->packets);
	set(b, W_HOPS, p->n);
	set(b, W_LATENCY, p->latency_ns);
	row_batch_list(b, W_PATH, node, p->n);
	row_batch_list(b, W_LATENCIES, ns, p->n);
	row_batch_list(b, W_QUEUES, queue, p->n);
}

static void row(void *ctx, unsigned table, uint32_t i, struct row_batch *b)
{
	struct label_control *c = ((struct tables *)ctx)->c;
	const struct label_record *r;

	if (table == TABLE_PATHS) {
		path_row(b, label_paths_at(label_control_paths(c), i));
		return;
	}
	r = label_db_at(label_control_db(c), i);
	if (table == TABLE_PORTS)
		label_row_port(b, r);
	else if (table == TABLE_SILENT)
		label_row_silence(b, r, true, now_at(c, r), r->seen_ns);
	else
		link_row(b, c, r);
}

static bool key(void *ctx, unsigned table, uint32_t i, unsigned column,
		struct row_batch *b, uint64_t *out)
{
	row_batch_clear(b);
	row(ctx, table, i, b);
	return browse_key(b, &b->hand[column], out);
}

static uint32_t silent_ports(struct label_control *c)
{
	struct label_db *db = label_control_db(c);
	uint32_t n = 0;

	for (uint32_t i = 0; i < label_db_ports(db); i++)
		n += label_db_at(db, i)->silent;
	return n;
}

static uint64_t per_second(uint64_t now, uint64_t before, uint64_t ns)
{
	return ns ? (uint64_t)((double)(now - before) * 1e9 / (double)ns) : 0;
}

static void head(void *ctx, unsigned table, bool ended,
		 char line[2][BROWSE_LINE])
{
	struct tables *t = ctx;
	const struct label_control_ledger *l = label_control_counters(t->c);
	const struct label_db_ledger *db = label_db_counters(
		label_control_db(t->c));
	uint64_t now_ns = clock_ns(), ns = now_ns - t->before_ns;

	snprintf(line[0], BROWSE_LINE,
		 "int-label-ctl %s: %s%s; %" PRIu64 " packets with labels a "
		 "second",
		 t->from, table_names[table],
		 ended ? ", the input has ended" : "",
		 per_second(l->labelled, t->before.labelled, ns));
	snprintf(line[1], BROWSE_LINE,
		 "ports %" PRIu32 "; labels %" PRIu64 "; missing %" PRIu64
		 "; silent %" PRIu32 "; S raised %" PRIu64 " times, lowered "
		 "%" PRIu64,
		 label_db_ports(label_control_db(t->c)), db->items, db->missing,
		 silent_ports(t->c), l->raised, l->lowered);
	t->before = *l;
	t->before_ns = now_ns;
}

const struct browse_tables tables = {
	.names = table_names,
	.schema = schema,
	.sort = sort,
	.fixed = fixed,
	.size = size,
	.has = has,
	.row = row,
	.key = key,
	.head = head,
};
