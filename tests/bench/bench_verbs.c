/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs transport without a NIC: libibverbs dispatches to a device of our
 * own that only takes work requests and gives completions. What is left is what
 * the host's CPU does for a report, from the packet to the call of the driver:
 * reports a second, and instructions, counted one by one (ptrace).
 */
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "bench.h"
#include "verbs/verbs_link.h"
#include "region/layout.h"
#include "dta/translate.h"
#include "net/be.h"
#include "net/net.h"

enum {
	FRAME = 128,
	KEY = 13,
	BATCHES = 4096,
	REPORTS = 1 << 16, /* one reporter's numbers, all of them: they go on
			      from round to round, as they do on a wire */
	LIMIT = 400,	   /* instructions a report */
	STEPPED = 256,	   /* reports whose instructions are counted */
};

static struct ibv_context context;
static struct ibv_qp qp = {.context = &context};
static struct ibv_cq cq = {.context = &context};
static struct verbs_queue q;
static struct verbs_transport_ledger ctr;
static uint8_t memory[VERBS_MEMORY];
static const struct ticket_table at[1];
static uint8_t frames[REPORTS + 1][FRAME];
static struct pkt pkts[REPORTS];
static size_t next; /* of them */
static uint64_t taken, given, signalled[VERBS_DEPTH];

_Noreturn static void die(const char *what)
{
	fprintf(stderr, "bench_verbs: %s\n", what);
	exit(1);
}

static int take(struct ibv_qp *pair, struct ibv_send_wr *wr,
		struct ibv_send_wr **bad)
{
	(void)pair;
	(void)bad;
	for (; wr; wr = wr->next)
		if (wr->send_flags & IBV_SEND_SIGNALED)
			signalled[taken++ % VERBS_DEPTH] = wr->wr_id;
	return 0;
}

static int give(struct ibv_cq *queue, int room, struct ibv_wc *wc)
{
	int n = 0;

	(void)queue;
	for (; n < room && given < taken; n++) {
		wc[n].wr_id = signalled[given++ % VERBS_DEPTH];
		wc[n].status = IBV_WC_SUCCESS;
	}
	return n;
}

static uint64_t begin(struct transport *r)
{
	(void)r;
	return 1;
}

static int exec(struct transport *r, const struct op *ops, size_t n,
		uint64_t ts_ns)
{
	(void)r;
	(void)ts_ns;
	verbs_queue_exec(&q, ops, n);
	return 0;
}

static void end(struct transport *r)
{
	(void)r;
}

static struct transport transport = {.begin = begin, .exec = exec, .end = end};

static struct translator *make(const char *kind)
{
	struct error err = {""};
	struct table t = {.id = 1, .name = "keys"};
	struct translator *tr;

	if (layout_set(&t, "kind", kind, &err) < 0 ||
	    layout_set(&t, "key", "flow4", &err) < 0 ||
	    (strcmp(kind, "keyinc") != 0 &&
	     layout_set(&t, "value", "4", &err) < 0) ||
	    layout_set(&t, "copies", "1", &err) < 0 ||
	    layout_set(&t, "memory", "1Gi", &err) < 0 ||
	    table_finish(&t, &err) < 0 ||
	    translate_open(&tr, &t, 1, &transport, NULL, &err) < 0)
		die(err.text);
	context.ops.post_send = take;
	context.ops.poll_cq = give;
	q.qp = &qp;
	q.cq = &cq;
	q.tables = at;
	q.inline_max = VERBS_INLINE;
	q.depth = VERBS_DEPTH;
	q.memory = memory;
	q.ctr = &ctr;
	memset(&ctr, 0, sizeof(ctr));
	taken = given = 0;
	verbs_queue_init(&q);
	return tr;
}

static void make_reports(uint8_t opcode, uint16_t data_len)
{
	struct net_udp4 h = {.src = {10, 0, 1, 1},
			     .dst = {10, 0, 0, 51},
			     .src_port = 50000,
			     .dst_port = DTA_PORT,
			     .ttl = 64};

	next = 0;
	for (unsigned i = 0; i < REPORTS; i++) {
		uint8_t key[16], data[8] = {0}, *p = frames[i + 1];
		struct dta_report r = {.opcode = opcode,
				       .table = 1,
				       .sequence = (uint16_t)i,
				       .key = key,
				       .key_len = KEY,
				       .data = data,
				       .data_len = data_len};
		int len;

		be64_store(key, rng_mix(i + 1));
		be64_store(key + 8, rng_mix(~(uint64_t)i));
		data[7] = (uint8_t)i;
		len = dta_encode(p + 42, FRAME - 42, DTA_FORMAT_1, &r);
		if (len < 0 || net_udp4_encode(p, 42, &h, (size_t)len) < 0)
			die("a report that does not fit");
		pkts[i] = (struct pkt){p, 42u + (uint32_t)len,
				       42u + (uint32_t)len, 0};
	}
}

static void some(struct translator *t, size_t n)
{
	if (translate_rx(t, pkts + next, n) < 0)
		die("translate_rx failed");
	next = (next + n) % REPORTS;
}

static void bench_rate(struct translator *t, const char *path)
{
	double rate[BENCH_ROUNDS];

	for (int r = 0; r < BENCH_ROUNDS; r++) {
		double start = bench_now();

		for (int i = 0; i < BATCHES; i++)
			some(t, PKT_BATCH);
		rate[r] = (double)BATCHES * PKT_BATCH / (bench_now() - start) /
			  1e6;
	}
	verbs_queue_settle(&q);
	if (ctr.completed != translate_counters(t)->received)
		die("the transport lost some");
	bench_row(path, bench_median(rate, BENCH_ROUNDS), 0, NULL);
}

/* Instructions of a child that handles n reports between two stops. */
static long steps(struct translator *t, size_t n)
{
	pid_t child = fork();
	int status;
	long count = 0;

	if (child < 0)
		return -1;
	if (!child) {
		some(t, PKT_BATCH);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(1);
		raise(SIGSTOP);
		some(t, n);
		raise(SIGSTOP);
		_exit(0);
	}
	if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status))
		return -1;
	do {
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) < 0 ||
		    waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status))
			return -1;
		count++;
	} while (WSTOPSIG(status) == SIGTRAP);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return count;
}

/* Returns whether there are few enough. */
static bool bench_steps(struct translator *t, const char *path)
{
	long none = steps(t, 0), all = steps(t, STEPPED);
	double each;

	if (none < 0 || all < 0) {
		fprintf(stderr, "bench_verbs: no ptrace here: instructions "
				"are not counted\n");
		return true;
	}
	each = (double)(all - none) / STEPPED;
	printf("{\"path\":\"%s\",\"instructions\":%.1f,\"limit\":%d,"
	       "\"ratio\":%.3f}\n",
	       path, each, LIMIT, each / LIMIT);
	fflush(stdout);
	return each < LIMIT;
}

int main(void)
{
	struct translator *t = make("keywrite");
	bool good;

	make_reports(DTA_KEYWRITE, 4);
	bench_rate(t, "verbs transport, Key-Write, N = 1, no NIC");
	good = bench_steps(t, "the same: instructions a report (limit: 400)");
	translate_close(t);
	t = make("keyinc");
	make_reports(DTA_KEYINC, 8);
	bench_rate(t, "verbs transport, Key-Increment, N = 1, no NIC");
	good &= bench_steps(t, "the same: instructions a report (limit: 400)");
	translate_close(t);
	return !good;
}
