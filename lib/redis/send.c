/* SPDX-License-Identifier: BSD-2-Clause */
#include "redis/send.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "redis/words.h"

enum {
	PORT = 6379,
	REASON = 200,	 /* characters of an error that are told */
	AHEAD = 1 << 16, /* bytes sent before replies are read */
};

/* What became of an item. */
enum fate {
	WRITTEN,
	REFUSED,
	LATER, /* the server is not ready for it */
};

struct redis_node {
	const struct url *url;
	const struct stop *stop;
	int timeout_ms;
	char *host;
	uint16_t port;
	redisContext *c; /* NULL: not connected */
	/* Of the block in hand, whose items are read. */
	struct item *item;
	bool *keep; /* by item: it is not written or refused yet */
	uint32_t items, room;
	uint32_t write, read; /* the next item to send, to hear of */
	uint32_t heard;	      /* commands of that which are answered */
	enum fate fate;	      /* as far as they are */
	bool later;	      /* any item: others may not overtake it */
	uint32_t greetings;   /* replies before those of items */
	struct outbuf out;
	struct tally *t;
	struct fault why;
};

int redis_node_open(struct redis_node **out, const struct url *u,
		    uint64_t timeout_ns, const struct stop *stop)
{
	struct redis_node *n = calloc(1, sizeof(*n));
	size_t len = strlen(u->host);
	bool six = u->host[0] == '['; /* brackets are not the resolver's */

	if (!n || !(n->host = strndup(u->host + six, len - 2 * six))) {
		free(n);
		return -ENOMEM;
	}
	n->url = u;
	n->stop = stop;
	n->timeout_ms = (int)(timeout_ns / 1000000);
	n->port = u->port ? u->port : PORT;
	*out = n;
	return 0;
}

static void disconnect(struct redis_node *n)
{
	if (n->c)
		redisFree(n->c);
	n->c = NULL;
}

void redis_node_close(struct redis_node *n)
{
	if (!n)
		return;
	disconnect(n);
	free(n->host);
	free(n->out.text);
	free(n->item);
	free(n->keep);
	free(n);
}

/* Until something of its socket, or the end. -errno; else what there is. */
static int wait_for(const struct redis_node *n, short events, struct fault *f)
{
	struct pollfd p[2] = {{.fd = n->c->fd, .events = events},
			      {.fd = n->stop->fd, .events = POLLIN}};
	int rc = poll(p, 2, n->timeout_ms);

	if (rc == 0)
		return fault_set(f, -EAGAIN, "no answer for %d ms",
				 n->timeout_ms);
	if (rc < 0 || n->stop->now)
		return fault_set(f, -EAGAIN, "it is the end");
	return p[0].revents;
}

/* What a new connection begins with, and is to be answered before items are
 * sent: a server that wants a password takes none for a long command. */
static void greet(struct redis_node *n)
{
	const struct url *u = n->url;

	n->greetings = 1;
	if (u->password) {
		redis_command(&n->out, u->user && *u->user ? 3 : 2);
		redis_text(&n->out, "AUTH");
		if (u->user && *u->user)
			redis_text(&n->out, u->user);
		redis_text(&n->out, u->password);
		n->greetings++;
	}
	if (*u->path) {
		redis_command(&n->out, 2);
		redis_text(&n->out, "SELECT");
		redis_text(&n->out, u->path);
		n->greetings++;
	}
	redis_command(&n->out, 1);
	redis_text(&n->out, "PING");
}

static int connect_to(struct redis_node *n, struct fault *f)
{
	int err = 0, rc;
	socklen_t len = sizeof(err);

	n->c = redisConnectNonBlock(n->host, n->port);
	if (!n->c)
		return fault_set(f, -ENOMEM, "out of memory");
	rc = n->c->err ? fault_set(f, -EAGAIN, "%s:%u: %.128s", n->host,
				   (unsigned)n->port, n->c->errstr)
		       : wait_for(n, POLLOUT, f);
	if (rc >= 0 &&
	    getsockopt(n->c->fd, SOL_SOCKET, SO_ERROR, &err, &len) == 0 && err)
		rc = fault_set(f, -EAGAIN, "%s:%u: %s", n->host,
			       (unsigned)n->port, strerror(err));
	if (rc < 0)
		return rc;
	greet(n);
	return 0;
}

static bool is_any(const char *text, const char *const *begins, unsigned n)
{
	while (n && strncmp(text, begins[n - 1], strlen(begins[n - 1])) != 0)
		n--;
	return n;
}

/* Errors that pass (Redis: server.c), or will once somebody mends what is
 * wrong. What a user may not do is that user's rows' fault: others need not
 * wait. */
static enum fate judge(struct redis_node *n, const char *text)
{
	static const char *const cluster[] = {
		"MOVED ",
		"ASK ",
		"CLUSTERDOWN",
		"TRYAGAIN",
	};
	static const char *const passes[] = {
		"LOADING",
		"MASTERDOWN",
		"READONLY",
		"NOAUTH",
		"WRONGPASS",
		"OOM",
		"NOREPLICAS",
		"BUSY",
		"MISCONF",
		"ERR max number of clients",
		"ERR invalid password",
		"ERR DB index",
		"ERR Client sent AUTH",
		"ERR AUTH",
	};

	fault_set(&n->why, 0, "%.*s", REASON, text);
	if (is_any(text, cluster, sizeof(cluster) / sizeof(*cluster))) {
		fault_set(&n->why, 0,
			  "a node of a Redis Cluster, which is not supported "
			  "(%.*s): take one Redis server, or kafka: or "
			  "clickhouse:",
			  REASON, text);
		return LATER;
	}
	return is_any(text, passes, sizeof(passes) / sizeof(*passes)) ? LATER
								      : REFUSED;
}

/* The last greeting is a PING, which a user may not be allowed. */
static int hear_greeting(struct redis_node *n, const redisReply *reply,
			 struct fault *f)
{
	n->greetings--;
	if (reply->type != REDIS_REPLY_ERROR ||
	    (!n->greetings && !strncmp(reply->str, "NOPERM", 6)))
		return 0;
	return fault_set(f, -EAGAIN, "%.*s", REASON, reply->str);
}

static int hear(struct redis_node *n, const redisReply *reply, struct fault *f)
{
	if (n->greetings)
		return hear_greeting(n, reply, f);
	if (n->read >= n->write)
		return fault_set(f, -EAGAIN, "replies to nothing");
	if (reply->type == REDIS_REPLY_ERROR && n->fate == WRITTEN)
		n->fate = judge(n, reply->str);
	if (++n->heard < n->item[n->read].parts)
		return 0;
	if (n->fate == REFUSED && !n->t->refused++)
		n->t->why = n->why;
	n->t->written += n->fate == WRITTEN;
	n->later |= n->fate == LATER;
	n->keep[n->read++] = n->fate == LATER;
	n->heard = 0;
	n->fate = WRITTEN;
	return 0;
}

static int read_replies(struct redis_node *n, struct fault *f)
{
	void *reply = NULL;
	int rc = 0;

	if (redisBufferRead(n->c) != REDIS_OK)
		return fault_set(f, -EAGAIN, "%.128s", n->c->errstr);
	while (!rc) {
		if (redisGetReplyFromReader(n->c, &reply) != REDIS_OK)
			return fault_set(f, -EAGAIN, "%.128s", n->c->errstr);
		if (!reply)
			break;
		rc = hear(n, reply, f);
		freeReplyObject(reply);
	}
	return rc;
}

/* Items to be sent, one of which is left. */
static bool may_write(const struct redis_node *n)
{
	return !n->greetings && !n->later && n->write < n->items;
}

/* Sends the buffer, and reads what comes meanwhile. */
static int exchange(struct redis_node *n, struct fault *f)
{
	size_t len, at = 0;
	const char *text = outbuf_text(&n->out, &len);
	int rc = text ? 0 : -ENOMEM;
	ssize_t sent;

	while (rc >= 0 && at < len) {
		rc = wait_for(n, POLLIN | POLLOUT, f);
		if (rc >= 0 && (rc & POLLOUT)) {
			sent = send(n->c->fd, text + at, len - at,
				    MSG_NOSIGNAL);
			if (sent < 0 && errno != EAGAIN && errno != EINTR)
				return fault_set(f, -EAGAIN, "%s",
						 strerror(errno));
			at += sent > 0 ? (size_t)sent : 0;
		}
		if (rc >= 0 && (rc & ~POLLOUT))
			rc = read_replies(n, f);
	}
	outbuf_cut(&n->out, 0);
	return rc < 0 ? rc : 0;
}

/* All items; those before are not answered yet when others are sent. */
static int run(struct redis_node *n, struct fault *f)
{
	int rc = n->c ? 0 : connect_to(n, f);

	while (!rc && (n->greetings || n->read < n->write || may_write(n))) {
		while (may_write(n) && outbuf_len(&n->out) < AHEAD) {
			const struct item *i = &n->item[n->write++];

			outbuf_bytes(&n->out, i->payload, i->len);
		}
		if (outbuf_len(&n->out))
			rc = exchange(n, f);
		else if ((rc = wait_for(n, POLLIN, f)) >= 0)
			rc = read_replies(n, f);
	}
	if (rc < 0)
		disconnect(n);
	return rc;
}

/* What is no item is the end of the block. */
static int begin(struct redis_node *n, const struct block *b)
{
	size_t at = b->at;

	if (b->rows > n->room) {
		free(n->item);
		free(n->keep);
		n->item = calloc(b->rows, sizeof(*n->item));
		n->keep = calloc(b->rows, sizeof(*n->keep));
		n->room = n->item && n->keep ? b->rows : 0;
		if (!n->room)
			return -ENOMEM;
	}
	n->items = n->write = n->read = n->heard = n->greetings = 0;
	n->fate = WRITTEN;
	n->later = false;
	outbuf_cut(&n->out, 0);
	while (n->items < b->rows &&
	       item_next(&n->item[n->items], b, &at) > 0 &&
	       n->item[n->items].parts)
		n->keep[n->items++] = true;
	return 0;
}

int redis_node_send(struct redis_node *n, struct block *b, struct tally *t,
		    struct fault *f)
{
	int rc = begin(n, b);
	struct block none = {.rows = b->rows - n->items};

	if (rc < 0)
		return fault_set(f, rc, "out of memory");
	n->t = t;
	rc = n->items ? run(n, f) : 0;
	if (none.rows)
		block_refuse(&none, t, "a block that is none of Redis");
	items_keep(b, n->keep, n->items);
	return !rc && b->rows
		       ? fault_set(f, -EAGAIN, "%.*s", REASON, n->why.text)
		       : rc;
}
