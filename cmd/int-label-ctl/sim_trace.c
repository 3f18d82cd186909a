/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_trace.c - path tracing of one flow (paper 004, Fig. 22): how many packets
 * it takes to know all switches of a path, and how many bits more than the
 * packets have are on the wire for it, at the last hop.
 */
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "netsim/pint.h"
#include "sim.h"
#include "traffic/frame.h"
#include "wire/label.h"

enum {
	RUNS = 10000,	  /* of PINT */
	SWITCHES = 80,	  /* any of which a hop may be */
	PINT_BITS = 16,	  /* of a packet, section 6.2 */
	PROBE_HEADS = 42, /* Ethernet, IPv4 and UDP of a packet of its own */
	DEVICE_BITS = 32, /* of a label: what tells the path */
	FRAME_ROOM = 8192,
};

enum field {
	F_SCHEME,
	F_HOPS,
	F_PACKETS,
	F_ERROR,
	F_BITS,
	F_PATH_BITS,
	FIELDS
};

static const struct row_field fields[FIELDS] = {
	[F_SCHEME] = {"scheme", ROW_STR, 6, ROW_TAG},
	[F_HOPS] = {"hops", ROW_U64, 4, ROW_TAG},
	[F_PACKETS] = {"packets", ROW_F64, 8},
	[F_ERROR] = {"error", ROW_F64, 9},
	[F_BITS] = {"extra_bits", ROW_F64, 10, ROW_VALUE, "bits"},
	[F_PATH_BITS] = {"path_bits", ROW_F64, 9, ROW_VALUE, "bits"},
};

static const struct schema trace_schema = {"label_trace", fields, FIELDS};

/* Bytes by which a packet of a specific flow grows over so many hops. */
static int growth(unsigned hops)
{
	static uint8_t frame[FRAME_ROOM], longer[FRAME_ROOM];
	struct traffic_packet t = {
		.protocol = IPPROTO_UDP, .ttl = 64, .key_len = KEY_FLOW4_LEN};
	int first = traffic_frame(frame, sizeof(frame), &t, 0, 0), len = first;

	for (unsigned i = 0; i < hops && len > 0; i++) {
		struct label_item item = {.device = i};
		struct label_view v;
		int rc = label_find(&v, &label_format_default, frame,
				    (size_t)len);

		if (rc < 0 && rc != -ENOENT)
			return rc;
		len = label_push(longer, sizeof(longer), &label_format_default,
				 &v, frame, (size_t)len, &item, true, 0);
		if (len > 0)
			memcpy(frame, longer, (size_t)len);
	}
	return len - first;
}

/* The mean of many paths, and its standard error. */
static void pint(struct rows *r, const struct sim_options *o, unsigned hops)
{
	struct pint_options p = {hops, SWITCHES, PINT_BITS};
	struct rng rng = {.state = rng_mix(o->net.seed)};
	double sum = 0, square = 0, mean;

	for (unsigned i = 0; i < RUNS; i++) {
		unsigned wrong;
		int n = pint_trace(&p, &rng, &wrong);

		if (n <= 0)
			cli_fail("%s", n ? strerror(-n)
					 : "a path that does not come out");
		sum += n;
		square += (double)n * n;
	}
	mean = sum / RUNS;
	row_f64(r, F_PACKETS, mean);
	row_f64(r, F_ERROR, sqrt((square / RUNS - mean * mean) / RUNS));
	row_f64(r, F_BITS, mean * PINT_BITS);
	row_f64(r, F_PATH_BITS, mean * PINT_BITS);
}

/* All of it in one packet; probe: one that is sent for it. */
static void whole(struct rows *r, unsigned hops, bool probe)
{
	int bytes = growth(hops);

	if (bytes < 0)
		cli_fail("%u hops: %s", hops, strerror(-bytes));
	bytes += probe ? PROBE_HEADS : 0;
	row_f64(r, F_PACKETS, 1);
	row_f64(r, F_ERROR, 0);
	row_f64(r, F_BITS, 8.0 * bytes);
	row_f64(r, F_PATH_BITS,
		8.0 * (LABEL_OPTION_LEN + (probe ? PROBE_HEADS : 0)) +
			(double)hops * DEVICE_BITS);
}

int sim_trace(const struct sim_options *o)
{
	static const char *const names[] = {"label", "int", "pint"};
	struct rows *r = cli_rows(o->fmt, &trace_schema);
	int rc = 0;

	if (!r)
		cli_fail("%s", strerror(ENOMEM));
	for (unsigned hops = 1; hops <= o->trace && !rc; hops++)
		for (unsigned i = 0; i < 3 && !rc; i++) {
			row_str(r, F_SCHEME, names[i]);
			row_u64(r, F_HOPS, hops);
			if (i == 2)
				pint(r, o, hops);
			else
				whole(r, hops, i == 1);
			rc = row_end(r);
		}
	rows_close(r);
	return rc;
}
