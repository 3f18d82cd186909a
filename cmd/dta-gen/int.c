/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int.c - dta-gen int. --truth is CSV, a row for each node of each packet, the
 * first node first; fields that --instructions does not ask for are empty:
 *
 *     packet,time,flow,hops,hop,node,ingress_port,port,latency,queue,
 *     occupancy,ingress_time,egress_time,utilization,buffer,buffer_occupancy
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "net/be.h"
#include "gen.h"
#include "int/int_md.h"
#include "int/treport.h"
#include "int/ioam.h"
#include "int/int_profile.h"

/* What a frame is. */
enum int_form {
	FORM_MD,     /* packets with INT-MD, as the sink gets them */
	FORM_MX,     /* packets with INT-MX */
	FORM_REPORT, /* reports of the sink, with the INT-MD packet */
	FORM_XD,     /* reports of each node, with the packet */
	FORM_IOAM,   /* packets with an IOAM trace */
};

struct int_options {
	struct gen_options gen; /* first: read_collector(), read_to_mac() */
	const char *profile, *src, *dst;
	uint64_t switches;
	int form, over;
	uint64_t instructions;
	bool has_instructions;
	uint64_t spikes;   /* UINT64_MAX: values are not steady */
	double loss;	   /* of frames, per cent */
	uint64_t data;	   /* bytes of data in the model's packets, at most */
	uint64_t unfilled; /* of IOAM: empty room for so many nodes; 0: the
			      trace is full */
};

enum {
	INT_FRAME_MAX = 65536 + 256,
};

/* The state of the workload. */
struct int_gen {
	struct gen *gen;
	struct int_options o;
	struct int_profile profile;
	unsigned report_version; /* 0, 1, 2: 0.5, 1.0, 2.0 */
	struct inband model;
	struct int_layout layout, own;	/* of the stack; of nodes' reports */
	uint16_t bits;			/* bitmap of own */
	struct treport_decoder reports; /* for the layouts of 0.5 */
	struct ioam_decoder traces;
	struct rng rng; /* of loss */
	uint32_t cut;	/* bytes of the packet that were not captured */
	uint8_t frame[INT_FRAME_MAX], packet[INT_FRAME_MAX],
		tunnel[INT_FRAME_MAX];
};

/* packets = carried + reasons why they carry no telemetry. */
#define COUNTER(name) offsetof(struct gen_ledger, name)

static const struct ledger_field fields[] = {
	{"packets", COUNTER(traffic.packets), LEDGER_IN},
	{"carried", COUNTER(reports), LEDGER_DONE},
	{"not_ip", COUNTER(traffic.not_ip), LEDGER_HARMLESS},
	{"malformed", COUNTER(traffic.malformed), LEDGER_LOSS},
	{"unfit", COUNTER(unfit), LEDGER_HARMLESS},
	{"spikes", COUNTER(spikes), LEDGER_NOTE},
	{"frames", COUNTER(frames), LEDGER_NOTE},
	{"lost", COUNTER(lost), LEDGER_NOTE},
	{"evicted", COUNTER(traffic.evicted), LEDGER_NOTE},
};

static const struct ledger int_gen_ledger = {
	"gen", "packets", fields, sizeof(fields) / sizeof(fields[0])};

/* --- the command line ----------------------------------------------------- */

#define AT(field) CLI_AT(struct int_options, field)

static const char *const forms[] = {"md", "mx", "report", "xd", "ioam", NULL};
static const char *const overs[] = {"l4",     "udp", "new-udp", "vxlan",
				    "geneve", "gre", NULL};

static int read_instructions(void *opts, const char *text, struct error *why)
{
	struct int_options *o = opts;

	if (!text_number(&o->instructions, text, 0xffffff) || !o->instructions)
		return error_set(why, -EINVAL,
				 "is no bitmap: 0xfd00, of 16 bits; for IOAM "
				 "24");
	o->has_instructions = true;
	return 0;
}

/* clang-format off */
static const struct cli_option options[] = {
	{ 'F', "format", "FORMAT",
	  "packets with md (default), mx or ioam; or reports: report (of the "
	  "sink), xd (of each node)",
	  CLI_WORD, AT(form), .words = forms },
	{ 'p', "profile", "NAME|FILE", "how the network speaks INT (2.1)",
	  CLI_STR, AT(profile) },
	{ 0, "over", "WHAT",
	  "where INT is: l4, udp, new-udp, vxlan, geneve, gre (l4 by DSCP)",
	  CLI_WORD, AT(over), .words = overs },
	{ 0, "instructions", "BITMAP",
	  "what nodes say, bit 0 the most significant (0xfd00; IOAM: 0xf20000)",
	  CLI_CALL, .read = read_instructions },
	{ 0, "flows", "N", "synthetic flows (1000)",
	  CLI_SIZE, AT(gen.flows), .min = 1, .max = TRAFFIC_COUNT_MAX,
	  .was = "-n" },
	{ 0, "from", "CAPTURE", "put it into the packets of a capture",
	  CLI_IN, AT(gen.from), .was = "-f" },
	{ 'c', "count", "N",
	  "stop after N packets; synthetic flows repeat (-i: for ever)",
	  CLI_SIZE, AT(gen.count), .min = 1, .max = TRAFFIC_COUNT_MAX },
	{ 's', "seed", "S", "seed of all that is random (1)",
	  CLI_U64, AT(gen.work.seed) },
	{ 'w', "write", "FILE", "where frames go, as pcap; - for stdout",
	  CLI_OUT, AT(gen.out) },
	{ 'i', "interface", "IFACE", "send them there",
	  CLI_STR, AT(gen.live.name) },
	CLI_XDP_OPTIONS(struct int_options, gen.live, "xdp", "send", "-i"),
	{ 0, "truth", "FILE", "write what was said, as CSV; - for stdout",
	  CLI_OUT, AT(gen.truth), .was = "-t" },
	{ 0, "rate", "PPS", "synthetic packets a second (1000000); -i: of "
	  "frames", CLI_SIZE, AT(gen.pace), .min = 1, .max = 1000000000,
	  .was = "-R" },
	{ 0, "hops", "H", "nodes on each path, 1 to 32 (the fat tree's)",
	  CLI_U64, AT(gen.hops), .min = 1, .max = INBAND_HOPS_MAX },
	{ 0, "nodes", "N", "with --hops: in the network (80)",
	  CLI_U64, AT(switches), .min = 1, .max = 1 << 20, .needs = "--hops",
	  .rare = true, .was = "--switches" },
	{ 0, "spikes", "N",
	  "steady values, but for N packets a second ten times as long at a "
	  "node",
	  CLI_U64, AT(spikes), .max = 1000000000 },
	{ 0, "loss", "PERCENT", "of frames (0)",
	  CLI_F64, AT(loss), .low = 0, .high = 100 },
	{ 0, "data", "BYTES", "of synthetic packets, at most (64)",
	  CLI_U64, AT(data), .max = 9000 },
	{ 0, "unfilled", "N",
	  "IOAM: room for N nodes, which routers on the way fill",
	  CLI_U64, AT(unfilled), .min = 1, .max = IOAM_NODES_MAX,
	  .needs = "--format", .rare = true },
	{ 0, "src", "IP", "all synthetic flows are between this one",
	  CLI_STR, AT(src), .needs = "--dst" },
	{ 0, "dst", "IP", "and that one, IPv4 or IPv6",
	  CLI_STR, AT(dst), .needs = "--src" },
	{ 0, "to-mac", "MAC", "with -i: who takes the frames",
	  CLI_CALL, .read = read_to_mac, .needs = "-i" },
	{ 0, "ipv6", "PERCENT", "share of IPv6 among synthetic flows (0)",
	  CLI_U64, AT(gen.ipv6), .max = 100 },
	{ 'C', "collector", "IP", "where reports go (10.0.0.51)",
	  CLI_CALL, .read = read_collector },
	{ 'o', "output", "FORMAT", "ledger as text, csv, ndjson",
	  CLI_FORMAT, AT(gen.output) },
	{ 'q', "quiet", NULL, "no ledger", CLI_FLAG, AT(gen.quiet) },
	{ 0 },
};
/* clang-format on */

static const struct cli_group groups[] = {
	{"-w -i", .ask = "where shall the frames go?"},
	CLI_SOCKET_GROUP,
	{"--flows --from"},
	{"--src --from"},
	{"--src --ipv6"},
	{"--unfilled --truth", .why = "what routers say is not known here"},
	{"--unfilled --hops"},
	{0},
};

static const struct cli cli_int = {
	.name = "dta-gen int",
	.summary = "make packets with in-band telemetry, and reports of it",
	.usage = "dta-gen int [--format md|mx|ioam|report|xd] [--profile "
		 "NAME|FILE]\n"
		 "        [--flows N | --from CAPTURE] [--hops H] [--truth "
		 "FILE] "
		 "-w FILE|-\n"
		 "dta-gen int ... [--rate PPS] -i IFACE",
	.options = options,
	.groups = groups,
};

/* Chooses the layouts of metadata; exits if the version cannot have them. */
static void choose_layouts(struct int_gen *ig)
{
	struct int_options *o = &ig->o;
	const struct int_profile *p = int_profile_named(o->profile);
	struct error err = {0};
	bool old;

	if (p)
		ig->profile = *p;
	else if (profile_read(&ig->profile, o->profile, &err) < 0)
		cli_fail("--profile: %s; int-collect -p help has those "
			 "that need no file",
			 err.text);
	if (ig->profile.version == INT_ANY)
		cli_refuse("--profile: '%s' does not say which version to "
			   "make; 2.1 does",
			   o->profile);
	old = ig->profile.version < INT_V2_0;
	/* INT 0.5 and 1.0 have INT-MD, over TCP, UDP, VXLAN-GPE and Geneve. */
	if (old && o->form == FORM_MX)
		cli_refuse(
			"--format: mx is not in INT %s; --profile 2.1 has it",
			profile_versions[ig->profile.version]);
	if (old && (o->form == FORM_MD || o->form == FORM_REPORT) &&
	    (o->over == INT_OVER_UDP || o->over == INT_OVER_NEW_UDP ||
	     o->over == INT_OVER_GRE))
		cli_refuse("--over: %s is not in INT %s; --profile 2.1 has it",
			   overs[o->over],
			   profile_versions[ig->profile.version]);
	ig->report_version = old ? ig->profile.version : 2;
	if (!o->has_instructions)
		o->instructions = o->form == FORM_IOAM ? 0xf20000 : 0xfd00;
	if (o->form != FORM_IOAM && o->unfilled)
		cli_refuse("--unfilled: only --format ioam leaves room");
	if (o->form != FORM_IOAM && o->instructions > 0xffff)
		cli_refuse("--instructions: 0x%" PRIx64 " has more than 16 "
			   "bits",
			   o->instructions);
	treport_init(&ig->reports, &ig->profile);
	ioam_init(&ig->traces, &ig->profile);
	if (o->form == FORM_IOAM)
		int_layout_make(&ig->layout, ig->traces.words, IOAM_BITS,
				(uint32_t)(o->instructions & ~IOAM_OPAQUE));
	else
		int_layout_make(&ig->layout, ig->profile.instruction,
				INT_BITMAP_BITS, (uint32_t)o->instructions);
}

/* The reports' own metadata: --instructions, as far as the version has them. */
static void use_own_layout(struct int_gen *ig)
{
	const struct int_word *w = ig->report_version == 1
					   ? ig->profile.report1
					   : ig->profile.report2;
	unsigned bits = ig->report_version == 1 ? TREPORT_V1_BITS
						: INT_BITMAP_BITS;

	if (ig->report_version == 0) {
		ig->own = ig->reports.local;
		ig->bits = TREPORT_LOCAL;
		return;
	}
	for (unsigned i = 0; i < bits; i++)
		if (w[i].len && ig->layout.has >> w[i].part[0].field & 1 &&
		    w[i].part[0].field != INT_DROP_REASON &&
		    w[i].part[1].field != INT_DROP_REASON)
			ig->bits |= (uint16_t)(1u << (bits - 1 - i));
	int_layout_make(&ig->own, w, bits, ig->bits);
}

static void set_model(struct int_gen *ig)
{
	const struct int_options *o = &ig->o;
	struct inband_options m = {.seed = o->gen.work.seed,
				   .hops = (unsigned)o->gen.hops,
				   .steady = o->spikes != UINT64_MAX,
				   .spikes_per_s = o->spikes};

	topo_fat_tree(&m.topology, GEN_ARITY, 0);
	if (o->switches)
		m.topology.switches = (unsigned)o->switches;
	if (m.hops > m.topology.switches)
		cli_refuse("--hops: %u is more than there are switches, %u",
			   m.hops, m.topology.switches);
	inband_init(&ig->model, &m);
}

void int_options_read(struct gen *g, int argc, char **argv)
{
	struct int_gen *ig = calloc(1, sizeof(*ig));
	struct int_options *o = &ig->o;
	struct traffic_ends *e = &o->gen.ends;
	int at;

	cli_start(&cli_int);
	if (!ig)
		cli_fail("out of memory");
	*o = (struct int_options){
		.gen = {.flows = 1000,
			.work.seed = SYNTH_SEED_DEFAULT,
			.collector = {10, 0, 0, 51}},
		.profile = "2.1",
		.spikes = UINT64_MAX,
		.data = 64,
	};
	at = cli_read(&cli_int, o, argc, argv);
	if (at < argc)
		cli_usage(&cli_int, "'%s': no such argument", argv[at]);
	cli_check(&cli_int, o, -1);
	choose_layouts(ig);
	use_own_layout(ig);
	if (o->src) {
		e->version = text_ip(e->src, o->src);
		if (!e->version || text_ip(e->dst, o->dst) != e->version)
			cli_refuse("--src, --dst: '%s' and '%s' are not two IP "
				   "addresses of one version",
				   o->src, o->dst);
	}
	set_model(ig);
	ig->rng.state = rng_mix(o->gen.work.seed);
	ig->gen = g;
	g->o = o->gen;
	g->o.live.format = g->o.output;
	g->o.rate = g->o.pace ? g->o.pace : RATE_DEFAULT;
	if (g->o.live.name && !g->o.count)
		g->o.count = UINT64_MAX;
	/* If no packet of a round can carry INT, open_again() ends it. */
	g->o.repeat = g->o.count;
	if (o->form == FORM_IOAM && !g->o.from)
		g->o.ipv6 = 100; /* IOAM is made in IPv6 only */
	g->ledger = &int_gen_ledger;
	g->truth_head = "packet,time,flow,hops,hop,node,ingress_port,port,"
			"latency,queue,occupancy,ingress_time,egress_time,"
			"utilization,buffer,buffer_occupancy\n";
	g->run = (struct workload_run){.w = &int_workload,
				       .topology = ig->model.o.topology,
				       .state = ig};
}

const char *int_complaint(const struct gen *g)
{
	return g->ctr.unfit && !g->ctr.reports
		       ? "no packet has room for that: fewer hops or "
			 "instructions; or none has a place for it: another "
			 "--over, or more flows"
		       : NULL;
}

/* --- frames out: some are lost ------------------------------------------- */

static void int_send(struct int_gen *ig, uint8_t *frame, size_t len,
		     uint64_t ts_ns)
{
	bool whole = ig->o.form == FORM_REPORT || ig->o.form == FORM_XD;
	struct pkt p = {frame, (uint32_t)len,
			(uint32_t)len + (whole ? 0 : ig->cut), ts_ns};
	struct gen *g = ig->gen;

	if (g->o.has_mac) {
		memcpy(frame, g->header.eth_dst, 6);
		memcpy(frame + NET_ETH_AT_SRC, g->header.eth_src, 6);
	}
	g->ctr.frames++;
	if (ig->o.loss > 0 && rng_unit(&ig->rng) * 100 < ig->o.loss) {
		g->ctr.lost++;
		return;
	}
	if (link_turn(g))
		gen_failed(g, snk_tx(g->snk, &p, 1));
}

/* --- frames with telemetry, and reports of it ---------------------------- */

/* Writes the hops' metadata, the last node's first, each padded with zeros to
 * `each' bytes. Returns the length. */
static size_t write_stack(const struct int_layout *layout,
			  const struct inband_path *path, size_t each,
			  uint8_t *out)
{
	for (unsigned i = 0; i < path->n; i++) {
		uint8_t *to = out + (path->n - 1 - i) * each;

		int_put(to, layout, path->hop[i].has, path->hop[i].value);
		memset(to + layout->len, 0, each - layout->len);
	}
	return path->n * each;
}

/* Puts a frame into a tunnel from the first node to the last. Returns the
 * length; 0: too long. */
static size_t tunnel_frame(struct int_gen *ig, const struct inband_path *path,
			   const uint8_t *frame, size_t len)
{
	uint32_t last = (uint32_t)path->hop[path->n - 1].value[INT_NODE];
	bool vxlan = ig->o.over == INT_OVER_VXLAN;
	bool gpe = vxlan && ig->profile.version < INT_V2_0;
	struct net_udp4 h = frame_header(
		ig->gen, (uint32_t)path->hop[0].value[INT_NODE]);
	int n;
	uint8_t *head = ig->tunnel + NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN;

	be32_store(h.dst, GEN_SOURCE + last);
	h.dst_port = gpe     ? ig->profile.vxlan_gpe_port
		     : vxlan ? NET_VXLAN_PORT
			     : ig->profile.geneve_port;
	n = traffic_tunnel(ig->tunnel, INT_FRAME_MAX, &h, vxlan, frame, len);
	if (gpe) { /* INT 0.5 and 1.0 need VXLAN-GPE */
		head[0] |= NET_VXLAN_HAS_NEXT;
		head[NET_VXLAN_AT_NEXT] = NET_VXLAN_ETH;
	}
	return n < 0 ? 0 : (size_t)n;
}

/* Writes the packet with INT to ig->frame. Returns its length; 0: no room. */
static size_t packet_with_int(struct int_gen *ig,
			      const struct inband_path *path,
			      const struct traffic_packet *p,
			      const uint8_t *packet, size_t len)
{
	const struct int_profile *pr = &ig->profile;
	uint8_t stack[INT_HOP_MAX * 2];
	struct int_source s = {
		.version = ig->profile.version,
		.type = ig->o.form == FORM_MX ? INT_TYPE_MX : INT_TYPE_MD,
		.hops_max = UINT8_MAX,
		.bitmap = (uint16_t)ig->o.instructions,
		.src_port = (uint16_t)(p->id | 0xc000),
		.outer_src = {10, 1, 0, 1},
		.outer_dst = {10, 1, 0, 2},
	};
	int n;

	/* Where INT is, and how a receiver knows that. */
	s.over = (uint8_t)ig->o.over;
	if (s.over == INT_OVER_L4 && !pr->dscp_mask && !pr->marker)
		s.over = p->protocol == NET_PROTO_UDP ? INT_OVER_UDP
						      : INT_OVER_NEW_UDP;
	s.by = s.over != INT_OVER_L4 ? INT_BY_PORT
	       : pr->dscp_mask	     ? INT_BY_DSCP
				     : INT_BY_MARKER;
	if (s.type == INT_TYPE_MD) {
		if ((size_t)path->n * ig->layout.len > sizeof(stack))
			return 0;
		s.stack_len = write_stack(&ig->layout, path, ig->layout.len,
					  stack);
		s.stack = stack;
		s.hops = path->n;
		s.hops_max = (uint8_t)(ig->profile.version == INT_V0_5
					       ? UINT8_MAX
					       : UINT8_MAX - path->n);
	}
	if (s.over == INT_OVER_VXLAN || s.over == INT_OVER_GENEVE) {
		len = tunnel_frame(ig, path, packet, len);
		packet = ig->tunnel;
	}
	n = len ? int_insert(ig->frame, INT_FRAME_MAX, &ig->profile, &s, packet,
			     len)
		: 0;
	return n < 0 ? 0 : (size_t)n;
}

/* Sends a report of a node with the metadata and packet in s. */
static bool send_report(struct int_gen *ig, const struct inband_hop *by,
			struct treport_fields *s, uint64_t ts_ns)
{
	uint32_t node = (uint32_t)by->value[INT_NODE];
	struct net_udp4 h = frame_header(ig->gen, node);
	uint8_t *payload = ig->tunnel + NET_ETH_LEN + NET_IP4_LEN + NET_UDP_LEN;
	int len;

	h.dst_port = ig->profile.report_port;
	s->from.version = (uint8_t)ig->report_version;
	s->from.node = node;
	s->from.sequence = ig->gen->sequence[node]++;
	s->from.time = (uint32_t)by->value[INT_INGRESS_TIME];
	s->flags = INT_TRACKED;
	len = treport_encode(payload,
			     INT_FRAME_MAX - (size_t)(payload - ig->tunnel), s);
	if (len < 0 ||
	    net_udp4_encode(ig->tunnel, INT_FRAME_MAX, &h, (size_t)len) < 0)
		return false;
	int_send(ig, ig->tunnel, (size_t)(payload - ig->tunnel) + (size_t)len,
		 ts_ns);
	return true;
}

/* Sends a report of each node, with its own metadata. */
static bool send_node_reports(struct int_gen *ig,
			      const struct inband_path *path,
			      const struct traffic_packet *p,
			      const uint8_t *packet, size_t len)
{
	uint8_t md[INT_BITMAP_BITS * 8];
	struct treport_fields s = {.bits = ig->bits,
				   .metadata = true,
				   .md = md,
				   .md_len = ig->own.len,
				   .inner_type = TREPORT_ETHERNET,
				   .inner = packet,
				   .inner_len = len};

	for (unsigned i = 0; i < path->n; i++) {
		const struct inband_hop *h = &path->hop[i];

		int_put(md, &ig->own, h->has, h->value);
		if (!send_report(ig, h, &s,
				 p->ts_ns -
					 path->hop[path->n - 1]
						 .value[INT_EGRESS_TIME] +
					 h->value[INT_EGRESS_TIME]))
			return false;
	}
	return true;
}

/* Writes the packet with an IOAM trace, full or (--unfilled) with room. */
static size_t packet_with_trace(struct int_gen *ig,
				const struct inband_path *path,
				const uint8_t *packet, size_t len)
{
	size_t room = ig->o.unfilled ? ig->o.unfilled : path->n;
	/* An opaque snapshot is made empty. */
	size_t each = ig->layout.len + (ig->o.instructions & IOAM_OPAQUE
						? IOAM_SNAPSHOT_LEN
						: 0);
	uint8_t nodes[UINT8_MAX * 4];
	struct ioam_request ask = {.type = IOAM_PREALLOCATED,
				   .namespace = 1,
				   .bitmap = (uint32_t)ig->o.instructions,
				   .words = (uint8_t)(room * each / 4),
				   .nodes = nodes};
	int n;

	if (room * each / 4 > UINT8_MAX)
		return 0;
	if (!ig->o.unfilled)
		ask.nodes_len = write_stack(&ig->layout, path, each, nodes);
	n = ioam_insert(ig->frame, INT_FRAME_MAX, packet, len, &ask);
	return n > 0 ? (size_t)n : 0;
}

static bool int_make(struct int_gen *ig, const struct inband_path *path,
		     const struct traffic_packet *p, const uint8_t *packet,
		     size_t len)
{
	struct treport_fields s = {.inner_type = TREPORT_ETHERNET,
				   .inner = ig->frame};
	size_t n;

	switch (ig->o.form) {
	case FORM_REPORT: /* by the sink, with all that the packet carried */
		s.inner_len = packet_with_int(ig, path, p, packet, len);
		return s.inner_len &&
		       send_report(ig, &path->hop[path->n - 1], &s, p->ts_ns);
	case FORM_XD:
		return send_node_reports(ig, path, p, packet, len);
	case FORM_IOAM:
		n = packet_with_trace(ig, path, packet, len);
		break;
	default:
		n = packet_with_int(ig, path, p, packet, len);
	}
	if (n)
		int_send(ig, ig->frame, n, p->ts_ns);
	return n > 0;
}

/* --- the truth ----------------------------------------------------------- */

static void write_truth(struct int_gen *ig, const struct inband_path *path,
			const struct traffic_packet *p)
{
	static const uint8_t shown[] = {
		INT_INGRESS,	 INT_EGRESS,
		INT_LATENCY,	 INT_QUEUE,
		INT_OCCUPANCY,	 INT_INGRESS_TIME,
		INT_EGRESS_TIME, INT_UTILIZATION,
		INT_BUFFER,	 INT_BUFFER_OCCUPANCY,
	};
	const struct int_layout *layout = ig->o.form == FORM_XD ? &ig->own
								: &ig->layout;
	/* Fields that were sent; old reports have a time in their header. */
	uint64_t told = layout->has |
			(ig->o.form == FORM_XD && ig->report_version < 2)
				<< INT_INGRESS_TIME;
	FILE *truth = ig->gen->truth;
	char flow[KEY_TEXT_MAX];

	errno = 0;
	key_format(flow, p->v6 ? KEY_FLOW6 : KEY_FLOW4, p->key, p->key_len);
	for (unsigned i = 0; i < path->n; i++) {
		const struct inband_hop *h = &path->hop[i];

		fprintf(truth,
			"%" PRIu64 ",%" PRIu64 ".%09" PRIu64
			",%s,%u,%u,%" PRIu64,
			ig->gen->ctr.reports, p->ts_ns / 1000000000,
			p->ts_ns % 1000000000, flow, path->n, i + 1,
			h->value[INT_NODE]);
		for (unsigned k = 0; k < sizeof(shown); k++)
			if (told >> shown[k] & 1)
				fprintf(truth, ",%" PRIu64, h->value[shown[k]]);
			else
				fputc(',', truth);
		fputc('\n', truth);
	}
	truth_check(ig->gen);
}

static void send_packet(struct workload_run *run,
			const struct traffic_packet *p)
{
	struct int_gen *ig = run->state;
	struct gen *g = ig->gen;
	const struct pkt *pkt = traffic_pkt(g->traffic);
	struct inband_path path;
	int len;

	if (pkt) {
		len = p->fragment ? 0 : (int)pkt->len;
		ig->cut = pkt->wire_len - pkt->len;
	} else {
		len = traffic_frame(ig->packet, INT_FRAME_MAX, p, ig->o.data,
				    0);
	}
	if (len > 0)
		inband_draw(&ig->model, &path, p);
	if (len <= 0 || !int_make(ig, &path, p, pkt ? pkt->data : ig->packet,
				  (size_t)len)) {
		g->ctr.unfit++;
		return;
	}
	g->ctr.spikes += path.spike;
	if (++g->ctr.reports == g->o.count)
		g->done = true;
	if (g->truth)
		write_truth(ig, &path, p);
}

const struct workload int_workload = {
	.name = "int", .needs = NEEDS_HOST, .packet = send_packet};
