/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of two nodes of a cluster one does not answer: it is not tried again before
 * four times as long has gone by as it took to find that out, and then it is. A
 * node without any other is tried each time. The clock is the test's.
 */
#include "redis/send.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hash/redis_slot.h"
#include "row/outbuf.h"
#include "test.h"

#define MS UINT64_C(1000000)

enum {
	TIMEOUT_MS = 50,
	PAUSE_MS = 4 * TIMEOUT_MS,
	TEXT = 64,
};

static _Thread_local bool fake; /* the clock of the thread */
static uint64_t now_ns = 1000 * MS;
static uint16_t silent; /* the port of a node */

/* In the place of the C library's. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	if (!fake)
		return (int)syscall(SYS_clock_gettime, id, t);
	t->tv_sec = (time_t)(now_ns / (1000 * MS));
	t->tv_nsec = (long)(now_ns % (1000 * MS));
	return 0;
}

int fake_poll(struct pollfd *fds, nfds_t n, int ms) __asm__("poll");

/* The same: what a node does not say takes as long as it may, no more and no
 * less; for others there is time. */
int fake_poll(struct pollfd *fds, nfds_t n, int ms)
{
	const struct timespec patience = {.tv_sec = 60};
	struct sockaddr_in a = {0};
	socklen_t len = sizeof(a);

	if (!getpeername(fds->fd, (struct sockaddr *)&a, &len) &&
	    ntohs(a.sin_port) == silent && fds->events == POLLIN) {
		now_ns += (uint64_t)ms * MS;
		return 0;
	}
	return (int)syscall(SYS_ppoll, fds, n, &patience, NULL, 0);
}

/* A node: answers PING, and other commands with a text, each on a connection
 * after the other; until it is told to, it only takes connections. */
struct node {
	int fd;
	uint16_t port;
	char text[TEXT];
	pthread_t thread;
};

static void answer(const struct node *n, int fd)
{
	unsigned commands = 0;
	char in[512];
	ssize_t len;

	while ((len = read(fd, in, sizeof(in))) > 0)
		for (ssize_t i = 0; i < len; i++) {
			const char *out = commands ? n->text : "+PONG\r\n";

			if (in[i] != '*')
				continue;
			commands++;
			TEST(write(fd, out, strlen(out)) > 0);
		}
	close(fd);
}

static void *serve(void *arg)
{
	const struct node *n = arg;
	int fd;

	while ((fd = accept(n->fd, NULL, NULL)) >= 0)
		answer(n, fd);
	return NULL;
}

static void node_open(struct node *n)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);

	*n = (struct node){
		.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
	TEST(!bind(n->fd, (struct sockaddr *)&a, len));
	TEST(!getsockname(n->fd, (struct sockaddr *)&a, &len));
	TEST(!listen(n->fd, 100));
	n->port = ntohs(a.sin_port);
}

static void node_answers(struct node *n)
{
	TEST(!fcntl(n->fd, F_SETFL, 0));
	TEST(!pthread_create(&n->thread, NULL, serve, n));
}

static void node_close(struct node *n)
{
	shutdown(n->fd, SHUT_RDWR);
	if (n->thread)
		pthread_join(n->thread, NULL);
	close(n->fd);
}

/* How many have come to a node that does not answer, since the last time. */
static unsigned visits(const struct node *n)
{
	unsigned all = 0;
	int fd;

	while ((fd = accept(n->fd, NULL, NULL)) >= 0) {
		all++;
		close(fd);
	}
	return all;
}

static struct redis_nodes *nodes_of(const struct node *first)
{
	static struct stop stop;
	static struct url u;
	struct redis_nodes *n;
	struct fault f = {0};
	char text[TEXT];

	stop.fd = eventfd(0, EFD_CLOEXEC);
	snprintf(text, sizeof(text), "redis://127.0.0.1:%u",
		 (unsigned)first->port);
	TEST(!url_read(&u, text, &f));
	TEST(!redis_nodes_open(&n, &u, TIMEOUT_MS * MS, &stop));
	return n;
}

static struct block block_of_one(void)
{
	static const struct item item = {"key", "*1\r\n$4\r\nTEST\r\n", 3, 14,
					 1};
	struct outbuf *o = calloc(1, sizeof(*o));
	struct block b = {.rows = 1};

	item_put(o, &item);
	b.bytes = outbuf_take(o, &b.len);
	free(o);
	return b;
}

/* It waits for a node, having been there or not. */
static void waits(struct redis_nodes *n, struct block *b,
		  const struct node *dead, bool there)
{
	struct tally t = {0};
	struct fault f = {0};
	uint64_t began = now_ns;

	b->again = true;
	TEST(redis_nodes_send(n, b, &t, &f) == -EAGAIN);
	TEST(b->rows == 1 && !t.written && !t.refused);
	TEST(visits(dead) == there);
	TEST(now_ns - began == (there ? TIMEOUT_MS * MS : 0));
	if (!TEST(there == !strstr(f.text, "is not there")))
		fprintf(stderr, "%s\n", f.text);
}

static void test_two(void)
{
	struct block b = block_of_one();
	struct node one, other;
	struct redis_nodes *n;
	struct tally t = {0};
	struct fault f = {0};

	node_open(&one);
	node_open(&other);
	snprintf(one.text, TEXT, "-MOVED %u 127.0.0.1:%u\r\n",
		 redis_slot("key", 3), (unsigned)other.port);
	snprintf(other.text, TEXT, "+OK\r\n");
	node_answers(&one);
	silent = other.port;
	n = nodes_of(&one);
	for (unsigned i = 0; i < 3; i++) {
		waits(n, &b, &other, true);
		waits(n, &b, &other, false);
		now_ns += PAUSE_MS * MS - 1;
		waits(n, &b, &other, false);
		now_ns++;
	}
	silent = 0;
	node_answers(&other);
	TEST(!redis_nodes_send(n, &b, &t, &f));
	TEST(!b.rows && t.written == 1);
	redis_nodes_close(n);
	node_close(&one);
	node_close(&other);
	free(b.bytes);
}

static void test_alone(void)
{
	struct block b = block_of_one();
	struct redis_nodes *n;
	struct node dead;

	node_open(&dead);
	silent = dead.port;
	n = nodes_of(&dead);
	for (unsigned i = 0; i < 3; i++)
		waits(n, &b, &dead, true);
	redis_nodes_close(n);
	node_close(&dead);
	free(b.bytes);
}

int main(void)
{
	fake = true;
	test_two();
	test_alone();
	return test_end();
}
