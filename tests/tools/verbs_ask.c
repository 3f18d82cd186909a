/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_ask ADDRESS PORT HEX [COUNT [SECONDS]]: connects through librdmacm with
 * any private data, COUNT times at once, as a host would or should not. Prints
 * for each "accepted HEX" or "rejected HEX", the private data of the answer, 32
 * bytes of it; stays for SECONDS, then leaves without a word.
 */
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum {
	WAIT_MS = 5000,
	SHOWN = 32,
	DATA_MAX = 56, /* of a connection in RDMA_PS_TCP */
};

static size_t hex(uint8_t *out, const char *text)
{
	size_t n = 0;

	for (; n < DATA_MAX && text_hex(&out[n], text, 1); n++)
		text += 2;
	return n;
}

static void show(const char *what, const struct rdma_cm_event *e)
{
	const uint8_t *data = e ? e->param.conn.private_data : NULL;
	size_t n = data ? e->param.conn.private_data_len : 0;

	printf("%s ", what);
	for (size_t i = 0; i < n && i < SHOWN; i++)
		printf("%02x", data[i]);
	putchar('\n');
}

static int ask(struct sockaddr *to, const uint8_t *data, size_t len)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {1, 1, 1, 1, 0},
	};
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = (uint8_t)len,
		.retry_count = 1,
	};
	struct rdma_cm_id *id;

	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, to, WAIT_MS) ||
	    rdma_resolve_route(id, WAIT_MS) || rdma_create_qp(id, NULL, &init))
		return -errno;
	if (!rdma_connect(id, &param)) {
		show("accepted", id->event);
		return 0;
	}
	if (errno != ECONNREFUSED)
		return -errno;
	show("rejected", id->event);
	return 0;
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo want = {.ai_port_space = RDMA_PS_TCP}, *to;
	uint8_t data[DATA_MAX];
	uint64_t count = 1, linger_s = 0;
	int rc = 0;

	if (argc < 4 || (argc > 4 && !text_u64(&count, argv[4], UINT64_MAX)) ||
	    (argc > 5 && !text_u64(&linger_s, argv[5], UINT32_MAX)))
		return 2;
	if (rdma_getaddrinfo(argv[1], argv[2], &want, &to)) {
		perror(argv[1]);
		return 1;
	}
	while (count-- > 0 && !rc)
		rc = ask(to->ai_dst_addr, data, hex(data, argv[3]));
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-rc));
	fflush(NULL);
	sleep((unsigned)linger_s);
	_exit(rc < 0); /* nothing is closed, and nobody is told */
}
