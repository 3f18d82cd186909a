/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP servers that are no good: one that never answers, one that ends in the
 * middle of a request, one that says strange things. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "export/export.h"
#include "row/row.h"
#include "test.h"

enum {
	ROWS = 100,
};

static const struct row_field fields[] = {{"n", ROW_U64, 0}};
static const struct schema schema = {"numbers", fields, 1};

static int listen_on(uint16_t *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	TEST(bind(fd, (struct sockaddr *)&a, len) == 0 && listen(fd, 5) == 0);
	getsockname(fd, (struct sockaddr *)&a, &len);
	*port = ntohs(a.sin_port);
	return fd;
}

static struct row_sink *start(const char *url, uint16_t port, uint64_t end_ns)
{
	struct export_options o = {.queue = {.end_ns = end_ns}};
	struct row_sink *s = NULL;
	struct rows *r;
	struct error err = {""};
	char text[128];

	snprintf(text, sizeof(text), url, port);
	if (!TEST(export_open(&s, text, &o, &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	r = rows_open(s, &schema, 10);
	for (unsigned i = 0; i < ROWS; i++) {
		row_u64(r, 0, i);
		row_end(r);
	}
	rows_close(r);
	return s;
}

static struct queue_status end(struct row_sink *s)
{
	struct queue_status st;

	queue_end(s);
	queue_status(s, &st);
	TEST(ledger_balanced(&queue_ledger, &st.ledger));
	s->close(s);
	return st;
}

/* The kernel takes the request; nobody reads it. */
static void test_stalls(const char *url)
{
	struct queue_status st;
	uint16_t port;
	int fd = listen_on(&port);
	struct row_sink *s = start(url, port, 300000000);

	st = end(s); /* long before its timeout */
	TEST(st.ledger.unsent == ROWS);
	close(fd);
}

static void test_times_out(const char *url)
{
	struct queue_status st;
	uint16_t port;
	int fd = listen_on(&port);
	struct row_sink *s = start(url, port, 1000000000);

	for (st.failing = false; !st.failing; usleep(1000))
		queue_status(s, &st);
	TEST(*st.why.text);
	TEST(end(s).ledger.unsent == ROWS);
	close(fd);
}

static const char *const answers[] = {
	"",		   /* it is gone */
	"HTTP/1.1 204 No", /* in the middle */
	"no HTTP\r\n\r\n", /* strange */
	"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy",
	"HTTP/1.1 302 Go\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", /* no database, */
	"HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n", /* nor is it made */
	"HTTP/1.1 204 Done\r\n\r\n",
};

enum {
	ANSWERS = sizeof(answers) / sizeof(answers[0]),
};

static atomic_uint asked;

/* Takes connections, gives each the next answer to its request, and closes. */
static void *serve(void *arg)
{
	int listener = *(int *)arg, fd;
	char request[4096];

	while (asked < ANSWERS && (fd = accept(listener, NULL, NULL)) >= 0) {
		const char *answer = answers[asked++];

		if (read(fd, request, sizeof(request)) > 0 && *answer)
			TEST(write(fd, answer, strlen(answer)) > 0);
		close(fd);
	}
	return NULL;
}

static void test_answers(const char *url)
{
	struct queue_status st;
	pthread_t thread;
	uint16_t port;
	int fd = listen_on(&port);
	struct row_sink *s;

	asked = 0;
	pthread_create(&thread, NULL, serve, &fd);
	s = start(url, port, UINT64_C(20000000000));
	st = end(s);
	TEST(st.ledger.written == ROWS && st.ledger.retries >= ANSWERS - 2);
	pthread_join(thread, NULL);
	close(fd);
}

int main(void)
{
	test_stalls("influx://127.0.0.1:%u/db?linger=1ms");
	test_stalls("clickhouse://127.0.0.1:%u/db?linger=1ms");
	test_stalls("redis://127.0.0.1:%u?linger=1ms");
	test_times_out("influx://127.0.0.1:%u/db?timeout=50ms&linger=1ms");
	test_times_out("redis://127.0.0.1:%u?timeout=50ms&linger=1ms");
	test_answers(
		"influx://127.0.0.1:%u/db?create=yes&retry=10ms&linger=1ms");
	return test_end();
}
