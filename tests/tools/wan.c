/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * wan - a long and bad line between two Ethernet interfaces.
 *
 *	wan [-s SEED] [-v VLAN] [-d DELAY_MS] [-j JITTER_MS] [-b BITS]
 *	    [-q QUEUE_MS] [-l LOSS] [-p PROTOCOL] [-u DUPLICATION] [-r REORDER]
 *	    HOST TRUNK
 *
 * What comes in at HOST leaves at TRUNK with the tag of the VLAN, and what
 * comes in at TRUNK with that tag leaves at HOST without it; no -v: no tag.
 * Several share a trunk. In each direction a frame waits for those before it at
 * BITS per second, is lost where that takes longer than QUEUE_MS, and then
 * travels for DELAY_MS and up to JITTER_MS more. A chance per frame, 0 to 1:
 * lose it; send it twice; let others overtake it. -p: it loses nothing but
 * untagged IPv4 of that protocol, and that from one SIGUSR1 to the next.
 * SIGTERM ends it; what was done is told on stdout.
 */
/* clang-format on */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "badlink.h"
#include "base/clock.h"
#include "base/text.h"
#include "net/be.h"
#include "net/proto.h"

enum {
	FRAME_MAX = 2048,
	MACS = 12, /* both addresses; a tag comes behind them */
	TAG = 4,
	SOCKET_BYTES = 8 << 20,
	/* TCP takes a segment that is so late for lost, or nearly. */
	OVERTAKEN_NS = 4000000,
};

struct frame {
	struct frame *next;
	uint64_t at; /* when it leaves */
	size_t len;
	uint8_t data[FRAME_MAX];
};

struct port {
	int fd;
	unsigned vlan; /* of the frames taken here; 0: untagged ones */
};

struct way {
	struct port *from, *to;
	struct frame *first; /* in the order in which they leave */
	uint64_t idle_at;    /* the line has sent what it was given */
	uint64_t last_at;    /* the last frame that was not overtaken leaves */
};

static struct {
	uint64_t in, lost, full, duplicated, reordered, out;
} count;

static double delay_ms, jitter_ms, bits, queue_ms, loss, duplication, reorder;
static uint64_t protocol; /* of what is lost; 0: of all */
static volatile sig_atomic_t stop, losing;

static void on_signal(int signal)
{
	if (signal == SIGUSR1)
		losing = !losing;
	else
		stop = 1;
}

static void die(const char *what)
{
	fprintf(stderr, "wan: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void port_open(struct port *p, const char *name, unsigned vlan)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(name),
	};
	int on = 1, bytes = SOCKET_BYTES;

	p->vlan = vlan;
	p->fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (!at.sll_ifindex || p->fd < 0 ||
	    setsockopt(p->fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) ||
	    setsockopt(p->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on,
		       sizeof(on)) ||
	    setsockopt(p->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes,
		       sizeof(bytes)) ||
	    bind(p->fd, (struct sockaddr *)&at, sizeof(at)))
		die(name);
}

/* The kernel takes a tag out of the frame and tells it aside. 0: none. */
static unsigned tag_of(struct msghdr *m)
{
	struct tpacket_auxdata aux;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_PACKET ||
		    c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (aux.tp_status & TP_STATUS_VLAN_VALID)
			return aux.tp_vlan_tci;
	}
	return 0;
}

/* Returns: false if no frame waits. One of another VLAN has no length. */
static bool port_receive(const struct port *p, struct frame *f)
{
	struct iovec io = {f->data, sizeof(f->data) - TAG};
	_Alignas(struct cmsghdr) char aside[128];
	struct msghdr m = {
		.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = aside,
		.msg_controllen = sizeof(aside),
	};
	ssize_t n = recvmsg(p->fd, &m, MSG_DONTWAIT);

	if (n < 0)
		return false;
	f->len = n < MACS || tag_of(&m) != p->vlan ? 0 : (size_t)n;
	return true;
}

static void add_tag(struct frame *f, unsigned vlan)
{
	const uint8_t tag[TAG] = {ETH_P_8021Q >> 8, ETH_P_8021Q & 0xff,
				  (uint8_t)(vlan >> 8), (uint8_t)vlan};

	memmove(f->data + MACS + TAG, f->data + MACS, f->len - MACS);
	memcpy(f->data + MACS, tag, TAG);
	f->len += TAG;
}

static void queue(struct way *w, const struct frame *f, uint64_t at)
{
	struct frame **place = &w->first, *copy = malloc(sizeof(*copy));

	if (!copy)
		die("frame");
	*copy = *f;
	copy->at = at;
	while (*place && (*place)->at <= at)
		place = &(*place)->next;
	copy->next = *place;
	*place = copy;
}

/* When the line has sent a frame that it is given now; 0: it does not take it.
 */
static uint64_t line_sends(struct way *w, size_t len)
{
	uint64_t now = clock_ns();
	uint64_t from = w->idle_at > now ? w->idle_at : now;

	if (!bits)
		return now;
	if (queue_ms && (double)(from - now) > queue_ms * 1e6)
		return 0;
	w->idle_at = from + (uint64_t)((double)len * 8e9 / bits);
	return w->idle_at;
}

static bool loses(const struct frame *f)
{
	const uint8_t *ip = f->data + MACS + 2;

	if (protocol && (!losing || f->len < MACS + 2 + NET_IP4_LEN ||
			 be16_load(f->data + MACS) != NET_ETHERTYPE_IP4 ||
			 ip[NET_IP4_AT_PROTO] != protocol))
		return false;
	return chance(loss);
}

static void pass(struct way *w, struct frame *f)
{
	uint64_t at = line_sends(w, f->len);

	count.in++;
	if (!at || loses(f)) {
		count.full += !at;
		count.lost += at > 0;
		return;
	}
	if (w->to->vlan)
		add_tag(f, w->to->vlan);
	at += (uint64_t)((delay_ms + jitter_ms * rng_unit(&rng)) * 1e6);
	if (at < w->last_at)
		at = w->last_at;
	w->last_at = at;
	if (chance(duplication)) {
		count.duplicated++;
		queue(w, f, at);
	}
	if (chance(reorder)) {
		count.reordered++;
		at += rng_below(&rng, OVERTAKEN_NS);
	}
	queue(w, f, at);
}

static void receive(struct way *w)
{
	static struct frame f;

	while (port_receive(w->from, &f))
		if (f.len)
			pass(w, &f);
}

static void send_due(struct way *w)
{
	struct frame *f;

	while ((f = w->first) && f->at <= clock_ns()) {
		if (send(w->to->fd, f->data, f->len, 0) < 0)
			count.full++;
		else
			count.out++;
		w->first = f->next;
		free(f);
	}
}

/* Until something comes in or is due. */
static void wait_for(const struct way *there, const struct way *back)
{
	struct pollfd p[2] = {
		{.fd = there->from->fd, .events = POLLIN},
		{.fd = back->from->fd, .events = POLLIN},
	};
	uint64_t now = clock_ns(), at = now + 100000000;
	struct timespec t = {0};

	if (there->first && there->first->at < at)
		at = there->first->at;
	if (back->first && back->first->at < at)
		at = back->first->at;
	if (at > now)
		t.tv_nsec = (long)(at - now);
	ppoll(p, 2, &t, NULL);
}

static double *number(int option)
{
	switch (option) {
	case 'd':
		return &delay_ms;
	case 'j':
		return &jitter_ms;
	case 'b':
		return &bits;
	case 'q':
		return &queue_ms;
	case 'l':
		return &loss;
	case 'u':
		return &duplication;
	case 'r':
		return &reorder;
	}
	exit(2);
}

static unsigned parse(int argc, char **argv)
{
	uint64_t vlan = 0;
	bool ok = true;
	int ch;

	while (ok && (ch = getopt(argc, argv, "s:v:d:j:b:q:l:p:u:r:")) != -1) {
		if (ch == 's')
			ok = text_u64(&rng.state, optarg, UINT64_MAX);
		else if (ch == 'v')
			ok = text_u64(&vlan, optarg, 4094);
		else if (ch == 'p')
			ok = text_u64(&protocol, optarg, UINT8_MAX);
		else
			ok = text_f64(number(ch), optarg);
	}
	if (!ok || argc - optind != 2)
		exit(2);
	return (unsigned)vlan;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct way there = {0}, back = {0};
	struct port host, trunk;
	unsigned vlan = parse(argc, argv);

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	port_open(&host, argv[optind], 0);
	port_open(&trunk, argv[optind + 1], vlan);
	there.from = back.to = &host;
	there.to = back.from = &trunk;
	while (!stop) {
		wait_for(&there, &back);
		receive(&there);
		receive(&back);
		send_due(&there);
		send_due(&back);
	}
	printf("in=%" PRIu64 " lost=%" PRIu64 " full=%" PRIu64
	       " duplicated=%" PRIu64 " reordered=%" PRIu64 " out=%" PRIu64
	       "\n",
	       count.in, count.lost, count.full, count.duplicated,
	       count.reordered, count.out);
	return 0;
}
