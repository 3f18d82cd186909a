/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mangle - a bad link between two pipes: reads a capture, writes it with
 * faults.
 *
 *	mangle [-s SEED] [-l LOSS] [-d DUPLICATION] [-f FLIP] [-c CUT]
 *	       [-r REORDER]
 *
 * Each is a chance per packet, 0 to 1: lose it; send it twice; flip one bit of
 * it; cut it short; hold it back behind the next few. What was done is told on
 * stderr: in, lost, duplicated, flipped, cut, reordered, out.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "badlink.h"
#include "base/text.h"
#include "packet/pkt.h"

enum {
	FRAME_MAX = 65536,
};

static struct {
	uint64_t in, lost, duplicated, flipped, cut, reordered, out;
} count;

static double loss, duplication, flip, cut, reorder;
static struct held held;

static void send(struct snk *k, const struct pkt *p)
{
	count.out++;
	if (snk_tx(k, p, 1) < 0)
		exit(1);
}

static struct pkt *copy(const struct pkt *p)
{
	struct pkt *c = malloc(sizeof(*c) + p->len);

	if (!c)
		exit(1);
	*c = *p;
	c->data = memcpy(c + 1, p->data, p->len);
	return c;
}

static void send_held(void *snk, void *copied)
{
	send(snk, copied);
	free(copied);
}

static void mangle(struct snk *k, const struct pkt *in)
{
	uint8_t data[FRAME_MAX];
	struct pkt p = *in, *late;

	count.in++;
	if (p.len > FRAME_MAX)
		p.len = FRAME_MAX;
	memcpy(data, p.data, p.len);
	p.data = data;
	if (chance(loss)) {
		count.lost++;
		return;
	}
	if (p.len && chance(flip)) {
		uint8_t *at = &data[rng_below(&rng, p.len)];

		*at ^= (uint8_t)(1u << rng_below(&rng, 8));
		count.flipped++;
	}
	if (p.len && chance(cut)) {
		p.len = (uint32_t)rng_below(&rng, p.len);
		count.cut++;
	}
	if (chance(duplication)) {
		count.duplicated++;
		send(k, &p);
	}
	late = chance(reorder) ? copy(&p) : NULL;
	if (late && hold(&held, late)) {
		count.reordered++;
	} else {
		send(k, &p);
		free(late);
	}
	release(&held, false, send_held, k);
}

int main(int argc, char **argv)
{
	struct pkt pkts[64];
	struct error err = {""};
	struct src *s;
	struct snk *k;
	int ch, n = -1;

	while ((ch = getopt(argc, argv, "s:l:d:f:c:r:")) != -1) {
		switch (ch) {
		case 's':
			if (!text_u64(&rng.state, optarg, UINT64_MAX))
				return 2;
			break;
		case 'l':
			loss = atof(optarg);
			break;
		case 'd':
			duplication = atof(optarg);
			break;
		case 'f':
			flip = atof(optarg);
			break;
		case 'c':
			cut = atof(optarg);
			break;
		case 'r':
			reorder = atof(optarg);
			break;
		default:
			return 2;
		}
	}
	if (src_open(&s, "-", &err) < 0 || snk_open(&k, "-", &err) < 0) {
		fprintf(stderr, "mangle: %s\n", err.text);
		return 1;
	}
	/* What is behind a link does not wait for what is not sent yet. */
	while (snk_flush(k) == 0 && (n = src_rx(s, pkts, 64, &err)) > 0)
		for (int i = 0; i < n; i++)
			mangle(k, &pkts[i]);
	release(&held, true, send_held, k);
	src_close(s);
	if (n < 0 || snk_close(k) < 0)
		return 1;
	fprintf(stderr,
		"in=%" PRIu64 " lost=%" PRIu64 " duplicated=%" PRIu64
		" flipped=%" PRIu64 " cut=%" PRIu64 " reordered=%" PRIu64
		" out=%" PRIu64 "\n",
		count.in, count.lost, count.duplicated, count.flipped,
		count.cut, count.reordered, count.out);
	return 0;
}
