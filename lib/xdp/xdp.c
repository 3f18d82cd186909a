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
#include "xdp/private.h"

#include "xdp/int_fast.skel.h" /* needs private.h */

enum {
	BITMAPS = 1 << INT_BITMAP_BITS,
	PROCESSORS_MAX = 1024,
	BATCH_ROWS = 256,
	FRAME_ROOM = CRC_HEADROOM + FAST_FRAME,
	CHECK_MS = 500, /* between looks whether the interface is still there */
};

struct xdp_sink {
	struct src src;
	struct xdp_sink_options o;
	struct int_fast_bpf *skel;
	struct ring_buffer *ring;
	struct fast_slot *slots; /* FAST_SLOTS: the map int_flows */
	int link, processors;
	struct telemetry_rows rows;
	uint64_t push_due, idle_due;
	struct fast_counters counters;
	struct iface iface;
	int promiscuous; /* a descriptor, or -1 */
	uint8_t *frames; /* PKT_BATCH copies, of FRAME_ROOM each */
	struct pkt *pkts;
	int n, max;
	struct fast_path held;	 /* the record that ended the last batch */
	size_t held_len;	 /* 0: none */
	uint64_t wall_offset_ns; /* wall clock less CLOCK_MONOTONIC */
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

const struct ledger xdp_sink_ledger = {"xdp", "frames", fields,
				       sizeof(fields) / sizeof(fields[0])};

/* --- the program and its maps --------------------------------------------- */

/* False: the field is not within one word of 4 bytes, or scaled otherwise. */
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

/* False: packets of this layout are left to user space, which also derives the
 * latency of hops that have no such field from their time stamps. */
static bool fast_layout_of(struct fast_layout *out,
			   const struct int_layout *layout)
{
	bool egress_time = layout->has & 1U << INT_EGRESS_TIME, good;
	struct fast_field node = {0};

	*out = (struct fast_layout){
		.len = layout->len,
		.stamps = egress_time && layout->has & 1U << INT_INGRESS_TIME,
	};
	good = layout->has & 1U << INT_NODE &&
	       field_of(&node, layout, INT_NODE) && node.mask == UINT32_MAX &&
	       !layout->reserved;
	out->node = node.word;
	for (unsigned i = 0; good && i < FIELD_IDS; i++)
		good = field_of(&out->id[i], layout, field_of_id[i]);
	for (unsigned i = 0; good && i < HOP_METRICS; i++)
		good = field_of(&out->metric[i], layout, field_of_metric[i]);
	return good && (out->metric[METRIC_HOP_LATENCY].mask || !egress_time);
}

/* The layouts of all bitmaps whose bits are defined. */
static int put_layouts(struct xdp_sink *x, const struct int_profile *p)
{
	static const enum int_version version[] = {
		[FAST_INT_1_0] = INT_V1_0,
		[FAST_INT_2] = INT_V2_1,
	};
	int fd = bpf_map__fd(x->skel->maps.int_layouts);
	struct fast_layout fast;
	struct int_layout layout;

	for (uint32_t w = FAST_INT_1_0; w <= FAST_INT_2; w++)
		for (uint32_t bitmap = 0; bitmap < BITMAPS; bitmap++) {
			struct fast_layout_key key = {w, bitmap};

			if (!int_layout_make(&layout,
					     int_profile_words(p, version[w]),
					     INT_BITMAP_BITS, bitmap) ||
			    !fast_layout_of(&fast, &layout))
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
		.int_ver = p->version == INT_V0_5   ? 0
			   : p->version == INT_V1_0 ? FAST_INT_1_0
						    : FAST_INT_2,
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

	if (!(x->skel = int_fast_bpf__open()))
		return -errno;
	put_profile((struct fast_profile *)&x->skel->rodata->profile,
		    x->o.profile);
	rc = int_fast_bpf__load(x->skel);
	if (!rc)
		rc = put_layouts(x, x->o.profile);
	if (rc)
		return rc;
	x->slots = mmap(NULL, sizeof(*x->slots) * FAST_SLOTS,
			PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(x->skel->maps.int_flows), 0);
	if (x->slots == MAP_FAILED) {
		x->slots = NULL;
		return -errno;
	}
	x->ring = ring_buffer__new(bpf_map__fd(x->skel->maps.int_ring),
				   on_record, x, NULL);
	return x->ring ? 0 : -errno;
}

static int set_load_error(int rc, const char *what, struct error *err)
{
	if (rc == -EPERM || rc == -EACCES)
		return error_set(err, rc,
				 "%s: it needs the capabilities CAP_NET_ADMIN, "
				 "CAP_BPF and CAP_PERFMON: run as root, or "
				 "setcap cap_net_admin,cap_bpf,"
				 "cap_perfmon,cap_net_raw+ep on the program",
				 what);
	return error_set(err, rc, "%s: %s; it takes Linux 5.18", what,
			 strerror(-rc));
}

int xdp_sink_prog(const struct xdp_sink *x)
{
	return bpf_program__fd(x->skel->progs.int_take);
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
	return set_load_error(-errno, name, err);
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
	__atomic_store_n(&x->skel->bss->rules.era, era, __ATOMIC_RELEASE);
}

/* Keys that are checked while this runs are checked again in the new era. */
int xdp_sink_set_thresholds(struct xdp_sink *x,
			    const struct telemetry_thresholds *th)
{
	struct fast_rules *r = (struct fast_rules *)&x->skel->bss->rules;
	int fd = bpf_map__fd(x->skel->maps.int_thresholds);
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
	if (!bpf_map_lookup_elem(bpf_map__fd(x->skel->maps.int_counters), &zero,
				 each))
		for (int i = 0; i < x->processors; i++)
			ledger_add(&xdp_sink_ledger, &x->counters, &each[i]);
	return &x->counters;
}

/* --- rows of the program's records ---------------------------------------- */

static void put_event(struct xdp_sink *x, enum telemetry_event_kind kind,
		      struct telemetry_event *event)
{
	event->kind = (uint8_t)kind;
	if (x->o.kinds >> kind & 1)
		telemetry_row_event(&x->rows, event);
}

static void set_flow(struct telemetry_event *event,
		     const struct fast_flow_key *k)
{
	if (!k->len || k->len > FAST_KEY)
		return;
	event->key = k->key;
	event->key_len = k->len;
}

/* A value, which may be several events, as in telemetry_event_check(). */
static void put_value(struct xdp_sink *x, const struct fast_value *rec,
		      struct telemetry_event *event)
{
	static const uint8_t kind[] = {EVENT_NEW_KEY, EVENT_CHANGE, EVENT_RISE,
				       EVENT_FALL};
	const uint64_t crossed[] = {0, rec->threshold.change,
				    rec->threshold.high, rec->threshold.low};

	event->metric = (int8_t)rec->metric;
	set_flow(event, &rec->flow);
	if (rec->node != ID_UNKNOWN)
		event->node = rec->node;
	event->egress = rec->egress;
	*(rec->metric == METRIC_BUFFER_OCCUPANCY ? &event->buffer
						 : &event->queue) = rec->id;
	event->has_value = true;
	event->value = rec->value;
	if (rec->record.kinds & FAST_PERIODIC)
		telemetry_row_value(&x->rows, event);
	event->has_reference = rec->has_reference;
	event->reference = rec->reference;
	for (unsigned i = 0; i < sizeof(kind); i++) {
		if (!(rec->record.kinds >> i & 1))
			continue;
		event->threshold = crossed[i];
		event->has_threshold = kind[i] != EVENT_NEW_KEY;
		put_event(x, kind[i], event);
	}
}

static void put_path(struct xdp_sink *x, const struct fast_path *p,
		     struct telemetry_event *event)
{
	uint64_t at[2 * FAST_HOPS];

	if (p->n > FAST_HOPS || p->old > FAST_HOPS)
		return;
	for (unsigned i = 0; i < p->n + p->old; i++)
		at[i] = p->node[i];
	event->metric = METRIC_PATH;
	set_flow(event, &p->flow);
	event->path = (struct nodes){at, p->n};
	if (p->record.kinds & FAST_PERIODIC) {
		telemetry_row_value(&x->rows, event);
		return;
	}
	event->old_path = (struct nodes){at + p->n, p->old};
	put_event(x,
		  p->record.kinds & THRESHOLD_NEW ? EVENT_NEW_KEY
						  : EVENT_PATH_CHANGE,
		  event);
	event->old_path = (struct nodes){0};
	if (path_loops(at, p->n))
		put_event(x, EVENT_LOOP, event);
}

static void add_run(struct xdp_sink *x, const struct fast_reporter *r,
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

static void handle_record(struct xdp_sink *x, const struct fast_record *r,
			  size_t len)
{
	struct telemetry_event event = telemetry_event_none;

	event.ts_ns = r->ns + x->wall_offset_ns;
	if (r->type == FAST_VALUE && len >= sizeof(struct fast_value))
		put_value(x, (const struct fast_value *)r, &event);
	else if (r->type == FAST_PATH &&
		 len >= offsetof(struct fast_path, node))
		put_path(x, (const struct fast_path *)r, &event);
	else if (r->type == FAST_RUN && len >= sizeof(struct fast_run))
		add_run(x, &((const struct fast_run *)r)->of, event.ts_ns);
}

static void put_flow(struct xdp_sink *x, enum flow_leave why,
		     const struct fast_slot *p)
{
	uint64_t at[FAST_HOPS], wall_offset_ns = clock_wall_ns() - clock_ns();
	unsigned n = p->flow.hops < FAST_HOPS ? p->flow.hops : FAST_HOPS;
	struct flow_entry e = {
		.key_len = p->key.len,
		.packets = p->flow.packets,
		.bytes = p->flow.bytes,
		.first_ns = p->flow.first_ns + wall_offset_ns,
		.last_ns = p->flow.last_ns + wall_offset_ns,
	};

	memcpy(e.key, p->key.key, FAST_KEY);
	for (unsigned i = 0; i < n; i++)
		at[i] = p->flow.hop[i].node;
	telemetry_row_flow(&x->rows, clock_wall_ns(), &e, why,
			   (struct nodes){at, n});
}

/* Removes flows silent since that time (CLOCK_MONOTONIC); UINT64_MAX: all. */
static void remove_flows(struct xdp_sink *x, enum flow_leave why,
			 uint64_t since_ns)
{
	for (unsigned i = 0; i < FAST_SLOTS; i++) {
		struct fast_slot *slot = &x->slots[i], gone;
		uint32_t *tag = &x->skel->bss->tags[i];

		if (!__atomic_load_n(tag, __ATOMIC_ACQUIRE) || !slot->key.len ||
		    slot->flow.last_ns > since_ns)
			continue;
		gone = *slot;
		memset(slot, 0, sizeof(*slot));
		__atomic_store_n(tag, 0, __ATOMIC_RELEASE);
		put_flow(x, why, &gone);
	}
}

int xdp_sink_tick(struct xdp_sink *x)
{
	uint64_t now = clock_ns();
	uint32_t era = x->skel->bss->rules.era, pushes = FAST_PUSHES_MASK;

	if (x->o.push_ns && now >= x->push_due) {
		begin_era(x, (era & ~pushes) | ((era + 1) & pushes));
		x->push_due = now + x->o.push_ns;
	}
	if (x->o.idle_ns && now >= x->idle_due) {
		remove_flows(x, FLOW_EXPIRED, now - x->o.idle_ns);
		x->idle_due = now + x->o.idle_ns / 2;
	}
	return telemetry_rows_flush(&x->rows);
}

int xdp_sink_flush(struct xdp_sink *x)
{
	/* The last runs, which were not sent up; all records have been read. */
	for (unsigned i = 0; i < FAST_REPORTERS; i++)
		add_run(x, &x->skel->bss->reporters[i], clock_wall_ns());
	remove_flows(x, FLOW_FLUSHED, UINT64_MAX);
	return telemetry_rows_flush(&x->rows);
}

/* --- the source of frames ------------------------------------------------- */

static void keep_frame(struct xdp_sink *x, const struct fast_whole *w,
		       size_t len)
{
	uint8_t *to = x->frames + (size_t)x->n * FRAME_ROOM + CRC_HEADROOM;
	size_t n = len - offsetof(struct fast_whole, byte);

	if (n > w->len)
		n = w->len;
	memcpy(to, w->byte, n);
	x->pkts[x->n++] = (struct pkt){.data = to,
				       .len = (uint32_t)n,
				       .wire_len = w->wire_len,
				       .ts_ns = w->record.ns +
						x->wall_offset_ns};
	x->src.done += n;
}

/* Called for each record. -ENOBUFS: the batch ends here, and no more calls. A
 * record after a frame waits in x->held, so that the caller takes the frame
 * first. */
static int on_record(void *ctx, void *data, size_t len)
{
	const struct fast_record *r = data;
	struct xdp_sink *x = ctx;

	if (r->type == FAST_WHOLE) {
		keep_frame(x, data, len);
	} else if (!x->n) {
		handle_record(x, r, len);
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

	if (ms < 0 || ms > CHECK_MS)
		ms = CHECK_MS;
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
	x->wall_offset_ns = clock_wall_ns() - clock_ns();
	if (x->held_len)
		handle_record(x, &x->held.record, x->held_len);
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

struct src *xdp_sink_source(struct xdp_sink *x)
{
	return &x->src;
}

/* --- open and close ------------------------------------------------------- */

int xdp_sink_open(struct xdp_sink **out, const struct xdp_sink_options *o,
		  struct error *err)
{
	/* xdp_sink_close() closes it. */
	static const struct src_ops ops = {.rx = rx, .drops = drops};
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
	libbpf_set_print(NULL); /* errors are in err */
	if (x->processors < 1 || x->processors > PROCESSORS_MAX)
		rc = error_set(err, -E2BIG, "the kernel has %d processors",
			       x->processors);
	else if (telemetry_rows_open(&x->rows, o->sinks, BATCH_ROWS) < 0 ||
		 !(x->frames = calloc(PKT_BATCH, FRAME_ROOM)))
		rc = error_set(err, -ENOMEM, "out of memory");
	else if ((rc = load(x)))
		set_load_error(rc, "loading the XDP program", err);
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
	free(x->frames);
	ring_buffer__free(x->ring);
	if (x->slots)
		munmap(x->slots, sizeof(*x->slots) * FAST_SLOTS);
	int_fast_bpf__destroy(x->skel);
	free(x);
}
