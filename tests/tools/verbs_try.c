/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_try ADDRESS PORT HEX OPERATION [RKEY ADDRESS]: connects through
 * librdmacm with this private data and tries one operation of 8 bytes: read,
 * write or add. Where: at the R_Key (hex) and address (hex) of the answer, or
 * at those given. Prints "RKEY ADDRESS: STATUS", in libibverbs' words.
 */
#include <endian.h>
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
	ASK_MAX = 56, /* private data of a connection in RDMA_PS_TCP */
	ANSWER = 24,  /* what is looked at of the answer */
};

static struct rdma_cm_id *knock(struct sockaddr *to, const char *text)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {1, 1, 1, 1, 0},
		.sq_sig_all = 1,
	};
	uint8_t data[ASK_MAX];
	struct rdma_conn_param param = {
		.private_data = data,
		.initiator_depth = 1,
		.retry_count = 1,
	};
	struct rdma_cm_id *id;

	while (param.private_data_len < ASK_MAX &&
	       text_hex(&data[param.private_data_len], text, 1)) {
		param.private_data_len++;
		text += 2;
	}
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, to, WAIT_MS) ||
	    rdma_resolve_route(id, WAIT_MS) ||
	    rdma_create_qp(id, NULL, &init) || rdma_connect(id, &param))
		return NULL;
	return id;
}

static int attempt(struct rdma_cm_id *id, const char *what, uint32_t rkey,
		   uint64_t at, struct ibv_wc *wc)
{
	static uint64_t word = UINT64_C(0x0123456789abcdef);
	struct ibv_mr *mr = ibv_reg_mr(id->pd, &word, sizeof(word),
				       IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge = {(uintptr_t)&word, sizeof(word), 0};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	if (!mr)
		return -errno;
	sge.lkey = mr->lkey;
	wr.wr.rdma.remote_addr = at;
	wr.wr.rdma.rkey = rkey;
	wr.opcode = *what == 'r' ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
	if (*what == 'a') {
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.wr.atomic.remote_addr = at;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.rkey = rkey;
	}
	if (ibv_post_send(id->qp, &wr, &bad))
		return -errno;
	return rdma_get_send_comp(id, wc) < 0 ? -errno : 0;
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo want = {.ai_port_space = RDMA_PS_TCP}, *to;
	struct rdma_cm_id *id;
	struct ibv_wc wc;
	uint32_t rkey;
	uint64_t at;

	if (argc < 5)
		return 2;
	if (rdma_getaddrinfo(argv[1], argv[2], &want, &to) ||
	    !(id = knock(to->ai_dst_addr, argv[3])) ||
	    id->event->param.conn.private_data_len < ANSWER) {
		perror(argv[1]);
		return 1;
	}
	memcpy(&rkey, (uint8_t *)id->event->param.conn.private_data + 8, 4);
	memcpy(&at, (uint8_t *)id->event->param.conn.private_data + 16, 8);
	rkey = be32toh(rkey);
	at = be64toh(at);
	if (argc > 6) {
		rkey = (uint32_t)strtoul(argv[5], NULL, 16);
		at = strtoull(argv[6], NULL, 16);
	}
	if (attempt(id, argv[4], rkey, at, &wc) < 0) {
		perror(argv[4]);
		return 1;
	}
	printf("%08x %llx: %s\n", rkey, (unsigned long long)at,
	       ibv_wc_status_str(wc.status));
	rdma_disconnect(id);
	fflush(NULL);
	_exit(0); /* nothing else is put away */
}
