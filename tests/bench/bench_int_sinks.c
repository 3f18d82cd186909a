/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ingest beside sinks: a file, Redis if it is installed, a server that never
 * answers, and one that is away. The limit is the same with rows thrown away;
 * both are frames a second of the ingest's own processor time, so that other
 * threads and machines' neighbours are not in it. And how fast Redis takes our
 * commands, beside redis-benchmark with the same command.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "export/export.h"
#include "frames.h"
#include "int/frame_decoder.h"
#include "telemetry/sink.h"

enum {
	ROUNDS = 2 * BENCH_ROUNDS,
	BATCHES = 1600, /* of 256 events, to Redis, a round */
	COMMANDS = BATCHES * 256,
	REDIS_ROUNDS = 3,
};

/* A quarter of the frames has an event: 1.6 M of 6.6 M a second. */
static const char options[] = "-p 2.1 --instructions 0xb100 --hops 5 -n 20K";

static int throw_away(struct row_sink *s, struct row_batch *b)
{
	(void)s;
	row_batch_clear(b);
	return 0;
}

static int nothing(struct row_sink *s)
{
	(void)s;
	return 0;
}

static struct row_sink away = {throw_away, nothing, nothing};

static int take(void *t, const struct int_record *v, size_t n)
{
	return telemetry_add_records(t, v, n);
}

struct ingest {
	struct telemetry *t;
	struct int_frame_decoder *in;
};

static void ingest_open(struct ingest *g, struct row_sink *to)
{
	struct telemetry_sinks sinks = {{to, to}};
	struct int_frame_decoder_options io = {
		.profile = int_profile_named("any"), .records = take};
	struct telemetry_thresholds th = {0};
	struct telemetry_options o;

	for (int m = 0; m < NUMERIC_METRICS; m++)
		th.all[m].change = 9500;
	telemetry_defaults(&o);
	if (telemetry_open(&g->t, &o, &th, &sinks) < 0)
		bench_die("no telemetry");
	io.ctx = g->t;
	if (int_frame_decoder_open(&g->in, &io) < 0)
		bench_die("no intake");
}

static void ingest_close(struct ingest *g)
{
	int_frame_decoder_close(g->in);
	telemetry_close(g->t);
}

static double busy(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds of this thread. */
static double take_all(struct ingest *g, const struct frames *fs)
{
	double t = busy();

	for (size_t i = 0; i < fs->n; i += PKT_BATCH)
		if (int_decode_frames(g->in, fs->pkt + i, PKT_BATCH))
			bench_die("a row sink failed");
	return busy() - t;
}

static struct row_sink *open_sink(const char *url, uint64_t bytes)
{
	struct export_options o = {.queue = {.bytes = bytes, .end_ns = 1}};
	struct row_sink *s;
	struct error err = {0};

	if (export_open(&s, url, &o, &err) < 0)
		bench_die(err.text);
	return s;
}

static void beside(const struct frames *fs, const char *name, const char *url)
{
	double rate[ROUNDS], limit[ROUNDS];
	struct ingest with, without;
	struct row_sink *s = open_sink(url, 0);
	struct queue_status st;
	char path[128];

	ingest_open(&with, s);
	ingest_open(&without, &away);
	take_all(&with, fs);
	take_all(&without, fs);
	for (int i = 0; i < ROUNDS; i++) {
		limit[i] = FRAMES / take_all(&without, fs);
		rate[i] = FRAMES / take_all(&with, fs);
	}
	ingest_close(&with);
	ingest_close(&without);
	queue_end(s);
	queue_status(s, &st);
	snprintf(path, sizeof(path), "INT ingest beside %s", name);
	bench_row(path, bench_median(rate, ROUNDS) / 1e6,
		  bench_median(limit, ROUNDS) / 1e6, NULL);
	fprintf(stderr, "%s: %.3f rows a frame, %.0f%% of them found no room\n",
		path, (double)st.ledger.rows / ((ROUNDS + 1) * FRAMES),
		100.0 * (double)st.ledger.full / (double)st.ledger.rows);
	s->close(s);
}

/* A socket that listens, and accepts nobody; or is closed again: its port. */
static uint16_t listener(bool stays)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 ||
	    listen(fd, 8) < 0 || getsockname(fd, (struct sockaddr *)&a, &len))
		bench_die("no socket");
	if (!stays)
		close(fd);
	return ntohs(a.sin_port);
}

static void beside_port(const struct frames *fs, const char *name,
			uint16_t port)
{
	char url[64];

	snprintf(url, sizeof(url), "redis://127.0.0.1:%u", port);
	beside(fs, name, url);
}

/* What a command prints, to its last newline; false: nothing. */
static bool said(char *to, size_t size, const char *command)
{
	FILE *p = popen(command, "r");
	size_t n = p ? fread(to, 1, size - 1, p) : 0;

	to[n] = '\0';
	return p && !pclose(p) && n;
}

static pid_t redis_start(uint16_t port)
{
	char number[8], command[128], text[64];
	pid_t pid;

	if (!said(text, sizeof(text), "command -v redis-server") ||
	    !said(text, sizeof(text), "command -v redis-benchmark"))
		return 0;
	snprintf(number, sizeof(number), "%u", port);
	if (!(pid = fork())) {
		if (freopen("/dev/null", "w", stdout))
			execlp("redis-server", "redis-server", "--port", number,
			       "--save", "", "--appendonly", "no", NULL);
		_exit(1);
	}
	snprintf(command, sizeof(command),
		 "timeout 10 sh -c 'until redis-cli -p %u ping 2>&1 | grep "
		 "PONG; do sleep 0.1; done'",
		 port);
	if (!said(text, sizeof(text), command))
		bench_die("redis-server does not start");
	return pid;
}

/* Rows of events, kept as they come. */
struct kept {
	struct row_sink sink;
	struct row_batch batch[BATCHES];
	unsigned n, rows;
};

static int keep_rows(struct row_sink *s, struct row_batch *b)
{
	struct kept *k = (struct kept *)s;

	if (k->n < BATCHES && row_batch_copy(&k->batch[k->n], b))
		bench_die("out of memory");
	k->rows += k->n < BATCHES ? k->batch[k->n++].rows : 0;
	return 0;
}

static void keep_events(struct kept *k, const struct frames *fs)
{
	struct ingest g;

	k->sink = (struct row_sink){keep_rows, nothing, nothing};
	ingest_open(&g, &k->sink);
	while (k->n < BATCHES)
		take_all(&g, fs);
	ingest_close(&g);
}

/* They are put as fast as they are taken; a second. */
static double events_rate(const struct kept *k, const char *url)
{
	struct row_sink *s = open_sink(url, UINT64_C(2) << 30);
	struct queue_status st = {0};
	double t = bench_now(), took;

	for (unsigned i = 0; i < k->n; i++)
		s->put(s, (struct row_batch *)&k->batch[i]);
	while (st.ledger.written < k->rows) {
		if (st.ledger.full || st.ledger.refused)
			bench_die("rows were not taken");
		usleep(1000);
		queue_status(s, &st);
	}
	took = bench_now() - t;
	s->close(s);
	return k->rows / took;
}

/* The same command by redis-benchmark: of the last row. */
static double benchmark_rate(uint16_t port)
{
	char text[4096], command[8192], *line = text, *rest;
	int n;

	snprintf(command, sizeof(command),
		 "redis-cli -p %u XREVRANGE int_event + - COUNT 1", port);
	if (!said(text, sizeof(text), command))
		bench_die("Redis has no rows");
	n = snprintf(
		command, sizeof(command),
		"redis-benchmark -p %u -P 64 -n %d --csv XADD int_event '*'",
		port, COMMANDS);
	strtok_r(text, "\n", &rest); /* its id */
	while ((line = strtok_r(NULL, "\n", &rest)))
		n += snprintf(command + n, sizeof(command) - (size_t)n, " '%s'",
			      line);
	n += snprintf(command + n, sizeof(command) - (size_t)n,
		      " | tail -n 1 | sed 's/\",\"/\\n/g' | sed -n 2p");
	if (n >= (int)sizeof(command) || !said(text, sizeof(text), command))
		bench_die("redis-benchmark");
	return atof(text);
}

static void redis(const struct frames *fs)
{
	static struct kept k;
	double rate[REDIS_ROUNDS], limit[REDIS_ROUNDS];
	uint16_t port = listener(false);
	pid_t pid = redis_start(port);
	char url[64];

	if (!pid)
		return;
	beside_port(fs, "Redis", port);
	snprintf(url, sizeof(url), "redis://127.0.0.1:%u", port);
	keep_events(&k, fs);
	for (int i = 0; i < REDIS_ROUNDS; i++) {
		rate[i] = events_rate(&k, url);
		limit[i] = benchmark_rate(port);
	}
	bench_row("INT events to Redis, XADD (redis-benchmark -P 64)",
		  bench_median(rate, REDIS_ROUNDS) / 1e6,
		  bench_median(limit, REDIS_ROUNDS) / 1e6, NULL);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	struct frames fs;

	(void)argc;
	frames_init(&fs);
	load_frames(&fs, build_dir(argv[0]), options);
	beside(&fs, "a file", "file:/dev/null?format=ndjson");
	beside_port(&fs, "a server that never answers", listener(true));
	beside_port(&fs, "a server that is away", listener(false));
	redis(&fs);
	frames_fini(&fs);
	return 0;
}
