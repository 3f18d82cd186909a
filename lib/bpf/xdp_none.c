/* SPDX-License-Identifier: BSD-2-Clause */
/* xdp_none.c - in place of int_fast.c where what that is built with was
 * missing: it cannot be opened. */
#include <errno.h>

#include "bpf/int_fast.h"

const struct ledger int_fast_ledger = {"fast", "frames", NULL, 0};

int int_fast_open(struct int_fast **out, const struct int_fast_options *o,
		  struct fault *f)
{
	(void)out;
	(void)o;
	return fault_set(f, -ENOTSUP,
			 "the XDP program was not built in: it wants "
			 "libxdp-dev, libbpf-dev, clang and bpftool");
}

int int_fast_attach(struct int_fast *x, int ifindex, const char *name,
		    struct fault *f)
{
	(void)x;
	(void)ifindex;
	return fault_set(f, -ENOTSUP, "%s: no XDP", name);
}

void int_fast_detach(struct int_fast *x)
{
	(void)x;
}

const char *int_fast_mode(const struct int_fast *x)
{
	(void)x;
	return "none";
}

int int_fast_prog(const struct int_fast *x)
{
	(void)x;
	return -1;
}

int int_fast_set(struct int_fast *x, const struct fast_threshold *all,
		 const struct int_fast_threshold *node, unsigned n)
{
	(void)x;
	(void)all;
	(void)node;
	(void)n;
	return -ENOTSUP;
}

void int_fast_push(struct int_fast *x)
{
	(void)x;
}

int int_fast_fd(const struct int_fast *x)
{
	(void)x;
	return -1;
}

int int_fast_poll(struct int_fast *x,
		  int (*record)(void *ctx, const struct fast_record *r,
				size_t len),
		  void *ctx)
{
	(void)x;
	(void)record;
	(void)ctx;
	return -ENOTSUP;
}

void int_fast_runs(struct int_fast *x,
		   void (*run)(void *ctx, const struct fast_run *r), void *ctx)
{
	(void)x;
	(void)run;
	(void)ctx;
}

int int_fast_say_path(struct int_fast *x, const struct fast_flow_key *flow,
		      const uint32_t *node, unsigned n)
{
	(void)x;
	(void)flow;
	(void)node;
	(void)n;
	return -ENOTSUP;
}

int int_fast_say(struct int_fast *x, const struct fast_flow_key *flow,
		 const struct fast_saying *value)
{
	(void)x;
	(void)flow;
	(void)value;
	return -ENOTSUP;
}

int int_fast_judge(struct int_fast *x)
{
	(void)x;
	return -ENOTSUP;
}

void int_fast_flows(struct int_fast *x, uint64_t silent_since_ns,
		    void (*flow)(void *ctx, const struct int_fast_flow *f),
		    void *ctx)
{
	(void)x;
	(void)silent_since_ns;
	(void)flow;
	(void)ctx;
}

void int_fast_counters(const struct int_fast *x, struct fast_counters *out)
{
	(void)x;
	*out = (struct fast_counters){0};
}

void int_fast_close(struct int_fast *x)
{
	(void)x;
}
