/* SPDX-License-Identifier: BSD-2-Clause */
/* run.c - items of one node on their way there, and its answers. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"
#include "redis/error.h"
#include "redis/private.h"
#include "redis/words.h"

enum {
	AHEAD = 1 << 16, /* bytes sent before replies are read */
};

/* Numbers of items. */
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
	if (n->n == REDIS_NODES)
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
	item->state = ask ? ITEM_ASKED : ITEM_MOVED;
	return true;
}

/* What an error makes of the item that is answered. */
static void judge(struct run *r, struct fate *item, const char *text)
{
	if (redirect(r, item, text))
		return;
	fault_set(&r->all->why, 0, "%.*s", REDIS_REASON, text);
	item->state = redis_passes(text) ? ITEM_LATER : ITEM_REFUSED;
	if (redis_passes_slot(text))
		redis_block_hold(r->all, r->read);
}

/* The last greeting is a PING, which a user may not be allowed. */
static int hear_greeting(struct run *r, const redisReply *reply,
			 struct fault *f)
{
	r->greetings--;
	if (reply->type != REDIS_REPLY_ERROR ||
	    (!r->greetings && !strncmp(reply->str, "NOPERM", 6)))
		return 0;
	return fault_set(f, -EAGAIN, "%.*s", REDIS_REASON, reply->str);
}

static int hear(struct run *r, const redisReply *reply, struct fault *f)
{
	struct redis_nodes *n = r->all;
	struct fate *item = &n->fate[r->read];

	if (r->greetings)
		return hear_greeting(r, reply, f);
	if (r->read >= r->write)
		return fault_set(f, -EAGAIN, "replies to nothing");
	if (reply->type == REDIS_REPLY_ERROR && item->state == ITEM_WAITS)
		judge(r, item, reply->str);
	if (++r->heard < n->item[r->read].parts << item->ask)
		return 0;
	if (item->state == ITEM_WAITS)
		redis_block_wrote(n, r->read);
	if (item->state == ITEM_REFUSED && !r->t->refused++)
		r->t->why = n->why;
	r->heard = 0;
	r->read = redis_block_next(n, r->number, r->read + 1);
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
		r->write = redis_block_next(n, r->number, r->write);
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

int redis_run(struct redis_nodes *n, uint8_t number, struct tally *t,
	      struct fault *f)
{
	struct run *r = calloc(1, sizeof(*r));
	int rc = r ? 0 : -ENOMEM;

	if (!r)
		return fault_set(f, rc, "out of memory");
	*r = (struct run){
		.all = n, .node = &n->node[number], .number = number, .t = t};
	r->read = redis_block_next(n, number, 0);
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
