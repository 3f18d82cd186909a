/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switch.h - what a P4 switch of BMv2 that has just been started has to be
 * told, as commands for simple_switch_CLI: of p4/v1model/int_label and
 * int_node.
 */
#ifndef BMV2_SWITCH_H
#define BMV2_SWITCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fault.h"
#include "label/policy.h"
#include "wire/key.h"

enum bmv2_program {
	BMV2_INT_LABEL, /* int_label */
	BMV2_INT_NODE,	/* int_node */
	BMV2_PROGRAMS,
};

/* "int_label", "int_node"; then NULL. */
extern const char *const bmv2_switch_names[BMV2_PROGRAMS + 1];

enum {
	BMV2_PORTS = 511,   /* 511 drops */
	BMV2_WATCHED = 64,  /* flows */
	BMV2_ASKS = 0xff81, /* instructions that int_node knows */
};

struct bmv2_switch {
	enum bmv2_program program;
	uint32_t device;
	bool host[BMV2_PORTS]; /* behind that port */
	/* The port that leads to the collector, who that is, and who this is;
	 * addresses of IPv4, network order. */
	bool has_mirror;
	uint16_t mirror;
	uint8_t mac[6], ip[4], peer_mac[6], peer_ip[4];
	/* int_label. f is not F3: the switch has none. */
	struct label_policy policy;
	uint16_t mtu; /* of IP packets to other switches; 0: any */
	bool no_df;   /* packets that may be cut up are labelled, too */
	/* int_node as a source. */
	bool watch_all;
	uint8_t watched[BMV2_WATCHED][KEY_FLOW4_LEN];
	unsigned n_watched;
	uint16_t instructions;
	uint8_t hops;
};

/* Where packets go: "FROM=PORT", FROM a port, or an address or a prefix of
 * IPv4.
 */
struct bmv2_way {
	uint16_t from, to;
	bool by_address;
	uint8_t ip[4], bits;
};

/* 0, or -EINVAL, and why is what is behind the text. */
int bmv2_way_read(struct bmv2_way *out, const char *text, struct fault *why);

/* Addresses of IPv4 and Ethernet. These, too. */
int bmv2_ip_read(uint8_t out[4], const char *text, struct fault *why);
int bmv2_mac_read(uint8_t out[6], const char *text, struct fault *why);

/* Ports with hosts behind them, "3,4"; instructions, "0xfc00". */
int bmv2_switch_hosts(struct bmv2_switch *s, const char *text,
		      struct fault *why);
int bmv2_switch_instructions(struct bmv2_switch *s, const char *text,
			     struct fault *why);

/* A flow to watch, or "all". 0; -EINVAL, -E2BIG, and why. */
int bmv2_switch_watch(struct bmv2_switch *s, const char *text,
		      struct fault *why);

/* Addresses that nobody has given: 10.3.D.D and 02:00:00:03:D:D of device D,
 * its low 16 bits. */
void bmv2_switch_addresses(struct bmv2_switch *s);

void bmv2_switch_write(const struct bmv2_switch *s, const struct bmv2_way *ways,
		       unsigned n, FILE *out);

#endif
