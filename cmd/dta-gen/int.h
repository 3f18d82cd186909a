/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int.h - dta-gen int: packets that carry in-band telemetry, and reports of it,
 * of the same traffic over the same network as the workloads', and what they
 * say as the truth.
 */
#ifndef DTA_GEN_INT_H
#define DTA_GEN_INT_H

#include "cli/live.h"
#include "inband/int_md.h"
#include "ioam/ioam.h"
#include "inband/treport.h"
#include "traffic/inband.h"
#include "traffic/traffic.h"

/* What leaves. */
enum int_form {
	FORM_MD,     /* packets with INT-MD, as the sink gets them */
	FORM_MX,     /* packets with INT-MX */
	FORM_REPORT, /* reports of the sink, with the INT-MD packet */
	FORM_XD,     /* reports of each node, with the packet */
	FORM_IOAM,   /* packets with an IOAM trace */
};

struct int_options {
	const char *from, *out, *truth, *profile, *src, *dst, *to_mac;
	uint64_t flows, count, seed, rate, ipv6;
	uint64_t hops, switches;
	int form, over;
	uint64_t instructions;
	bool has_instructions;
	uint64_t spikes; /* UINT64_MAX: values are not steady */
	double loss;	 /* of frames, per cent */
	uint64_t data;	 /* bytes of the model's packets, at most */
	uint64_t mtu;
	uint8_t collector[4];
	uint64_t unfilled; /* of IOAM: nodes there is room for; 0: those of the
			      model fill it */
	struct cli_live live;
	bool quiet;
	enum row_format output;
};

/* packets = carried + why not. */
struct int_gen_ledger {
	struct traffic_counters traffic; /* packets, not_ip, malformed */
	uint64_t carried;
	uint64_t unfit; /* INT cannot be put there: fragments, protocols without
			   a place for it, no room */
	uint64_t spikes;
	uint64_t frames; /* made, */
	uint64_t lost;	 /* and of them lost on purpose */
};

extern const struct ledger int_gen_ledger;

enum {
	INT_FRAME_MAX = 65536 + 256,
};

struct int_gen {
	struct int_options o;
	struct int_profile profile;
	unsigned report_version; /* 0, 1, 2: 0.5, 1.0, 2.0 */
	struct int_gen_ledger ctr;
	struct inband model;
	struct int_plan plan, own;	/* of the stack; of reports' metadata */
	uint16_t bits;			/* of own */
	struct treport_decoder reports; /* for the plans of 0.5 */
	struct ioam_decoder traces;
	uint32_t *sequence; /* of each node */
	struct traffic_ends ends;
	struct live_address address; /* of the interface */
	uint8_t to_mac[6];
	struct rng rng; /* of loss */
	struct snk *snk;
	struct cli_pace pace;
	FILE *truth;
	int truth_err; /* of its rows, the first */
	int err;       /* of snk, the first */
	bool done;
	uint32_t cut; /* bytes that the captured packet had on the wire, too */
	uint8_t *frame, *packet, *tunnel; /* INT_FRAME_MAX each */
};

/* int_options.c: the table, and what follows from it. */
void int_options_read(struct int_gen *g, int argc, char **argv);

/* The program; argv[0] is "int". Returns the exit status. */
int int_main(int argc, char **argv);

#endif
