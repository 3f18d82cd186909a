/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/int_fast.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "bpf/int_fast_private.h"
#include "wire/proto.h"

enum {
	RING = 1 << 23,
	BITMAPS = 1 << INT_BITMAP_BITS,
	PROCESSORS_MAX = 1024,
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

const struct ledger int_fast_ledger = {"fast", "frames", fields,
				       sizeof(fields) / sizeof(fields[0])};

/* A field within a word of 4 bytes; false: it is somewhere else. */
static bool field_of(struct fast_field *out, const struct int_plan *plan,
		     enum int_field which)
{
	const struct int_part *p = &plan->part[which];

	*out = (struct fast_field){0};
	if (!(plan->has & 1U << which))
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
static bool plan_of(struct fast_plan *out, const struct int_plan *plan)
{
	static const uint8_t id[FAST_IDS] = {INT_EGRESS, INT_QUEUE, INT_BUFFER};
	static const uint8_t metric[FAST_OF_HOP] = {
		[FAST_HOP_LATENCY] = INT_LATENCY,
		[FAST_QUEUE_OCCUPANCY] = INT_OCCUPANCY,
		[FAST_LINK_UTILIZATION] = INT_UTILIZATION,
		[FAST_QUEUE_CONGESTION] = INT_CONGESTION,
		[FAST_BUFFER_OCCUPANCY] = INT_BUFFER_OCCUPANCY,
	};
	bool stamps = plan->has & 1U << INT_EGRESS_TIME, good;
	struct fast_field node = {0};

	*out = (struct fast_plan){
		.len = plan->len,
		.asked = (uint32_t)__builtin_popcount(plan->bitmap),
		.stamps = stamps && plan->has & 1U << INT_INGRESS_TIME,
	};
	good = plan->has & 1U << INT_NODE && field_of(&node, plan, INT_NODE) &&
	       node.mask == UINT32_MAX && !plan->reserved;
	out->node = node.word;
	for (unsigned i = 0; good && i < FAST_IDS; i++)
		good = field_of(&out->id[i], plan, id[i]);
	for (unsigned i = 0; good && i < FAST_OF_HOP; i++)
		good = field_of(&out->metric[i], plan, metric[i]);
	return good && (out->metric[FAST_HOP_LATENCY].mask || !stamps);
}

/* The plans of all bitmaps whose bits are defined. */
static int put_plans(struct int_fast *x, const struct int_profile *p)
{
	static const enum int_version version[FAST_WORDS] = {
		[FAST_0_5] = INT_V0_5,
		[FAST_1_0] = INT_V1_0,
		[FAST_2] = INT_V2_1,
	};
	int fd = bpf_map__fd(x->s->maps.int_plans);
	struct fast_plan fast;
	struct int_plan plan;

	for (uint32_t w = 0; w < FAST_WORDS; w++)
		for (uint32_t bitmap = 0; bitmap < BITMAPS; bitmap++) {
			struct fast_plan_key key = {w, bitmap};

			if (!int_plan_of(&plan,
					 int_profile_words(p, version[w]),
					 INT_BITMAP_BITS, bitmap) ||
			    !plan_of(&fast, &plan))
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
		.words = p->version == INT_V0_5	  ? FAST_0_5
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

static int on_record(void *ctx, void *data, size_t len)
{
	struct int_fast *x = ctx;

	return x->record(x->ctx, data, len);
}

/* The program and its maps; ifindex: for the hardware of that interface, or 0.
 */
static int load(struct int_fast *x, const struct int_fast_options *o)
{
	int rc;

	if (!(x->s = int_fast_bpf__open()))
		return -errno;
	put_profile((struct fast_profile *)&x->s->rodata->profile, o->profile);
	rc = bpf_map__set_max_entries(x->s->maps.int_ring,
				      (uint32_t)(o->ring ? o->ring : RING));
	if (!rc)
		rc = int_fast_bpf__load(x->s);
	if (!rc)
		rc = put_plans(x, o->profile);
	if (rc)
		return rc;
	x->near = mmap(NULL, sizeof(*x->near) * FAST_NEAR,
		       PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(x->s->maps.int_near), 0);
	if (x->near == MAP_FAILED) {
		x->near = NULL;
		return -errno;
	}
	x->ring = ring_buffer__new(bpf_map__fd(x->s->maps.int_ring), on_record,
				   x, NULL);
	return x->ring ? 0 : -errno;
}

static int refused(int rc, const char *what, struct fault *f)
{
	if (rc == -EPERM || rc == -EACCES)
		return fault_set(f, rc,
				 "%s: it needs the capabilities CAP_NET_ADMIN, "
				 "CAP_BPF and CAP_PERFMON: run as root",
				 what);
	return fault_set(f, rc, "%s: %s; it takes Linux 5.18", what,
			 strerror(-rc));
}

int int_fast_open(struct int_fast **out, const struct int_fast_options *o,
		  struct fault *f)
{
	struct int_fast *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return fault_set(f, -ENOMEM, "out of memory");
	x->link = -1;
	x->processors = libbpf_num_possible_cpus();
	libbpf_set_print(NULL); /* what is wrong is said by f */
	if (x->processors < 1 || x->processors > PROCESSORS_MAX)
		rc = fault_set(f, -E2BIG, "the kernel has %d processors",
			       x->processors);
	else if ((rc = load(x, o)))
		refused(rc, "loading the XDP program", f);
	if (rc) {
		int_fast_close(x);
		return rc;
	}
	*out = x;
	return 0;
}

int int_fast_attach(struct int_fast *x, int ifindex, const char *name,
		    struct fault *f)
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

		x->mode = modes[i].mode;
		x->link = bpf_link_create(int_fast_prog(x), ifindex, BPF_XDP,
					  &o);
		if (x->link >= 0)
			return 0;
		if (errno == EBUSY)
			return fault_set(f, -EBUSY,
					 "%s: another XDP program has it: ip "
					 "link show tells which",
					 name);
	}
	return refused(-errno, name, f);
}

void int_fast_detach(struct int_fast *x)
{
	if (x->link >= 0)
		close(x->link);
	x->link = -1;
}

const char *int_fast_mode(const struct int_fast *x)
{
	return x->mode;
}

int int_fast_prog(const struct int_fast *x)
{
	return bpf_program__fd(x->s->progs.int_take);
}

/* Thresholds of single nodes, under the generation that comes; the last that
 * fits counts. */
static int put_nodes(struct int_fast *x, struct fast_threshold_key *keys,
		     uint32_t generation, const struct int_fast_threshold *node,
		     unsigned n)
{
	int fd = bpf_map__fd(x->s->maps.int_thresholds);

	for (unsigned i = 0; i < n; i++) {
		keys[i] = (struct fast_threshold_key){
			generation, (uint32_t)node[i].node, node[i].metric};
		if (node[i].node < UINT32_MAX &&
		    bpf_map_update_elem(fd, &keys[i], &node[i].threshold,
					BPF_ANY) < 0)
			return -errno;
	}
	return 0;
}

static void forget(struct int_fast *x, struct fast_threshold_key *keys,
		   unsigned n)
{
	int fd = bpf_map__fd(x->s->maps.int_thresholds);

	for (unsigned i = 0; i < n; i++)
		bpf_map_delete_elem(fd, &keys[i]);
	free(keys);
}

static void begin_era(struct int_fast *x, uint32_t era)
{
	__atomic_store_n(&x->s->bss->rules.era, era, __ATOMIC_RELEASE);
}

int int_fast_set(struct int_fast *x, const struct fast_threshold *all,
		 const struct int_fast_threshold *node, unsigned n)
{
	struct fast_rules *r = (struct fast_rules *)&x->s->bss->rules;
	struct fast_threshold_key *keys = calloc(n + 1, sizeof(*keys));
	uint32_t generation = ((r->era >> FAST_GENERATION_SHIFT) + 1) &
			      FAST_EPOCHS;
	int rc = keys ? put_nodes(x, keys, generation, node, n) : -ENOMEM;

	if (rc) {
		if (keys)
			forget(x, keys, n);
		return rc;
	}
	memcpy(r->all[generation & 1], all, sizeof(r->all[0]));
	__atomic_store_n(&r->nodes, n, __ATOMIC_RELEASE);
	begin_era(x,
		  generation << FAST_GENERATION_SHIFT | (r->era & FAST_EPOCHS));
	if (x->node)
		forget(x, x->node, x->nodes);
	x->node = keys;
	x->nodes = n;
	return 0;
}

void int_fast_push(struct int_fast *x)
{
	uint32_t era = x->s->bss->rules.era;

	begin_era(x,
		  (era & ~(uint32_t)FAST_EPOCHS) | ((era + 1) & FAST_EPOCHS));
}

int int_fast_fd(const struct int_fast *x)
{
	return ring_buffer__epoll_fd(x->ring);
}

int int_fast_poll(struct int_fast *x,
		  int (*record)(void *ctx, const struct fast_record *r,
				size_t len),
		  void *ctx)
{
	x->record = record;
	x->ctx = ctx;
	return ring_buffer__consume(x->ring);
}

void int_fast_runs(struct int_fast *x,
		   void (*run)(void *ctx, const struct fast_run *r), void *ctx)
{
	for (unsigned i = 0; i < FAST_REPORTERS; i++) {
		const struct fast_reporter *r = &x->s->bss->reporters[i];
		uint32_t who = (uint32_t)(r->key >> 32);
		struct fast_run each = {
			.record = {.type = FAST_RUN, .ns = clock_ns()},
			.node = (uint32_t)r->key,
			.hw_id = who & TREPORT_HW_ID_MASK,
			.bits = who & FAST_REPORTER_22 ? 22 : 32,
			.first = (uint32_t)(r->numbers >> 32),
			.anew = r->untold != 0,
		};

		each.n = (uint32_t)r->numbers - each.first;
		if (each.bits == 22)
			each.n &= TREPORT_SEQUENCE2_MASK;
		if (each.n)
			run(ctx, &each);
	}
}

int int_fast_judge(struct int_fast *x)
{
	LIBBPF_OPTS(bpf_test_run_opts, o);
	struct fast_said *s = &x->s->bss->said;
	int rc = 0;

	if (s->n || s->hops)
		rc = bpf_prog_test_run_opts(
			bpf_program__fd(x->s->progs.int_judge), &o);
	s->n = s->hops = 0;
	return rc < 0 ? -errno : 0;
}

/* What is of another flow goes first; NULL: it is of none. */
static int say_of(struct int_fast *x, const struct fast_flow_key *flow)
{
	struct fast_said *s = &x->s->bss->said;
	int rc = 0;

	if (!flow || !memcmp(&s->flow, flow, sizeof(*flow)))
		return 0;
	rc = int_fast_judge(x);
	s->flow = *flow;
	return rc;
}

int int_fast_say_path(struct int_fast *x, const struct fast_flow_key *flow,
		      const uint32_t *node, unsigned n)
{
	struct fast_said *s = &x->s->bss->said;
	int rc = int_fast_judge(x);

	if (rc || !n || n > FAST_HOPS)
		return rc ? rc : -EINVAL;
	s->flow = *flow;
	memcpy(s->node, node, n * sizeof(*node));
	s->hops = n;
	return 0;
}

int int_fast_say(struct int_fast *x, const struct fast_flow_key *flow,
		 const struct fast_saying *value)
{
	struct fast_said *s = &x->s->bss->said;
	int rc = say_of(x, flow);

	if (!rc && s->n == FAST_SAYINGS)
		rc = int_fast_judge(x);
	if (!rc)
		s->value[s->n++] = *value;
	return rc;
}

void int_fast_counters(const struct int_fast *x, struct fast_counters *out)
{
	struct fast_counters each[PROCESSORS_MAX];
	uint32_t zero = 0;

	*out = (struct fast_counters){0};
	if (bpf_map_lookup_elem(bpf_map__fd(x->s->maps.int_counters), &zero,
				each) < 0)
		return;
	for (int i = 0; i < x->processors; i++)
		ledger_add(&int_fast_ledger, out, &each[i]);
}

void int_fast_close(struct int_fast *x)
{
	if (!x)
		return;
	int_fast_detach(x);
	free(x->node);
	ring_buffer__free(x->ring);
	if (x->near)
		munmap(x->near, sizeof(*x->near) * FAST_NEAR);
	int_fast_bpf__destroy(x->s);
	free(x);
}
