/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hostile packets into the translator, every operation checked by the
 * transport.
 *
 * Input: a byte that chooses the format and immediates; then packets, each a
 * byte of length and as many bytes. Length
 * bit 7: a DTA payload, put into a good frame; else a frame as it is. The last
 * two bytes tell the time of a payload, too: a minute in steps of a
 * millisecond, or all that a stamp can be.
 */
#include "../unit/translate_transport.h"
#include "net/be.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void feed(struct frames *f, const uint8_t *p, size_t len, bool payload)
{
	struct net_udp4 h = {.src = {10, 0, 1, 1}, .dst_port = DTA_PORT};
	uint64_t when = len < 2 ? 0 : be16_load(p + len - 2);
	uint8_t frame[256];

	if (!payload) {
		frames_add(f, p, len, len * 1000000);
		return;
	}
	memcpy(frame + 42, p, len);
	if (net_udp4_encode(frame, sizeof(frame), &h, len) == 42)
		frames_add(f, frame, 42 + len,
			   when << (when & 0x8000 ? 48 : 20));
}

static void run(struct translator *t, const uint8_t *data, size_t size)
{
	static struct frames f;

	while (size) {
		size_t len = data[0] & 127;
		bool payload = data[0] & 128;

		if (len > --size)
			len = size;
		feed(&f, ++data, len, payload);
		data += len;
		size -= len;
		if (f.n < PKT_BATCH && size)
			continue;
		if (translate_rx(t, f.pkt, f.n))
			abort();
		frames_clear(&f);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct table t[8] = {
		test_table(TABLE_KEYWRITE, 1, 13, 4, 8, 61),
		test_lists(2, 4, 4, 19, 3, 4),
		test_table(TABLE_KEYINC, 3, 4, 8, 8, 64),
		test_postcards(4, 5, 32, 64, 4),
		test_table(TABLE_KEYWRITE, 5, 4, 20, 24, 16),
		test_lists(6, 18, 32, 9, 2, 8),
		test_postcards(7, 8, 32, 16, 1),
		test_table(TABLE_KEYWRITE, 8, 4, 4, 8, 16),
	};
	struct translate_options o = {.format = DTA_FORMAT_1};
	struct test_transport *transport;
	struct translator *tr;

	if (!size)
		return 0;
	o.format = data[0] % DTA_FORMATS;
	t[3].copies = 2;
	t[4].sequence = TABLE_SEQ_STRICT;
	t[7].hash = HASH_DTA0;
	t[0].immediate = t[1].immediate = data[0] >> 7;
	transport = test_transport_new(t, 8);
	if (translate_open(&tr, t, 8, &transport->transport, &o, NULL))
		abort();
	run(tr, data + 1, size - 1);
	if (translate_flush(tr) || transport->bad ||
	    !ledger_balanced(&translate_ledger, translate_counters(tr)))
		abort();
	translate_close(tr);
	test_transport_free(transport);
	return 0;
}
