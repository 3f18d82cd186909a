/* SPDX-License-Identifier: BSD-2-Clause */
#include "region/far_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/put.h"
#include "net/be.h"

static const char magic[4] = {'D', 'T', 'A', 'm'};

/* Reads len bytes. -ENODATA: the input ended before them; -EPIPE: in them. */
static int read_all(int fd, void *buf, size_t len, const atomic_int *stop)
{
	uint8_t *p = buf;

	for (size_t got = 0; got < len;) {
		ssize_t n = read(fd, p + got, len - got);

		if (n > 0)
			got += (size_t)n;
		else if (!n)
			return got ? -EPIPE : -ENODATA;
		else if (errno != EINTR || *stop)
			return -errno;
	}
	return 0;
}

static int write_all(int fd, const void *buf, size_t len, bool is_socket,
		     const atomic_int *stop)
{
	const uint8_t *p = buf;

	while (len) {
		ssize_t n = is_socket ? send(fd, p, len, MSG_NOSIGNAL)
				      : write(fd, p, len);

		if (n < 0 && errno == EINTR && !*stop)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Copies aligned words by atomic loads: other processes may write them. */
static void copy_piece(uint8_t *to, const uint8_t *from, size_t len)
{
	for (; len >= 8 && !((uintptr_t)from & 7);
	     len -= 8, to += 8, from += 8) {
		uint64_t w = __atomic_load_n(
			(const uint64_t *)(const void *)from, __ATOMIC_ACQUIRE);

		memcpy(to, &w, sizeof(w));
	}
	memcpy(to, from, len);
}

/* Makes the answer to a request of n pieces. Returns its length, or -errno. */
static int64_t make_answer(uint8_t *to, const uint8_t *request, uint32_t n,
			   const uint8_t *file, uint64_t size,
			   struct error *err)
{
	uint8_t *p = to + 4;

	for (uint32_t i = 0; i < n; i++, request += FAR_WIRE_PIECE) {
		uint64_t offset = be64_load(request);
		uint32_t len = be32_load(request + 8);

		if (len > FAR_WIRE_BYTES - (size_t)(p - to - 4))
			return error_set(err, -EBADMSG,
					 "a request for too much at once");
		if (offset > size || len > size - offset)
			return error_set(err, -ERANGE,
					 "a request for what is not in the "
					 "region");
		copy_piece(p, file + offset, len);
		p += len;
	}
	be32_store(to, (uint32_t)(p - to - 4));
	return p - to;
}

/* Answers one request. 1; 0 at the end of the input; or -errno. */
static int serve_one(const uint8_t *file, uint64_t size, int in, int out,
		     const atomic_int *stop, uint8_t *request, uint8_t *answer,
		     struct error *err)
{
	int rc = read_all(in, request, 4, stop);
	uint32_t n;
	int64_t len;

	if (rc == -ENODATA)
		return 0;
	n = rc < 0 ? 0 : be32_load(request);
	if (!rc && (!n || n > FAR_WIRE_PIECES))
		return error_set(err, -EBADMSG, "a request that is none");
	if (!rc)
		rc = read_all(in, request, n * FAR_WIRE_PIECE, stop);
	if (rc == -EPIPE || rc == -ENODATA)
		return error_set(err, -EBADMSG, "a request that was cut short");
	if (rc < 0)
		return error_set(err, rc, "%s", strerror(-rc));
	len = make_answer(answer, request, n, file, size, err);
	if (len < 0)
		return (int)len;
	rc = write_all(out, answer, (size_t)len, false, stop);
	return rc < 0 ? error_set(err, rc, "%s", strerror(-rc)) : 1;
}

int far_wire_serve(const uint8_t *file, uint64_t size, int in, int out,
		   const atomic_int *stop, struct error *err)
{
	uint8_t *request = malloc(FAR_WIRE_REQUEST),
		*answer = malloc(4 + FAR_WIRE_BYTES);
	uint8_t hello[FAR_WIRE_HELLO];
	struct put w = put_to(hello, sizeof(hello));
	int rc = -ENOMEM;

	put_bytes(&w, magic, sizeof(magic));
	put_be16(&w, FAR_WIRE_VERSION);
	put_be16(&w, 0);
	put_be64(&w, size);
	if (request && answer)
		rc = write_all(out, hello, sizeof(hello), false, stop);
	if (rc < 0)
		error_set(err, rc, "%s", strerror(-rc));
	else
		do
			rc = serve_one(file, size, in, out, stop, request,
				       answer, err);
		while (rc > 0);
	free(request);
	free(answer);
	return *stop ? 0 : rc;
}

int far_wire_init(struct far_wire *w, int fd, const atomic_int *stop)
{
	*w = (struct far_wire){.fd = fd, .stop = stop};
	w->request = malloc(FAR_WIRE_REQUEST);
	w->answer = malloc(FAR_WIRE_BYTES);
	if (w->request && w->answer)
		return 0;
	far_wire_fini(w);
	return -ENOMEM;
}

void far_wire_fini(struct far_wire *w)
{
	free(w->request);
	free(w->answer);
	w->request = w->answer = NULL;
}

/* Explains why an answer could not be read. */
static int fail_read(int rc, struct error *err)
{
	if (rc == -ENODATA || rc == -ECONNRESET)
		rc = -EPIPE;
	return error_set(err, rc, "%s",
			 rc == -EPIPE ? "an answer was cut short"
				      : strerror(-rc));
}

int far_wire_hello(struct far_wire *w, uint64_t *size, struct error *err)
{
	uint8_t hello[FAR_WIRE_HELLO];
	/* Another program's output may be shorter than a hello. */
	int rc = read_all(w->fd, hello, sizeof(magic), w->stop);

	if (!rc && memcmp(hello, magic, sizeof(magic)) != 0)
		return error_set(err, -EBADMSG,
				 "an answer that is none; a shell there must "
				 "print nothing of its own");
	if (!rc)
		rc = read_all(w->fd, hello + sizeof(magic),
			      sizeof(hello) - sizeof(magic), w->stop);
	if (rc < 0)
		return fail_read(rc, err);
	if (be16_load(hello + 4) != FAR_WIRE_VERSION)
		return error_set(err, -EPROTONOSUPPORT,
				 "its dta-dump serve is of version %u, this "
				 "program knows version %d: install the same "
				 "on both machines",
				 be16_load(hello + 4), FAR_WIRE_VERSION);
	*size = be64_load(hello + 8);
	return 0;
}

/* Makes a request for as many of n pieces as fit. Returns how many; *bytes: the
 * length of their answer. */
static size_t make_request(struct far_wire *w, const struct memory_piece *p,
			   size_t n, size_t *bytes)
{
	struct put q = put_to(w->request, FAR_WIRE_REQUEST);
	size_t i;

	*bytes = 0;
	put_be32(&q, 0);
	for (i = 0; i < n && i < FAR_WIRE_PIECES &&
		    p[i].length <= FAR_WIRE_BYTES - *bytes;
	     i++) {
		put_be64(&q, p[i].offset);
		put_be32(&q, (uint32_t)p[i].length);
		*bytes += p[i].length;
	}
	be32_store(w->request, (uint32_t)i);
	return i;
}

/* Sends one request, and reads its answer into the pieces. Returns how many. */
static int64_t request_pieces(struct far_wire *w, const struct memory_piece *p,
			      size_t n, struct error *err)
{
	const uint8_t *from = w->answer;
	size_t bytes, some = make_request(w, p, n, &bytes);
	uint8_t head[4];
	int rc;

	if (!some)
		return error_set(err, -EINVAL, "a piece is above %d bytes",
				 FAR_WIRE_BYTES);
	rc = write_all(w->fd, w->request, 4 + some * FAR_WIRE_PIECE, true,
		       w->stop);
	if (!rc)
		rc = read_all(w->fd, head, sizeof(head), w->stop);
	if (!rc && be32_load(head) != bytes)
		return error_set(err, -EBADMSG, "an answer that is none");
	if (!rc)
		rc = read_all(w->fd, w->answer, bytes, w->stop);
	if (rc < 0)
		return fail_read(rc, err);
	for (size_t i = 0; i < some; from += p[i++].length)
		memcpy(p[i].to, from, p[i].length);
	return (int64_t)some;
}

int far_wire_read(struct far_wire *w, const struct memory_piece *p, size_t n,
		  struct error *err)
{
	int64_t some = 0;

	for (size_t i = 0; i < n && some >= 0; i += (size_t)some)
		some = request_pieces(w, p + i, n - i, err);
	return some < 0 ? (int)some : 0;
}
