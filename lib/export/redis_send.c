/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/redis_send.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"
#include "export/redis_error.h"
#include "export/redis_link.h"
#include "export/redis_words.h"
#include "hash/redis_slot.h"

enum {
	PORT = 6379,
	NODES = 256,
	ROUNDS = 8,	 /* that items are moved before they wait */
	AHEAD = 1 << 16, /* bytes sent before replies are read */
	REASON = 200,	 /* characters of an error that are told */
};

/* What became of an item. */
enum {
	WAITS, /* not sent, or not answered */
	MOVED, /* its node is another */
	ASKED, /* the same, this once: its slot is on its way there */
	LATER, /* the server is not ready for it */
	HELD,  /* its slot is not */
	REFUSED,
	WRITTEN,
};

/* Of a slot. An item that is sent again goes alone at first: others of its slot
 * may not overtake it. */
enum {
	FREE,
	HOLD,
	PROBED, /* by the block in hand */
};

struct fate {
	uint8_t state, to; /* to: number of its node */
	bool ask;	   /* that node is told that it is ASKED */
};

struct redis_nodes {
	const struct url *url;
	const struct stop *stop;
	int timeout_ms;
	unsigned n;
	struct redis_link node[NODES];
	uint8_t of[REDIS_SLOTS];   /* the node of a slot, as far as known */
	uint8_t held[REDIS_SLOTS]; /* it was not served: its items wait */
	bool any_held;
	/* Of the block in hand. */
	struct item *item;
	struct fate *fate; /* by item */
	uint32_t items, room;
	struct block *block;
	size_t at; /* of the next item that has not been read */
	struct fault why;
};

/* Items of one node on their way: numbers of items. */
struct run {
	struct redis_nodes *all;
	struct redis_link *node;
	uint8_t number;
	uint32_t write, read; /* the next item to send, to hear of */
	uint32_t heard;	      /* commands of that which are answered */
	uint32_t greetings;   /* replies before those of items */
	struct outbuf out;
	struct tally *t;
};

int redis_nodes_open(struct redis_nodes **out, const struct url *u,
		     uint64_t timeout_ns, const struct stop *stop)
{
	struct redis_nodes *n = calloc(1, sizeof(*n));
	size_t len = strlen(u->host);

	if (!n)
		return -ENOMEM;
	n->url = u;
	n->stop = stop;
	n->timeout_ms = (int)(timeout_ns / 1000000);
	n->n = 1;
	/* brackets of IPv6 are the URL's, not the resolver's */
	if (u->host[0] == '[')
		redis_link_name(&n->node[0], u->host + 1, len - 2,
				u->port ? u->port : PORT);
	else
		redis_link_name(&n->node[0], u->host, len,
				u->port ? u->port : PORT);
	*out = n;
	return 0;
}

void redis_nodes_close(struct redis_nodes *n)
{
	for (unsigned i = 0; n && i < n->n; i++)
		redis_link_close(&n->node[i]);
	if (n) {
		free(n->item);
		free(n->fate);
	}
	free(n);
}

/* What a new connection begins with, and is to be answered before items are
 * sent: a server that wants a password takes none for a long command. */
static void greet(struct run *r)
{
	const struct url *u = r->all->url;

	if (u->password) {
		redis_command(&r->out, u->user && *u->user ? 3 : 2);
		redis_text(&r->out, "AUTH");
		if (u->user && *u->user)
			redis_text(&r->out, u->user);
		redis_text(&r->out, u->password);
		r->greetings++;
	}
	if (*u->path) {
		redis_command(&r->out, 2);
		redis_text(&r->out, "SELECT");
		redis_text(&r->out, u->path);
		r->greetings++;
	}
	redis_command(&r->out, 1);
	redis_text(&r->out, "PING");
	r->greetings++;
}

/* The node "SLOT HOST:PORT" names, which may be new; -1: none. Without a host
 * it is on that of who says it. */
static int node_of(struct redis_nodes *n, const struct redis_link *from,
		   const char *text, uint64_t *slot)
{
	struct redis_link d = {0};
	const char *host = text_digits(slot, text, REDIS_SLOTS - 1), *colon;
	uint64_t port;

	colon = host && *host == ' ' ? strrchr(++host, ':') : NULL;
	if (!colon || !text_u64(&port, colon + 1, UINT16_MAX))
		return -1;
	if (colon == host)
		redis_link_name(&d, from->host, strlen(from->host),
				(uint16_t)port);
	else if (redis_link_name(&d, host, (size_t)(colon - host),
				 (uint16_t)port) < 0)
		return -1;
	for (unsigned i = 0; i < n->n; i++)
		if (n->node[i].port == d.port &&
		    !strcmp(n->node[i].host, d.host))
			return (int)i;
	if (n->n == NODES)
		return -1;
	n->node[n->n] = d;
	return (int)n->n++;
}

/* An item belongs to another node: for good, and its slot with it, or this once
 * (Redis Cluster specification, "ASK redirection"). False: to none. */
static bool redirect(struct run *r, struct fate *item, const char *text)
{
	struct redis_nodes *n = r->all;
	bool ask = !strncmp(text, "ASK ", 4);
	uint64_t slot;
	int node;

	if (!ask && strncmp(text, "MOVED ", 6))
		return false;
	node = node_of(n, r->node, text + (ask ? 4 : 6), &slot);
	if (node < 0)
		return false;
	if (!ask)
		n->of[slot] = (uint8_t)node;
	item->to = (uint8_t)node;
	item->state = ask ? ASKED : MOVED;
	return true;
}

static unsigned slot_of(const struct item *i)
{
	return redis_slot(i->key, i->key_len);
}

/* What comes for the slot of an item waits, too. */
static void hold(struct redis_nodes *n, const struct item *i)
{
	n->held[slot_of(i)] = HOLD;
	n->any_held = true;
}

/* Whether an item may not be sent; one of each slot may that are tried again.
 */
static bool is_held(struct redis_nodes *n, const struct item *i)
{
	uint8_t *held = &n->held[n->any_held ? slot_of(i) : 0];

	if (!n->any_held || *held == FREE)
		return false;
	if (!n->block->again || *held == PROBED)
		return true;
	*held = PROBED;
	return false;
}

/* What an error makes of the item that is answered. */
static void judge(struct run *r, struct fate *item, const char *text)
{
	if (redirect(r, item, text))
		return;
	fault_set(&r->all->why, 0, "%.*s", REASON, text);
	item->state = redis_passes_slot(text) ? HELD
		      : redis_passes(text)    ? LATER
					      : REFUSED;
	if (item->state == HELD)
		hold(r->all, &r->all->item[r->read]);
}

/* Reads another item of the block: while those before are on their way, so that
 * the server has something to do. What is none is the end of the block. */
static bool read_item(struct redis_nodes *n)
{
	uint32_t i = n->items;

	if (i == n->block->rows ||
	    item_next(&n->item[i], n->block, &n->at) <= 0 || !n->item[i].parts)
		return false;
	n->fate[i] = (struct fate){.state = WAITS};
	if (n->n > 1)
		n->fate[i].to = n->of[slot_of(&n->item[i])];
	if (is_held(n, &n->item[i]))
		n->fate[i].state = HELD;
	n->items++;
	return true;
}

/* The next item of this node from one on that is to be sent. */
static uint32_t next_item(const struct run *r, uint32_t i)
{
	struct redis_nodes *n = r->all;

	while ((i < n->items || read_item(n)) &&
	       (n->fate[i].state != WAITS || n->fate[i].to != r->number))
		i++;
	return i;
}

/* The last greeting is a PING, which a user may not be allowed. */
static int hear_greeting(struct run *r, const redisReply *reply,
			 struct fault *f)
{
	r->greetings--;
	if (reply->type != REDIS_REPLY_ERROR ||
	    (!r->greetings && !strncmp(reply->str, "NOPERM", 6)))
		return 0;
	return fault_set(f, -EAGAIN, "%.*s", REASON, reply->str);
}

static int hear(struct run *r, const redisReply *reply, struct fault *f)
{
	struct redis_nodes *n = r->all;
	struct fate *item = &n->fate[r->read];

	if (r->greetings)
		return hear_greeting(r, reply, f);
	if (r->read >= r->write)
		return fault_set(f, -EAGAIN, "replies to nothing");
	if (reply->type == REDIS_REPLY_ERROR && item->state == WAITS)
		judge(r, item, reply->str);
	if (++r->heard < n->item[r->read].parts << item->ask)
		return 0;
	if (item->state == WAITS) {
		item->state = WRITTEN;
		if (n->any_held)
			n->held[slot_of(&n->item[r->read])] = FREE;
	}
	if (item->state == REFUSED && !r->t->refused++)
		r->t->why = n->why;
	r->heard = 0;
	r->read = next_item(r, r->read + 1);
	return 0;
}

static int read_replies(struct run *r, struct fault *f)
{
	void *reply = NULL;
	int rc = 0;

	if (redisBufferRead(r->node->c) != REDIS_OK)
		return fault_set(f, -EAGAIN, "%.128s", r->node->c->errstr);
	while (!rc) {
		if (redisGetReplyFromReader(r->node->c, &reply) != REDIS_OK)
			return fault_set(f, -EAGAIN, "%.128s",
					 r->node->c->errstr);
		if (!reply)
			break;
		rc = hear(r, reply, f);
		freeReplyObject(reply);
	}
	return rc;
}

/* Puts items into the buffer; those before are not answered yet. */
static void fill(struct run *r)
{
	struct redis_nodes *n = r->all;

	while (outbuf_len(&r->out) < AHEAD) {
		r->write = next_item(r, r->write);
		if (r->write >= n->items)
			break;
		redis_commands(&r->out, n->item[r->write].payload,
			       n->item[r->write].len, n->fate[r->write].ask);
		r->write++;
	}
}

static int wait_for(const struct run *r, short events, struct fault *f)
{
	return redis_link_wait(r->node, events, r->all->timeout_ms,
			       r->all->stop, f);
}

/* Sends the buffer, and reads what comes meanwhile. */
static int exchange(struct run *r, struct fault *f)
{
	size_t len, at = 0;
	const char *text = outbuf_text(&r->out, &len);
	int fd = r->node->c->fd, rc = text ? 0 : -ENOMEM;
	ssize_t sent;

	while (rc >= 0 && at < len) {
		rc = wait_for(r, POLLIN | POLLOUT, f);
		if (rc >= 0 && (rc & POLLOUT)) {
			sent = send(fd, text + at, len - at, MSG_NOSIGNAL);
			if (sent < 0 && errno != EAGAIN && errno != EINTR)
				return fault_set(f, -EAGAIN, "%s",
						 strerror(errno));
			at += sent > 0 ? (size_t)sent : 0;
		}
		if (rc >= 0 && (rc & ~POLLOUT))
			rc = read_replies(r, f);
	}
	outbuf_cut(&r->out, 0);
	return rc < 0 ? rc : 0;
}

/* All items of a node. -errno: those that were not answered wait still. */
static int run_node(struct redis_nodes *n, uint8_t number, struct tally *t,
		    struct fault *f)
{
	struct run *r = calloc(1, sizeof(*r));
	int rc = r ? 0 : -ENOMEM;

	if (!r)
		return fault_set(f, rc, "out of memory");
	*r = (struct run){
		.all = n, .node = &n->node[number], .number = number, .t = t};
	r->read = next_item(r, 0);
	if (r->read < n->items && !r->node->c) {
		rc = redis_link_open(r->node, n->timeout_ms, n->stop, f);
		greet(r);
	}
	while (!rc && (r->greetings || r->read < n->items)) {
		if (!r->greetings)
			fill(r);
		if (outbuf_len(&r->out))
			rc = exchange(r, f);
		else if ((rc = wait_for(r, POLLIN, f)) >= 0)
			rc = read_replies(r, f);
	}
	if (rc < 0)
		redis_link_close(r->node);
	free(r->out.text);
	free(r);
	return rc;
}

static int begin_block(struct redis_nodes *n, struct block *b)
{
	n->block = b;
	n->at = b->at;
	n->items = 0;
	if (b->rows > n->room) {
		free(n->item);
		free(n->fate);
		n->item = calloc(b->rows, sizeof(*n->item));
		n->fate = calloc(b->rows, sizeof(*n->fate));
		n->room = n->item && n->fate ? b->rows : 0;
		if (!n->room)
			return -ENOMEM;
	}
	return 0;
}

/* Whether an item may be sent now: it was moved, or its slot is served now. */
static bool may_go(const struct redis_nodes *n, uint32_t i)
{
	uint8_t state = n->fate[i].state;

	return state == MOVED || state == ASKED ||
	       (state == HELD && n->held[slot_of(&n->item[i])] == FREE);
}

/* Those wait again. Returns their number. */
static uint32_t move(struct redis_nodes *n)
{
	uint32_t moved = 0;

	for (uint32_t i = 0; i < n->items; i++)
		if (may_go(n, i)) {
			n->fate[i].ask = n->fate[i].state == ASKED;
			n->fate[i].state = WAITS;
			moved++;
		}
	return moved;
}

static int run_all(struct redis_nodes *n, struct tally *t, struct fault *f)
{
	int rc = 0;

	for (unsigned round = 0; round < ROUNDS && !rc; round++) {
		for (unsigned i = 0; i < n->n && !rc; i++)
			rc = run_node(n, (uint8_t)i, t, f);
		if (!move(n))
			break;
	}
	/* whom it does not reach any more may have handed on its slots */
	if (rc < 0)
		memset(n->of, 0, sizeof(n->of));
	return rc;
}

/* Whether items wait, and all that do for slots that are not served. Those that
 * are set apart already hold theirs, whatever they wait for. */
static bool is_apart(struct redis_nodes *n)
{
	bool any = false, all = true;

	for (uint32_t i = 0; i < n->items; i++) {
		if (n->fate[i].state >= REFUSED)
			continue;
		any = true;
		all = all && n->fate[i].state == HELD;
		if (n->block->again)
			hold(n, &n->item[i]);
	}
	return any && all;
}

/* What became of all items, read or not; the block has those that wait. */
static int end_block(struct redis_nodes *n, struct tally *t)
{
	struct block *b = n->block, rest;
	uint32_t kept = 0;
	bool *keep = calloc(b->rows + 1, sizeof(*keep));

	if (!keep)
		return -ENOMEM;
	while (read_item(n))
		;
	for (uint32_t i = 0; i < n->items; i++) {
		keep[i] = n->fate[i].state < REFUSED;
		kept += keep[i];
		t->written += n->fate[i].state == WRITTEN;
	}
	b->apart = is_apart(n);
	rest = (struct block){.rows = b->rows - n->items};
	if (rest.rows)
		block_refuse(&rest, t, "a block that is none of Redis");
	b->rows = kept;
	if (kept)
		items_keep(b, keep, n->items);
	free(keep);
	return 0;
}

int redis_nodes_send(struct redis_nodes *n, struct block *b, struct tally *t,
		     struct fault *f)
{
	int rc = begin_block(n, b);

	if (rc < 0)
		return fault_set(f, rc, "out of memory");
	fault_set(&n->why, 0,
		  n->any_held ? "slots are not served" : "moved too often");
	rc = run_all(n, t, f);
	if (end_block(n, t) < 0)
		return fault_set(f, -ENOMEM, "out of memory");
	if (rc == 0 && b->rows)
		rc = fault_set(f, -EAGAIN, "%.*s", REASON, n->why.text);
	return rc;
}
