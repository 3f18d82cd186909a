/* SPDX-License-Identifier: BSD-2-Clause */
/* What is posted is packed and says so, unless the URL does not want it: a
 * server here reads the bodies. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "export/export.h"
#include "row/row.h"
#include "test.h"

enum {
	ROWS = 100,
	REQUEST_MAX = 1 << 16,
	GZIP_WINDOW = 15 + 16, /* zlib: a gzip header */
};

static const struct row_field fields[] = {{"n", ROW_U64, 0}};
static const struct schema schema = {"numbers", fields, 1};

static const char *done;	  /* what the server answers */
static atomic_uint packed, plain; /* requests */
static char text[REQUEST_MAX];	  /* of all bodies */
static size_t text_len;

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

/* A request as far as it comes; *body: where its body is. Its length. */
static size_t read_request(int fd, char *buf, char **body)
{
	size_t len = 0, want = REQUEST_MAX - 1;
	ssize_t n;

	*body = NULL;
	while (len < want && (n = read(fd, buf + len, want - len)) > 0) {
		const char *length;

		buf[len += (size_t)n] = '\0';
		if (*body || !(*body = strstr(buf, "\r\n\r\n")))
			continue;
		*body += 4;
		length = strstr(buf, "Content-Length: ");
		if (TEST(length != NULL))
			want = (size_t)(*body - buf) +
			       strtoul(length + 16, NULL, 10);
	}
	return len;
}

static void keep_packed(char *body, size_t len)
{
	z_stream z = {.next_in = (Bytef *)body,
		      .avail_in = (uInt)len,
		      .next_out = (Bytef *)text + text_len,
		      .avail_out = (uInt)(sizeof(text) - text_len)};

	TEST(inflateInit2(&z, GZIP_WINDOW) == Z_OK);
	TEST(inflate(&z, Z_FINISH) == Z_STREAM_END && !z.avail_in);
	text_len += z.total_out;
	inflateEnd(&z);
	packed++;
}

static void keep_plain(const char *body, size_t len)
{
	if (!TEST(len <= sizeof(text) - text_len))
		return;
	memcpy(text + text_len, body, len);
	text_len += len;
	plain++;
}

static void *serve(void *arg)
{
	static char buf[REQUEST_MAX];
	int listener = *(int *)arg, fd;
	char *body;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		size_t len = read_request(fd, buf, &body);

		if (body && strstr(buf, "Content-Encoding: gzip\r\n"))
			keep_packed(body, len - (size_t)(body - buf));
		else if (body)
			keep_plain(body, len - (size_t)(body - buf));
		TEST(write(fd, done, strlen(done)) > 0);
		close(fd);
	}
	return NULL;
}

static void put_rows(struct row_sink *s)
{
	struct rows *r = rows_open(s, &schema, 10);

	for (unsigned i = 0; i < ROWS; i++) {
		row_u64(r, 0, i);
		row_end(r);
	}
	rows_close(r);
}

/* All rows come, in order, each a line with its number behind what is told. */
static void check(const char *url, const char *before)
{
	struct export_options o = {.queue = {.end_ns = 20000000000}};
	struct queue_status st;
	struct row_sink *s;
	struct fault f = {0};
	pthread_t thread;
	uint16_t port;
	int fd = listen_on(&port);
	char where[128];
	const char *at = text;

	/* as either of them says it */
	done = url[0] == 'i' ? "HTTP/1.1 204 Done\r\nConnection: close\r\n\r\n"
			     : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
			       "Connection: close\r\n\r\n";
	packed = plain = 0;
	memset(text, 0, sizeof(text));
	text_len = 0;
	pthread_create(&thread, NULL, serve, &fd);
	snprintf(where, sizeof(where), url, port);
	TEST(export_open(&s, where, &o, &f) == 0);
	put_rows(s);
	queue_end(s);
	queue_status(s, &st);
	s->close(s);
	shutdown(fd, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(fd);
	TEST(st.ledger.written == ROWS);
	TEST(packed && !plain);
	for (unsigned i = 0; i < ROWS && at; i++, at = strchr(at, '\n')) {
		at = strstr(at, before);
		if (TEST(at != NULL))
			TEST(strtoul(at + strlen(before), NULL, 10) == i);
	}
}

int main(void)
{
	check("influx://127.0.0.1:%u/db", "numbers n=");
	check("clickhouse://127.0.0.1:%u/db", "{\"n\":");
	return test_end();
}
