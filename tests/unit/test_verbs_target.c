/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target against a device that fails where it is told to, and says what
 * soft-RoCE never says: queue pairs are made again, nothing is left over, what
 * was told adds up, and a device or an address that is gone is its end. The
 * real stack's turn is tests/rxe.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "fake_device.h"
#include "verbs/verbs_target_private.h"
#include "store_sample.h"
#include "net/proto.h"
#include "region_sums.h"

static struct region *region;
static const char *name;
static char told[4096];
static struct error ended; /* why there is no more work */
static bool readable;

static void tell(void *ctx, const char *text)
{
	size_t n = strlen(told);

	(void)ctx;
	snprintf(told + n, sizeof(told) - n, "%s\n", text);
}

static bool was_told(const char *text)
{
	bool yes = strstr(told, text);

	if (!yes)
		fprintf(stderr, "told: %s", told);
	told[0] = '\0';
	return yes;
}

static int open_target(struct verbs_target **v, const char *device,
		       struct error *err)
{
	static const struct ticket at = {
		.version = 4,
		.peer_ip = {10, 0, 0, 101},
		.peer_mac = {2, 0, 0, 0, 0, 1},
	};
	struct verbs_target_options o = {
		.device = device,
		.want = &at,
		.peer = true,
		.readable = readable,
		.warn = tell,
	};

	*v = NULL;
	err->text[0] = told[0] = '\0';
	return verbs_target_open(v, region, &o, err);
}

/* A tick is due. Returns whether there is a new ticket. */
static int work(struct verbs_target *v)
{
	v->ticked_ms = v->remake_ms = 0;
	return verbs_target_work(v, &ended);
}

static bool ended_with(const char *text)
{
	bool yes = strstr(ended.text, text) &&
		   strstr(ended.text, "start again when it is back");

	if (!yes)
		fprintf(stderr, "ended: %s\n", ended.text);
	return yes;
}

static bool adds_up(const struct verbs_target *v)
{
	return ledger_balanced(&verbs_target_ledger, &v->ctr);
}

static void test_ticket(void)
{
	const struct ticket *t;
	struct pollfd fds[VERBS_TARGET_FDS];
	struct verbs_target *v;
	struct error err;

	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	t = verbs_target_ticket(v);
	TEST(t && t->n == SAMPLE_TABLES && t->epoch == region_epoch(region));
	TEST(t->ip[0] == 10 && t->ip[3] == 51 && t->mtu == 1024);
	for (unsigned i = 0; t && i < t->n; i++) {
		TEST(t->at[i].qpn == 0x20 + i && t->at[i].rkey == 0x100 + i);
		TEST(t->at[i].psn == fake.pair[i]->psn);
		TEST(t->at[i].lasting && t->at[i].first_psn == t->at[i].psn);
		TEST((const uint8_t *)(uintptr_t)t->at[i].address ==
		     region_read(region, &t->table[i], t->epoch));
		TEST(fake.pair[i]->receives == 50); /* all it takes */
		TEST(fake.pair[i]->qp.state == IBV_QPS_RTR);
	}
	TEST(verbs_target_fds(v, fds) == 2);
	TEST(work(v) == 0 && !told[0]);
	verbs_target_close(v);
	TEST(!fake.alive);
}

/* Whichever call fails: said why, and nothing is left. */
static void test_failing(void)
{
	struct verbs_target *v;
	unsigned calls;
	struct error err;

	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	calls = fake.calls;
	verbs_target_close(v);
	TEST(calls > 40);
	for (unsigned i = 1; i <= calls; i++) {
		fake_init();
		fake.fails = i;
		TEST(open_target(&v, "fake0", &err) < 0 && err.text[0]);
		TEST(!fake.alive && !v);
	}
	TEST(region_live_writers(region) == 0);
}

static void test_refusals(void)
{
	struct table *t = (struct table *)region_table(region, SAMPLE_LOSS);
	const struct table was = *t;
	struct verbs_target *v;
	struct error err;

	fake_init();
	fake.attr.atomic_cap = IBV_ATOMIC_NONE;
	TEST(open_target(&v, "fake0", &err) == -ENOTSUP);
	TEST(strstr(err.text, "fake0: table sums") &&
	     strstr(err.text, "no atomic operations"));
	fake.attr.atomic_cap = IBV_ATOMIC_GLOB;
	t->qp = TABLE_QP_UC; /* what the port's packets would cut */
	t->stride = 20;
	t->batch = 64;
	TEST(open_target(&v, "fake0", &err) == -EINVAL && !fake.alive);
	TEST(strstr(err.text, "fake0: table loss: qp: packets of 1024") !=
	     NULL);
	*t = was;
	TEST(open_target(&v, "mlx5_0", &err) == -ENODEV);
	TEST(strstr(err.text, "there are: fake0") != NULL);
	fake.there = false;
	TEST(open_target(&v, "fake0", &err) == -ENODEV);
	TEST(strstr(err.text, "modprobe") != NULL);
	fake.there = true;
	fake.gid_index = 0;
	TEST(open_target(&v, "fake0", &err) == -EADDRNOTAVAIL);
	TEST(!fake.alive);
}

/* Made again, once, alone; the ticket has the new one. */
static void one_died(struct verbs_target *v, unsigned table)
{
	struct ticket_table before[SAMPLE_TABLES];
	const struct ticket *t = verbs_target_ticket(v);
	uint64_t errors = v->ctr.qp_errors;

	memcpy(before, t->at, sizeof(before));
	TEST(work(v) == 1);
	t = verbs_target_ticket(v);
	for (unsigned i = 0; i < t->n; i++) {
		TEST((t->at[i].qpn != before[i].qpn) == (i == table));
		TEST(t->at[i].rkey == before[i].rkey);
	}
	TEST(v->ctr.qp_errors == errors + 1);
	TEST(strstr(told, "is dead") && was_told("made again as"));
	TEST(work(v) == 0 && adds_up(v));
}

static struct fake_qp *pair_of(const struct verbs_target *v, unsigned table)
{
	return (struct fake_qp *)v->pair[table].qp;
}

static void test_deaths(void)
{
	struct verbs_target *v;
	struct error err;

	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	fake_tells(IBV_EVENT_QP_FATAL, pair_of(v, 2));
	one_died(v, 2);
	fake_tells(IBV_EVENT_QP_ACCESS_ERR, pair_of(v, 2));
	fake_tells(IBV_EVENT_QP_REQ_ERR, pair_of(v, 2));
	one_died(v, 2);
	fake_completes(pair_of(v, 0), IBV_WC_WR_FLUSH_ERR, 0);
	fake_completes(pair_of(v, 0), IBV_WC_LOC_LEN_ERR, 0);
	one_died(v, 0);
	TEST(v->ctr.flushed == 1 && v->ctr.failed == 1);
	pair_of(v, 4)->qp.state = IBV_QPS_ERR; /* and nobody says so */
	one_died(v, 4);
	verbs_target_close(v);
	TEST(!fake.alive);
}

static void test_immediates(void)
{
	uint64_t notified = region_notified(region);
	struct verbs_target *v;
	uint32_t imm = 0;
	struct error err;

	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	pair_of(v, 1)->receives -= 3;
	for (unsigned i = 0; i < 3; i++)
		fake_completes(pair_of(v, 1), IBV_WC_SUCCESS, 0x20007 + i);
	TEST(work(v) == 0);
	TEST(v->ctr.immediates == 3 && adds_up(v));
	TEST(pair_of(v, 1)->receives == 50); /* posted again */
	TEST(region_notified(region) == notified + 3);
	TEST(region_immediate(region, notified + 3, &imm) == 0);
	TEST(imm == 0x20009);
	verbs_target_close(v);
}

/*
 * A SEND may have an immediate, too, and asks for no right to write: who only
 * reads could wake whom he likes with it.
 */
static void test_send_with_immediate(void)
{
	uint64_t notified = region_notified(region);
	struct verbs_target *v;
	struct error err;

	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	fake_completes(pair_of(v, 1), IBV_WC_SUCCESS, 0x20007);
	fake.done[fake.dones - 1].wc.opcode = IBV_WC_RECV;
	TEST(work(v) == 0);
	TEST(v->ctr.immediates == 0 && v->ctr.failed == 1 && adds_up(v));
	TEST(region_notified(region) == notified);
	verbs_target_close(v);
}

/* It cannot be made again at once: no ticket till it can, told of once. */
static void test_slow_mending(void)
{
	struct verbs_target *v;
	struct error err;

	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	fake_tells(IBV_EVENT_QP_FATAL, pair_of(v, 3));
	for (unsigned i = 0; i < 3; i++) {
		/* CQ, pair, notification, INIT, 50 posts; then RTR fails. */
		fake.with = ETIMEDOUT;
		fake.fails = fake.calls + 55;
		TEST(work(v) == 0 && !pair_of(v, 3));
		if (!i)
			TEST(was_told("answers no ARP"));
		TEST(!told[0]); /* once */
	}
	fake.fails = 0;
	TEST(work(v) == 1 && pair_of(v, 3));
	TEST(v->ctr.qp_errors == 1 && v->ctr.qp_made == 1);
	verbs_target_close(v);
	TEST(!fake.alive);
}

static void test_port(void)
{
	struct verbs_target *v;
	struct error err;

	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	fake_tells(IBV_EVENT_PORT_ACTIVE, NULL); /* of before we came */
	TEST(work(v) == 0 && !told[0] && !v->ctr.port_up);
	fake_tells(IBV_EVENT_PORT_ERR, NULL);
	TEST(work(v) == 0 && was_told("port 1 is down"));
	fake_tells(IBV_EVENT_PORT_ACTIVE, NULL);
	TEST(work(v) == 0 && was_told("port 1 is up again"));
	TEST(v->ctr.port_up == 1 && v->ctr.port_down == 1);
	/* Other addresses come and go. */
	fake_tells(IBV_EVENT_GID_CHANGE, NULL);
	TEST(work(v) == 0 && !told[0]);
	verbs_target_close(v);
	TEST(!fake.alive);
}

/*
 * The end of a target: said what is gone, and what to do; the ticket stays. The
 * next one has the same region, and queue pairs of its own.
 */
static void ends(struct verbs_target *v, int rc, const char *text)
{
	struct verbs_target *next;
	struct error err;

	TEST(work(v) == rc && ended_with(text));
	TEST(work(v) == rc && !told[0] && adds_up(v));
	TEST(verbs_target_ticket(v)->at[0].qpn == 0x20);
	verbs_target_close(v);
	TEST(!fake.alive && region_live_writers(region) == 0);
	TEST(open_target(&next, "fake0", &err) < 0);
	fake.there = true;
	fake.gid_index = 5;
	strcpy(fake.dev.dev_path, "/dev/null");
	TEST(open_target(&next, "fake0", &err) == 0);
	TEST(verbs_target_ticket(next)->at[0].qpn == 0x20 + SAMPLE_TABLES);
	TEST(verbs_target_ticket(next)->epoch == region_epoch(region));
	TEST(work(next) == 0);
	verbs_target_close(next);
	TEST(!fake.alive);
}

static void test_address_gone(void)
{
	static const char text[] = "fake0: address 10.0.0.51 is gone";
	struct verbs_target *v;
	struct error err;

	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	fake.gid_index = 0;
	fake_tells(IBV_EVENT_GID_CHANGE, NULL);
	ends(v, -EADDRNOTAVAIL, text);
	/* In another place: the queue pairs are tied to the old one. */
	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	fake.gid_index = 5;
	fake_tells(IBV_EVENT_PORT_ACTIVE, NULL);
	TEST(work(v) == -EADDRNOTAVAIL && ended_with(text));
	verbs_target_close(v);
	TEST(!fake.alive);
}

static void test_device_gone(void)
{
	static const char text[] = "fake0: the device is gone";
	struct verbs_target *v;
	struct error err;

	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	fake_tells(IBV_EVENT_DEVICE_FATAL, NULL);
	fake.there = false;
	ends(v, -ENODEV, text);
	/* One that only leaves its place in /sys. */
	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	strcpy(fake.dev.dev_path, "/nowhere");
	fake.there = false;
	ends(v, -ENODEV, text);
}

/* The rotation of another process ends when the old keys have gone. */
static void test_rotation(void)
{
	uint64_t epoch = region_epoch(region);
	struct verbs_target *v;
	struct error err;
	uint32_t rkey, psn;
	int status;
	pid_t pid;

	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	rkey = verbs_target_ticket(v)->at[0].rkey;
	psn = verbs_target_ticket(v)->at[0].psn;
	fake.pair[0]->psn = (psn + 9) & ROCE_PSN_MASK; /* of 9 packets */
	v->o.grace_ms = 3600000;
	pid = fork();
	if (!pid)
		_exit(region_rotate(region, NULL, NULL) < 0);
	while (region_epoch(region) == epoch)
		sched_yield();
	TEST(work(v) == 1 && was_told("epoch"));
	TEST(verbs_target_ticket(v)->epoch == epoch + 1);
	TEST(verbs_target_ticket(v)->at[0].rkey != rkey);
	/* The queue pair lives on. */
	TEST(verbs_target_ticket(v)->at[0].psn == ((psn + 9) & ROCE_PSN_MASK));
	TEST(verbs_target_ticket(v)->at[0].lasting &&
	     verbs_target_ticket(v)->at[0].first_psn == psn);
	TEST(v->old.n == SAMPLE_TABLES && v->old.mr[0]->rkey == rkey);
	TEST(work(v) == 0);
	TEST(waitpid(pid, &status, WNOHANG) == 0); /* it waits for us */
	v->old_until_ms = 0;
	TEST(work(v) == 0 && !v->old.n);
	TEST(waitpid(pid, &status, 0) == pid && status == 0);
	/* The epoch's keys are of its own set. */
	TEST(v->current.mr[0]->addr ==
	     region_read(region, region_table(region, 0), epoch + 1));
	verbs_target_close(v);
	TEST(!fake.alive && region_live_writers(region) == 0);
}

static void test_renew(void)
{
	struct verbs_target *v;
	struct error err;

	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	verbs_target_renew(v);
	TEST(work(v) == 1 && v->ctr.qp_made == SAMPLE_TABLES);
	TEST(v->ctr.qp_errors == 0 && v->ctr.tickets == 2);
	TEST(!strstr(told, "is dead"));
	TEST(work(v) == 0);
	verbs_target_close(v);
	TEST(!fake.alive);
}

/* Readers can only read; and what others are given cannot be read. */
static void test_readable(void)
{
	struct verbs_target *v;
	struct error err;

	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	TEST(!v->readable && !(fake.given & IBV_ACCESS_REMOTE_READ));
	verbs_target_close(v);
	readable = true;
	fake_init();
	TEST(open_target(&v, "fake0", &err) == 0);
	TEST(fake.access == IBV_ACCESS_REMOTE_READ);
	TEST(v->readable->addr == region_file(region));
	TEST(v->readable->length == region_size(region));
	for (unsigned i = 0; i < SAMPLE_TABLES; i++)
		TEST(v->current.mr[i]->rkey != v->readable->rkey);
	verbs_target_close(v);
	TEST(!fake.alive);
	test_failing();
	readable = false;
}

int main(void)
{
	name = sample_create(2);
	region = sample_open(name, true);
	test_ticket();
	test_failing();
	test_refusals();
	test_deaths();
	test_immediates();
	test_send_with_immediate();
	test_slow_mending();
	test_port();
	test_address_gone();
	test_device_gone();
	test_rotation();
	test_renew();
	test_readable();
	region_close(region);
	region_remove(name, NULL);
	return test_end();
}
