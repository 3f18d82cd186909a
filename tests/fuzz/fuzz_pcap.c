/* SPDX-License-Identifier: BSD-2-Clause */
/* Any file: packets that can be read from their headroom to their end. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hash/crc.h"
#include "packet/pkt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned touched;

static void touch(const struct pkt *p)
{
	unsigned sum = 0;

	if (p->len > PKT_MAX || p->len > p->wire_len)
		abort();
	for (const uint8_t *b = p->data - CRC_HEADROOM; b < p->data + p->len;
	     b++)
		sum += *b;
	touched += sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", 0), n, max = size % 2 ? PKT_BATCH : 3;
	struct pkt pkts[PKT_BATCH];
	struct error err;
	char path[64];
	struct src *s;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!src_open(&s, path, &err)) {
		while ((n = src_rx(s, pkts, max, &err)) > 0)
			for (int i = 0; i < n; i++)
				touch(&pkts[i]);
		if (!n && src_done(s) != size)
			abort();
		src_close(s);
	}
	close(fd);
	return 0;
}
