/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A region over a pair of descriptors. The first byte picks whose word the rest
 * is: of who asks, and gets nothing that is not in the file; or of what answers
 * in a collector's place.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "region/far_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	FILE_LEN = 5000,
	SAID_MAX = 8192,
};

static const atomic_int never;

/* What is asked is all there at once, what is answered is not looked at. */
static void serve(const uint8_t *data, size_t size)
{
	uint8_t *file = malloc(FILE_LEN); /* its bounds are watched */
	int in = memfd_create("fuzz", 0), out = memfd_create("fuzz", 0);

	if (!file || in < 0 || out < 0 ||
	    write(in, data, size) != (ssize_t)size || lseek(in, 0, SEEK_SET))
		abort();
	memset(file, 0x55, FILE_LEN);
	far_wire_serve(file, FILE_LEN, in, out, &never, NULL);
	close(in);
	close(out);
	free(file);
}

static int read_wire(void *ctx, const struct memory_piece *p, size_t n,
		     struct error *err)
{
	return far_wire_read(ctx, p, n, err);
}

static void close_wire(void *ctx)
{
	(void)ctx;
}

static void ask(const uint8_t *data, size_t size)
{
	struct far_wire w;
	struct memory_link link = {read_wire, close_wire, &w};
	struct memory *m;
	struct error err = {""};
	int pair[2];

	size = size < SAID_MAX ? size : SAID_MAX; /* what a socket takes */
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 ||
	    far_wire_init(&w, pair[0], &never) < 0 ||
	    write(pair[1], data, size) != (ssize_t)size)
		abort();
	shutdown(pair[1], SHUT_WR);
	if (far_wire_hello(&w, &link.size, &err) == 0 &&
	    memory_open_link(&m, "there", &link, &never, &err) == 0)
		memory_close(m);
	else if (!*err.text)
		abort();
	far_wire_fini(&w);
	close(pair[0]);
	close(pair[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (*data & 1)
		serve(data + 1, size - 1);
	else
		ask(data + 1, size - 1);
	return 0;
}
