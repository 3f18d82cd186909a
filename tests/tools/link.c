/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link - a bad link between two interfaces, in both directions.
 *
 *	link [-s SEED] [-l LOSS] [-d DUPLICATION] [-f FLIP] [-r REORDER]
 *	     [-o AFTER:MS] [-x EVERY] [-m MOST] A B
 *
 * What comes in at A leaves by B, and the other way round. LOCAL,REMOTE in the
 * place of an interface: Unix sockets, a frame a datagram, as QEMU's -netdev
 * dgram speaks them; LOCAL is made. A chance per frame, 0 to 1: lose it; send
 * it twice; flip one bit of it; hold it back behind the next few. -o: after so
 * many frames none gets through for so long. -x: after every so many frames,
 * one more from a stranger. -m: lose frames of more bytes. It never blocks:
 * what the other end does not take waits. It says "linked" when it listens;
 * SIGTERM ends it, and what was done is told on stdout.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <arpa/inet.h>

#include "badlink.h"
#include "base/clock.h"
#include "base/text.h"
#include "net/roce.h"

enum {
	FRAME_MAX = 4096 + 256,
	STRANGERS = 5,
};

struct frame {
	struct frame *next;
	size_t len;
	uint8_t data[FRAME_MAX];
};

/* An interface, or a socket and whom it sends to. */
struct end {
	int fd;
	struct sockaddr_un to;
	socklen_t to_len; /* 0: an interface */
	char path[108];	  /* of the socket */
};

struct way {
	const struct end *in, *out;
	struct frame *first, **last; /* to be sent */
	struct held held;
};

static struct {
	uint64_t in, lost, duplicated, flipped, reordered, strangers, out;
} count;

static double loss, duplication, flip, reorder;
static uint64_t outage_at = UINT64_MAX, outage_ms, outage_end, stranger_every;
static size_t most = FRAME_MAX;
static volatile sig_atomic_t stop;

static void on_term(int signal)
{
	(void)signal;
	stop = 1;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void open_interface(struct end *e, const char *name)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(name),
	};
	int yes = 1;

	e->fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (e->fd < 0 || !at.sll_ifindex ||
	    setsockopt(e->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes,
		       sizeof(yes)) < 0 ||
	    bind(e->fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		fail(name);
}

static void open_sockets(struct end *e, const char *local, const char *remote)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	snprintf(e->path, sizeof(e->path), "%s", local);
	memcpy(at.sun_path, e->path, sizeof(at.sun_path));
	e->to = (struct sockaddr_un){.sun_family = AF_UNIX};
	e->to_len = sizeof(e->to);
	snprintf(e->to.sun_path, sizeof(e->to.sun_path), "%s", remote);
	e->fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	unlink(local);
	if (e->fd < 0 || bind(e->fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		fail(local);
}

static void end_open(struct end *e, char *name)
{
	char *comma = strchr(name, ',');
	int bytes = 16 << 20;

	if (comma) {
		*comma = '\0';
		open_sockets(e, name, comma + 1);
	} else {
		open_interface(e, name);
	}
	setsockopt(e->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
}

static struct frame *copy(const struct frame *f)
{
	struct frame *c = malloc(sizeof(*c));

	if (!c)
		exit(1);
	c->len = f->len;
	memcpy(c->data, f->data, f->len);
	return c;
}

static void queue(void *way, void *frame)
{
	struct way *w = way;
	struct frame *f = frame;

	f->next = NULL;
	*w->last = f;
	w->last = &f->next;
	count.out++;
}

/* A frame like one that passes, but from somebody who has no business here. */
static void stranger(struct way *w, const struct frame *like)
{
	struct frame *f = copy(like);
	struct roce r;
	int len;

	if (roce_decode(&r, like->data, like->len) < 0 || !r.icrc_ok) {
		free(f);
		return;
	}
	switch (count.strangers++ % STRANGERS) {
	case 0: /* from elsewhere */
		r.src[3] ^= 0x80;
		break;
	case 1: /* to somebody else */
		r.dst[3] ^= 0x80;
		break;
	case 2:
		r.dest_qp ^= 0x800000;
		break;
	case 3: /* to another machine of this wire */
		r.eth_dst[5] ^= 0x80;
		break;
	case 4: /* to another partition */
		r.pkey = 0x1234;
		break;
	}
	r.psn = (r.psn + 1) & ROCE_PSN_MASK;
	len = roce_encode(f->data, sizeof(f->data), &r);
	if (len < 0)
		exit(1);
	f->len = (size_t)len;
	queue(w, f);
}

static bool is_out(void)
{
	if (count.in < outage_at)
		return false;
	if (!outage_end)
		outage_end = clock_ms() + outage_ms;
	return clock_ms() < outage_end;
}

static void pass(struct way *w, struct frame *in)
{
	struct frame *f;

	count.in++;
	if (stranger_every && count.in % stranger_every == 0)
		stranger(w, in);
	if (in->len > most || chance(loss) || is_out()) {
		count.lost++;
		return;
	}
	f = copy(in);
	if (chance(flip)) {
		f->data[rng_below(&rng, f->len)] ^= (uint8_t)(1u << rng_below(
								      &rng, 8));
		count.flipped++;
	}
	if (chance(duplication)) {
		count.duplicated++;
		queue(w, copy(f));
	}
	if (chance(reorder) && hold(&w->held, f))
		count.reordered++;
	else
		queue(w, f);
	release(&w->held, false, queue, w);
}

/* Sends what the other end takes. Frames to nobody are lost, as on a wire. */
static void send_queued(struct way *w)
{
	struct frame *f;

	while ((f = w->first)) {
		if (sendto(w->out->fd, f->data, f->len, MSG_DONTWAIT,
			   w->out->to_len ? (struct sockaddr *)&w->out->to
					  : NULL,
			   w->out->to_len) < 0 &&
		    (errno == EAGAIN || errno == ENOBUFS))
			return;
		w->first = f->next;
		if (!w->first)
			w->last = &w->first;
		free(f);
	}
}

static void receive(struct way *w)
{
	static struct frame f;
	ssize_t n;

	while ((n = recv(w->in->fd, f.data, sizeof(f.data), MSG_DONTWAIT)) >
	       0) {
		f.len = (size_t)n;
		pass(w, &f);
		send_queued(w);
	}
}

static void parse(int argc, char **argv)
{
	const char *end;
	int ch;

	while ((ch = getopt(argc, argv, "s:l:d:f:r:o:x:m:")) != -1) {
		switch (ch) {
		case 's':
			if (!text_u64(&rng.state, optarg, UINT64_MAX))
				exit(2);
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
		case 'r':
			reorder = atof(optarg);
			break;
		case 'o':
			end = text_digits(&outage_at, optarg, UINT64_MAX);
			if (!end || *end != ':' ||
			    !text_u64(&outage_ms, end + 1, UINT64_MAX))
				exit(2);
			break;
		case 'x':
			if (!text_u64(&stranger_every, optarg, UINT64_MAX))
				exit(2);
			break;
		case 'm':
			if (!text_u64(&most, optarg, UINT64_MAX))
				exit(2);
			break;
		default:
			exit(2);
		}
	}
	if (argc - optind != 2)
		exit(2);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_term};
	static struct end a, b;
	static struct way ab = {.in = &a, .out = &b, .last = &ab.first},
			  ba = {.in = &b, .out = &a, .last = &ba.first};

	parse(argc, argv);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	end_open(&a, argv[optind]);
	end_open(&b, argv[optind + 1]);
	printf("linked\n");
	fflush(stdout);
	while (!stop) {
		struct pollfd p[2] = {
			{.fd = a.fd, .events = POLLIN},
			{.fd = b.fd, .events = POLLIN},
		};

		poll(p, 2, ab.first || ba.first ? 1 : 100);
		receive(&ab);
		receive(&ba);
		send_queued(&ab);
		send_queued(&ba);
	}
	unlink(a.path);
	unlink(b.path);
	printf("in=%" PRIu64 " lost=%" PRIu64 " duplicated=%" PRIu64
	       " flipped=%" PRIu64 " reordered=%" PRIu64 " strangers=%" PRIu64
	       " out=%" PRIu64 "\n",
	       count.in, count.lost, count.duplicated, count.flipped,
	       count.reordered, count.strangers, count.out);
	return 0;
}
