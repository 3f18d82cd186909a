/* SPDX-License-Identifier: BSD-2-Clause */
#include "xdp/xdp.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "hash/crc.h"
#include "packet/live_private.h"
#include "telemetry/flows.h"
#include "net/proto.h"
#include "xdp/private.h"

#include "xdp/int_fast.skel.h" /* of what is in private.h */

enum {
	BITMAPS = 1 << INT_BITMAP_BITS,
	PROCESSORS_MAX = 1024,
	GATHER = 256, /* rows */
	ROOM = CRC_HEADROOM + FAST_FRAME,
	ROUND_MS = 500, /* nobody tells of an interface that was removed */
};

struct xdp_sink {
	struct src src;
	struct xdp_sink_options o;
	struct int_fast_bpf *s;
	struct ring_buffer *ring;
	struct fast_place *places; /* FAST_PLACES: the map's memory */
	int link, processors;
	struct telemetry_rows rows;
	uint64_t push_due, idle_due;
	struct fast_counters counters;
	struct iface iface;
	int promiscuous; /* a descriptor, or -1 */
	uint8_t *room;	 /* PKT_BATCH times ROOM: frames outlast records */
	struct pkt *pkts;
	int n, max;
	struct fast_path held; /* a record behind frames that go out first */
	size_t held_len;       /* 0: none */
	uint64_t epoch_ns;     /* the clock less CLOCK_MONOTONIC */
};

#define FIELD(counter, role) LEDGER_FIELD(struct fast_counters, counter, role)
static const struct ledger_field fields[] = {
	FIELD(frames, LEDGER_IN),     FIELD(passed, LEDGER_DONE),
	FIELD(taken, LEDGER_DONE),    FIELD(whole, LEDGER_DONE),
	FIELD(copied, LEDGER_DONE),   FIELD(lost, LEDGER_LOSS),
	FIELD(events, LEDGER_NOTE),   FIELD(delayed, LEDGER_NOTE),
	FIELD(unplaced, LEDGER_NOTE), FIELD(unheard, LEDGER_NOTE),
};
#undef FIELD
LEDGER_COMPLETE(fields, struct fast_counters);

const struct ledger xdp_sink_ledger = {"fast", "frames", fields,
				       sizeof(fields) / sizeof(fields[0])};

/* --- the program and what it knows ---------------------------------------- */

/* A field within a word of 4 bytes; false: it is somewhere else. */
static bool field_of(struct fast_field *out, const struct int_layout *layout,
		     enum int_field which)
{
	const struct int_part *p = &layout->part[which];

	*out = (struct fast_field){0};
	if (!(layout->has & 1U << which))
		return true;
	if (p->word_len != 4 || p->other || p->scale == INT_SCALE_NTP)
		return false;
	*out = (struct fast_field){
		.mask = (uint32_t)int_ones(p->len),
		.scale = p->scale,
		.word = p->word,
		.shift = 8u * (p->word + 4u - p->at - p->len),
	};
	return true;
}

/* False: its hops are left to user space. */
static bool make_fast_layout(struct fast_layout *out,
			     const struct int_layout *layout)
{
	bool stamps = layout->has & 1U << INT_EGRESS_TIME, good;
	struct fast_field node = {0};

	*out = (struct fast_layout){
		.len = layout->len,
		.stamps = stamps && layout->has & 1U << INT_INGRESS_TIME,
	};
	good = layout->has & 1U << INT_NODE &&
	       field_of(&node, layout, INT_NODE) && node.mask == UINT32_MAX &&
	       !layout->reserved;
	out->node = node.word;
	for (unsigned i = 0; good && i < FIELD_IDS; i++)
		good = field_of(&out->id[i], layout, field_of_id[i]);
	for (unsigned i = 0; good && i < HOP_METRICS; i++)
		good = field_of(&out->metric[i], layout, field_of_metric[i]);
	return good && (out->metric[METRIC_HOP_LATENCY].mask || !stamps);
}

/* The layouts of all bitmaps whose bits are defined. */
static int put_layouts(struct xdp_sink *x, const struct int_profile *p)
{
	static const enum int_version version[] = {
		[FAST_1_0] = INT_V1_0,
		[FAST_2] = INT_V2_1,
	};
	int fd = bpf_map__fd(x->s->maps.int_layouts);
	struct fast_layout fast;
	struct int_layout layout;

	for (uint32_t w = FAST_1_0; w <= FAST_2; w++)
		for (uint32_t bitmap = 0; bitmap < BITMAPS; bitmap++) {
			struct fast_layout_key key = {w, bitmap};

			if (!int_layout_make(&layout,
					     int_profile_words(p, version[w]),
					     INT_BITMAP_BITS, bitmap) ||
			    !make_fast_layout(&fast, &layout))
				continue;
			if (bpf_map_update_elem(fd, &key, &fast, BPF_ANY) < 0)
				return -errno;
		}
	return 0;
}

static void put_profile(struct fast_profile *out, const struct int_profile *p)
{
	*out = (struct fast_profile){
		.marker = p->marker,
		.any = p->version == INT_ANY,
		.words = p->version == INT_V0_5	  ? 0
			 : p->version == INT_V1_0 ? FAST_1_0
						  : FAST_2,
		.any_ver = p->any_ver,
		.behind_tcp_options = p->behind_tcp_options,
		.report_length_wrong = p->report_length_wrong,
		.dscp = p->dscp,
		.dscp_mask = p->dscp_mask,
		.udp_port = p->udp_port,
		.vxlan_gpe_port = p->vxlan_gpe_port,
		.geneve_port = p->geneve_port,
		.report_port = p->report_port,
		.gre_type = p->gre_type,
	};
}

static int on_record(void *ctx, void *data, size_t len);

static int load(struct xdp_sink *x)
{
	int rc;

	if (!(x->s = int_fast_bpf__open()))
		return -errno;
	put_profile((struct fast_profile *)&x->s->rodata->profile,
		    x->o.profile);
	rc = int_fast_bpf__load(x->s);
	if (!rc)
		rc = put_layouts(x, x->o.profile);
	if (rc)
		return rc;
	x->places = mmap(NULL, sizeof(*x->places) * FAST_PLACES,
			 PROT_READ | PROT_WRITE, MAP_SHARED,
			 bpf_map__fd(x->s->maps.int_flows), 0);
	if (x->places == MAP_FAILED) {
		x->places = NULL;
		return -errno;
	}
	x->ring = ring_buffer__new(bpf_map__fd(x->s->maps.int_ring), on_record,
				   x, NULL);
	return x->ring ? 0 : -errno;
}

static int refused(int rc, const char *what, struct error *err)
{
	if (rc == -EPERM || rc == -EACCES)
		return error_set(err, rc,
				 "%s: it needs the capabilities CAP_NET_ADMIN, "
				 "CAP_BPF and CAP_PERFMON: run as root",
				 what);
	return error_set(err, rc, "%s: %s; it takes Linux 5.18", what,
			 strerror(-rc));
}

int xdp_sink_prog(const struct xdp_sink *x)
{
	return bpf_program__fd(x->s->progs.int_take);
}

static int attach(struct xdp_sink *x, const char *name, struct error *err)
{
	static const struct {
		uint32_t flag;
		const char *mode;
	} modes[] = {
		{XDP_FLAGS_DRV_MODE, "XDP native"},
		{XDP_FLAGS_SKB_MODE, "XDP generic"},
	};

	for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		LIBBPF_OPTS(bpf_link_create_opts, o, .flags = modes[i].flag);

		x->src.kind = modes[i].mode;
		x->link = bpf_link_create(xdp_sink_prog(x), x->iface.index,
					  BPF_XDP, &o);
		if (x->link >= 0)
			return 0;
		if (errno == EBUSY)
			return error_set(err, -EBUSY,
					 "%s: another XDP program has it: ip "
					 "link show tells which",
					 name);
	}
	return refused(-errno, name, err);
}

int xdp_sink_attach(struct xdp_sink *x, const char *name, bool promiscuous,
		    struct error *err)
{
	int rc = iface_find(&x->iface, name, err);

	if (!rc && promiscuous) {
		x->promiscuous = iface_promiscuous(&x->iface, err);
		rc = x->promiscuous < 0 ? x->promiscuous : 0;
	}
	return rc ? rc : attach(x, name, err);
}

void xdp_sink_stop(struct xdp_sink *x)
{
	if (x->link >= 0)
		close(x->link);
	x->link = -1;
}

static void begin_era(struct xdp_sink *x, uint32_t era)
{
	__atomic_store_n(&x->s->bss->rules.era, era, __ATOMIC_RELEASE);
}

/* Keys that are judged meanwhile are judged anew in the next era. */
int xdp_sink_set_thresholds(struct xdp_sink *x,
			    const struct telemetry_thresholds *th)
{
	struct fast_rules *r = (struct fast_rules *)&x->s->bss->rules;
	int fd = bpf_map__fd(x->s->maps.int_thresholds);
	struct fast_threshold_key key;

	while (!bpf_map_get_next_key(fd, NULL, &key))
		bpf_map_delete_elem(fd, &key);
	for (unsigned i = 0; i < th->nodes; i++) {
		const struct node_threshold *n = &th->node[i];

		key = (struct fast_threshold_key){(uint32_t)n->node, n->metric};
		if (n->node < UINT32_MAX &&
		    bpf_map_update_elem(fd, &key, &n->threshold, BPF_ANY) < 0)
			return -errno;
	}
	memcpy(r->all, th->all, sizeof(r->all));
	r->nodes = th->nodes;
	begin_era(x, r->era + (1 << FAST_GENERATION_SHIFT));
	return 0;
}

const void *xdp_sink_counters(struct xdp_sink *x)
{
	struct fast_counters each[PROCESSORS_MAX];
	uint32_t zero = 0;

	x->counters = (struct fast_counters){0};
	if (!bpf_map_lookup_elem(bpf_map__fd(x->s->maps.int_counters), &zero,
				 each))
		for (int i = 0; i < x->processors; i++)
			ledger_add(&xdp_sink_ledger, &x->counters, &each[i]);
	return &x->counters;
}

/* --- rows, of what it tells ----------------------------------------------- */

static void tell(struct xdp_sink *x, enum telemetry_event_kind kind,
		 struct telemetry_event *what)
{
	what->kind = (uint8_t)kind;
	if (x->o.kinds >> kind & 1)
		telemetry_row_event(&x->rows, what);
}

static void set_flow(struct telemetry_event *what,
		     const struct fast_flow_key *k)
{
	if (!k->len || k->len > FAST_KEY)
		return;
	what->key = k->key;
	what->key_len = k->len;
}

/* One value, which may be several events: as telemetry_event_check() tells
 * them. */
static void tell_number(struct xdp_sink *x, const struct fast_number *n,
			struct telemetry_event *what)
{
	static const uint8_t kind[] = {EVENT_NEW_KEY, EVENT_CHANGE, EVENT_RISE,
				       EVENT_FALL};
	const uint64_t passed[] = {0, n->threshold.change, n->threshold.high,
				   n->threshold.low};

	what->metric = (int8_t)n->metric;
	set_flow(what, &n->flow);
	if (n->node != ID_UNKNOWN)
		what->node = n->node;
	what->egress = n->egress;
	*(n->metric == METRIC_BUFFER_OCCUPANCY ? &what->buffer
					       : &what->queue) = n->id;
	what->has_value = true;
	what->value = n->value;
	if (n->record.kinds & FAST_VALUE)
		telemetry_row_value(&x->rows, what);
	what->has_reference = n->referred;
	what->reference = n->reference;
	for (unsigned i = 0; i < sizeof(kind); i++) {
		if (!(n->record.kinds >> i & 1))
			continue;
		what->threshold = passed[i];
		what->has_threshold = kind[i] != EVENT_NEW_KEY;
		tell(x, kind[i], what);
	}
}

static void tell_path(struct xdp_sink *x, const struct fast_path *p,
		      struct telemetry_event *what)
{
	uint64_t at[2 * FAST_HOPS];

	if (p->n > FAST_HOPS || p->old > FAST_HOPS)
		return;
	for (unsigned i = 0; i < p->n + p->old; i++)
		at[i] = p->node[i];
	what->metric = METRIC_PATH;
	set_flow(what, &p->flow);
	what->path = (struct nodes){at, p->n};
	if (p->record.kinds & FAST_VALUE) {
		telemetry_row_value(&x->rows, what);
		return;
	}
	what->old_path = (struct nodes){at + p->n, p->old};
	tell(x,
	     p->record.kinds & THRESHOLD_NEW ? EVENT_NEW_KEY
					     : EVENT_PATH_CHANGE,
	     what);
	what->old_path = (struct nodes){0};
	if (path_loops(at, p->n))
		tell(x, EVENT_LOOP, what);
}

static void tell_run(struct xdp_sink *x, const struct fast_reporter *r,
		     uint64_t ts_ns)
{
	uint32_t flags = (uint32_t)(r->key >> 32), n = fast_numbers(r);
	const struct int_from from = {
		.report = true,
		.has_node = true,
		.node = (uint32_t)r->key,
		.hw_id = flags & TREPORT_HW_ID_MASK,
		.sequence_bits = flags & FAST_REPORTER_22 ? 22 : 32,
		.sequence = (uint32_t)(r->numbers >> 32),
	};

	if (x->o.telemetry && n)
		telemetry_add_numbers(x->o.telemetry, ts_ns, &from, n);
}

static void tell_record(struct xdp_sink *x, const struct fast_record *r,
			size_t len)
{
	struct telemetry_event what = telemetry_event_none;

	what.ts_ns = r->ns + x->epoch_ns;
	if (r->type == FAST_NUMBER && len >= sizeof(struct fast_number))
		tell_number(x, (const struct fast_number *)r, &what);
	else if (r->type == FAST_PATH &&
		 len >= offsetof(struct fast_path, node))
		tell_path(x, (const struct fast_path *)r, &what);
	else if (r->type == FAST_RUN && len >= sizeof(struct fast_run))
		tell_run(x, &((const struct fast_run *)r)->of, what.ts_ns);
}

/* A flow goes, with its path. */
static void tell_flow(struct xdp_sink *x, enum flow_leave_reason why,
		      const struct fast_place *p)
{
	uint64_t at[FAST_HOPS], epoch_ns = clock_wall_ns() - clock_ns();
	unsigned n = p->flow.hops < FAST_HOPS ? p->flow.hops : FAST_HOPS;
	struct flow_entry e = {
		.key_len = p->key.len,
		.packets = p->flow.packets,
		.bytes = p->flow.bytes,
		.first_ns = p->flow.first_ns + epoch_ns,
		.last_ns = p->flow.last_ns + epoch_ns,
	};

	memcpy(e.key, p->key.key, FAST_KEY);
	for (unsigned i = 0; i < n; i++)
		at[i] = p->flow.hop[i].node;
	telemetry_row_flow(&x->rows, clock_wall_ns(), &e, why,
			   (struct nodes){at, n});
}

/* Flows that have been silent since that time (CLOCK_MONOTONIC); UINT64_MAX:
 * all. The program knows them no more then. */
static void leave(struct xdp_sink *x, enum flow_leave_reason why,
		  uint64_t since_ns)
{
	for (unsigned i = 0; i < FAST_PLACES; i++) {
		struct fast_place *place = &x->places[i], gone;
		uint32_t *tag = &x->s->bss->tags[i];

		if (!__atomic_load_n(tag, __ATOMIC_ACQUIRE) ||
		    !place->key.len || place->flow.last_ns > since_ns)
			continue;
		gone = *place;
		memset(place, 0, sizeof(*place));
		__atomic_store_n(tag, 0, __ATOMIC_RELEASE);
		tell_flow(x, why, &gone);
	}
}

int xdp_sink_tick(struct xdp_sink *x)
{
	uint64_t now = clock_ns();
	uint32_t era = x->s->bss->rules.era, epochs = FAST_EPOCHS;

	if (x->o.push_ns && now >= x->push_due) {
		begin_era(x, (era & ~epochs) | ((era + 1) & epochs));
		x->push_due = now + x->o.push_ns;
	}
	if (x->o.idle_ns && now >= x->idle_due) {
		leave(x, FLOW_EXPIRED, now - x->o.idle_ns);
		x->idle_due = now + x->o.idle_ns / 2;
	}
	return telemetry_rows_flush(&x->rows);
}

int xdp_sink_flush(struct xdp_sink *x)
{
	/* Numbers that came last: all records have been read. */
	for (unsigned i = 0; i < FAST_REPORTERS; i++)
		tell_run(x, &x->s->bss->reporters[i], clock_wall_ns());
	leave(x, FLOW_FLUSHED, UINT64_MAX);
	return telemetry_rows_flush(&x->rows);
}

/* --- the source of what comes up ------------------------------------------ */

static void keep(struct xdp_sink *x, const struct fast_whole *w, size_t len)
{
	uint8_t *to = x->room + (size_t)x->n * ROOM + CRC_HEADROOM;
	size_t n = len - offsetof(struct fast_whole, byte);

	if (n > w->len)
		n = w->len;
	memcpy(to, w->byte, n);
	x->pkts[x->n++] = (struct pkt){.data = to,
				       .len = (uint32_t)n,
				       .wire_len = w->wire_len,
				       .ts_ns = w->record.ns + x->epoch_ns};
	x->src.done += n;
}

/* The batch is full: the record is handled, and no other comes. What came
 * behind frames is told when they have been taken. */
static int on_record(void *ctx, void *data, size_t len)
{
	const struct fast_record *r = data;
	struct xdp_sink *x = ctx;

	if (r->type == FAST_WHOLE) {
		keep(x, data, len);
	} else if (!x->n) {
		tell_record(x, r, len);
	} else if (len <= sizeof(x->held)) {
		memcpy(&x->held, r, len);
		x->held_len = len;
		return -ENOBUFS;
	}
	return x->n < x->max ? 0 : -ENOBUFS;
}

static int wait_for_record(struct xdp_sink *x, struct error *err)
{
	int ms = x->src.wait_ms, rc;
	struct pollfd p = {.fd = x->src.fd, .events = POLLIN};

	if (ms < 0 || ms > ROUND_MS)
		ms = ROUND_MS;
	rc = poll(&p, 1, ms);
	if (rc < 0)
		return errno == EINTR
			       ? -EINTR
			       : error_set(err, -errno, "%s: %s", x->iface.name,
					   strerror(errno));
	if (!rc && !iface_there(x->iface.index))
		return iface_gone(&x->iface, err);
	return 0;
}

static int rx(struct src *src, struct pkt *pkts, int max, struct error *err)
{
	struct xdp_sink *x = (struct xdp_sink *)src;
	int rc;

	x->pkts = pkts;
	x->max = max < PKT_BATCH ? max : PKT_BATCH;
	x->n = 0;
	x->epoch_ns = clock_wall_ns() - clock_ns();
	if (x->held_len)
		tell_record(x, &x->held.record, x->held_len);
	x->held_len = 0;
	rc = ring_buffer__consume(x->ring);
	if (!rc && !(rc = wait_for_record(x, err)))
		rc = ring_buffer__consume(x->ring);
	if (x->n)
		return x->n;
	return rc < 0 ? rc : -EAGAIN;
}

static uint64_t drops(struct src *src)
{
	const struct fast_counters *c = xdp_sink_counters(
		(struct xdp_sink *)src);

	return c->lost;
}

static void no_close(struct src *src)
{
	(void)src; /* xdp_sink_close() does */
}

struct src *xdp_sink_source(struct xdp_sink *x)
{
	return &x->src;
}

/* --- open and close ------------------------------------------------------- */

int xdp_sink_open(struct xdp_sink **out, const struct xdp_sink_options *o,
		  struct error *err)
{
	static const struct src_ops ops = {
		.rx = rx, .drops = drops, .close = no_close};
	struct xdp_sink *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return error_set(err, -ENOMEM, "out of memory");
	*x = (struct xdp_sink){.o = *o,
			       .src = {.ops = &ops, .wait_ms = -1},
			       .link = -1,
			       .promiscuous = -1,
			       .push_due = clock_ns() + o->push_ns,
			       .idle_due = clock_ns() + o->idle_ns,
			       .processors = libbpf_num_possible_cpus()};
	libbpf_set_print(NULL); /* what is wrong is said by err */
	if (x->processors < 1 || x->processors > PROCESSORS_MAX)
		rc = error_set(err, -E2BIG, "the kernel has %d processors",
			       x->processors);
	else if (telemetry_rows_open(&x->rows, o->sinks, GATHER) < 0 ||
		 !(x->room = calloc(PKT_BATCH, ROOM)))
		rc = error_set(err, -ENOMEM, "out of memory");
	else if ((rc = load(x)))
		refused(rc, "loading the XDP program", err);
	if (rc) {
		xdp_sink_close(x);
		return rc;
	}
	x->src.fd = ring_buffer__epoll_fd(x->ring);
	*out = x;
	return 0;
}

void xdp_sink_close(struct xdp_sink *x)
{
	if (!x)
		return;
	xdp_sink_stop(x);
	if (x->promiscuous >= 0)
		close(x->promiscuous);
	telemetry_rows_close(&x->rows);
	free(x->room);
	ring_buffer__free(x->ring);
	if (x->places)
		munmap(x->places, sizeof(*x->places) * FAST_PLACES);
	int_fast_bpf__destroy(x->s);
	free(x);
}
