/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first byte picks the edges, whether the frame's time is far ahead or
 * behind, and whether its IPv4 checksum is made right; the rest is a frame.
 * Labels that are found lie in it; one more is read again; without all of them
 * it is what it was before the first one. A hop takes it through, and the
 * controller reads it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "label/control.h"
#include "label/hop.h"
#include "net/be.h"
#include "net/net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	FRAME_MAX = 1 << 16,
};

static struct label_hop *hop;
static struct label_control *control;
static uint64_t now = 100000000; /* ms of the controller, us of the hop */

static void prepare(void)
{
	struct label_hop_options ho = {
		.policy = {.kind = LABEL_BASE_B,
			   .max_hop = LABEL_MAX_HOP,
			   .interval_us = 3},
		.format = label_format_default,
		.mtu = 1500,
	};
	struct label_control_options co;

	label_control_defaults(&co);
	co.db.ports_max = 256;
	co.flows = 8;
	if (label_hop_open(&hop, &ho) || label_control_open(&control, &co))
		abort();
}

/* All that a view points to can be read. */
static void look(const struct label_view *v, const uint8_t *frame, size_t size)
{
	struct label_item item;

	if (v->rest < frame || v->rest + v->rest_len > frame + size)
		abort();
	for (unsigned i = 0; i < v->n; i++)
		label_item_get(&item, v, i);
}

static void push_and_strip(const struct label_view *v, const uint8_t *frame,
			   size_t size)
{
	static uint8_t with[FRAME_MAX + LABEL_GROWTH], back[FRAME_MAX];
	const struct label_item item = {.device = 7, .number = 1};
	struct label_view w;
	int len = label_push(with, sizeof(with), &label_format_default, v,
			     frame, size, &item, false, 0);

	if (len < 0)
		return;
	if (label_find(&w, &label_format_default, with, (size_t)len) ||
	    w.n != v->n + 1 || w.next != v->next)
		abort();
	if (v->labelled)
		return;
	len = label_strip(back, sizeof(back), &w, with, (size_t)len);
	if (len != (int)size || memcmp(back, frame, size) != 0)
		abort();
}

static void pass(uint8_t edges, const uint8_t *frame, size_t size)
{
	static uint8_t out[FRAME_MAX + LABEL_GROWTH];
	static uint8_t export[FRAME_MAX + LABEL_GROWTH];
	struct label_transit t = {.in = 1,
				  .out = 2,
				  .from_edge = edges & 1,
				  .to_edge = edges & 2,
				  .now_us = now};
	struct label_outcome o = label_hop_pass(hop, &t, frame, size, out,
						export, sizeof(out));
	struct label_view v;

	if (o.len > size + LABEL_GROWTH || o.export > size + LABEL_GROWTH)
		abort();
	if (o.export && label_find(&v, &label_format_default, export, o.export))
		abort();
}

static void control_it(uint8_t pick, const uint8_t *frame, size_t size)
{
	static const int64_t leap_ms[] = {0, 0, 3600000, -3600000};
	uint64_t ms = now + (uint64_t)leap_ms[pick >> 2 & 3];

	if (label_control_frame(control, frame, size, ms * 1000000) ||
	    !ledger_balanced(&label_control_ledger,
			     label_control_counters(control)) ||
	    !ledger_balanced(&label_db_ledger,
			     label_db_counters(label_control_db(control))))
		abort();
}

/* Else few would get to the database. */
static const uint8_t *right_checksum(const uint8_t *frame, size_t size)
{
	static uint8_t copy[FRAME_MAX];
	uint8_t *ip = copy + NET_ETH_LEN;
	size_t head = size > NET_ETH_LEN ? (frame[NET_ETH_LEN] & 15) * 4u : 0;

	memcpy(copy, frame, size);
	if (head < NET_IP4_LEN || size < NET_ETH_LEN + head)
		return copy;
	be16_store(ip + NET_IP4_AT_SUM, 0);
	be16_store(ip + NET_IP4_AT_SUM, net_checksum(ip, head));
	return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *frame = data + 1;
	struct label_view v;
	int rc;

	if (!hop)
		prepare();
	if (!size || size > FRAME_MAX)
		return 0;
	if (data[0] & 16)
		frame = right_checksum(frame, size - 1);
	rc = label_find(&v, &label_format_default, frame, size - 1);
	if (rc == 0 || rc == -ENOENT) {
		look(&v, frame, size - 1);
		push_and_strip(&v, frame, size - 1);
	}
	now++;
	pass(data[0], frame, size - 1);
	control_it(data[0], frame, size - 1);
	return 0;
}
