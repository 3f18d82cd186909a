/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The input is a run of frames into a responder: options (1 byte), then for
 * each frame flags (1), length (2, big-endian) and bytes; by the flags the
 * iCRC, and destination and IP header with it, are put right first. Whatever
 * comes: the ledger adds up, and not a byte changes outside the current epoch's
 * tables.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/rdma_rig.h"
#include "net/be.h"
#include "net/net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	NO_RECEIVES = 1,
	NO_ANSWERS = 2,
	SEAL = 1,      /* of a frame: put its iCRC right */
	ADDRESS = 2,   /* and the headers before the BTH */
	STATE = 20480, /* of the region: what changes with every writer */
	SEATS_END = 294912,
};

static struct rig g;
static uint8_t *before;
static size_t file_size;

static void must(bool ok)
{
	if (!ok)
		abort();
}

static const uint8_t *file_at(void)
{
	const struct table *t = region_table(g.region, 0);

	return region_read(g.region, t, 1) - region_offset(g.region, t, 1);
}

static void set_up(void)
{
	rig_open(&g, NULL);
	region_remove(g.name, NULL);
	unlink(g.path);
	responder_close(g.p);
	snk_close(g.answers);
	file_size = region_size(g.region);
	before = malloc(file_size);
	must(before != NULL && snk_open(&g.answers, "/dev/null", NULL) == 0);
	memcpy(before, file_at(), file_size);
}

/* Compares all but the tables with what was there; then empties the tables. */
static void check_memory(void)
{
	const uint8_t *now = file_at();
	size_t at = SEATS_END;

	must(!memcmp(now, before, STATE));
	for (unsigned i = 0; i < RIG_TABLES; i++) {
		const struct table *t = region_table(g.region, i);
		uint64_t start = region_offset(g.region, t, 1);

		must(start >= at);
		must(!memcmp(now + at, before + at, start - at));
		at = start + t->length;
		/* The region is mapped for writing. */
		memset((uint8_t *)now + start, 0, t->length);
	}
	must(!memcmp(now + at, before + at, file_size - at));
}

/* What a frame needs so as not to be dropped at the door. */
static void put_right(uint8_t *frame, size_t len, uint8_t flags)
{
	struct roce r = rig_request(&g, ROCE_RC_WRITE_ONLY, RIG_KW, 0, 0);
	uint8_t head[ROCE_FRAME_MAX];

	if (len < ROCE_AT_BTH + ROCE_BTH_LEN + ROCE_ICRC_LEN || len > 4000)
		return;
	if (flags & ADDRESS) {
		must(roce_encode(head, sizeof(head), &r) > 0);
		memcpy(frame, head, ROCE_AT_BTH);
		be16_store(frame + ROCE_AT_IP + 2,
			   (uint16_t)(len - ROCE_AT_IP));
		be16_store(frame + ROCE_AT_UDP + 4,
			   (uint16_t)(len - ROCE_AT_UDP));
		be16_store(frame + ROCE_AT_IP + 10, 0);
		be16_store(frame + ROCE_AT_IP + 10,
			   net_checksum(frame + ROCE_AT_IP, NET_IP4_LEN));
	}
	if (flags & SEAL && frame[12] == 0x08)
		rig_seal(frame, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;
	struct responder_options o = {.receives = UINT64_MAX};
	static struct pkt pkts[64];
	unsigned n = 0;

	if (!before)
		set_up();
	if (!size)
		return 0;
	o.receives = *data & NO_RECEIVES ? 0 : UINT64_MAX;
	must(responder_open(&g.p, g.region, &g.t,
			    *data & NO_ANSWERS ? NULL : g.answers, &o,
			    NULL) == 0);
	for (data++; end - data > 3 && n < 64; n++) {
		uint8_t flags = data[0], *copy;
		size_t len = be16_load(data + 1);

		data += 3;
		if (len > (size_t)(end - data))
			len = (size_t)(end - data);
		copy = malloc(CRC_HEADROOM + len);
		must(copy != NULL);
		memcpy(copy + CRC_HEADROOM, data, len);
		put_right(copy + CRC_HEADROOM, len, flags);
		pkts[n] = (struct pkt){.data = copy + CRC_HEADROOM,
				       .len = (uint32_t)len};
		data += len;
	}
	must(responder_rx(g.p, pkts, n) == 0);
	must(ledger_balanced(&responder_ledger, responder_counters(g.p)));
	must(responder_counters(g.p)->received == n);
	responder_close(g.p);
	check_memory();
	for (unsigned i = 0; i < n; i++)
		free((uint8_t *)pkts[i].data - CRC_HEADROOM);
	return 0;
}
