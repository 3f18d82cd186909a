/* SPDX-License-Identifier: BSD-2-Clause */
/* int_fast_private.h - what int_fast.c and int_fast_flows.c share. */
#ifndef BPF_INT_FAST_PRIVATE_H
#define BPF_INT_FAST_PRIVATE_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/int_fast.h"
#include "bpf/int_fast.skel.h"

struct int_fast {
	struct int_fast_bpf *s;
	struct ring_buffer *ring;
	struct fast_near *near; /* FAST_NEAR: the map's memory */
	int link;
	const char *mode;
	unsigned nodes; /* thresholds of single nodes, of this generation */
	struct fast_threshold_key *node;
	int processors;
	int (*record)(void *ctx, const struct fast_record *r, size_t len);
	void *ctx;
};

#endif
