/* SPDX-License-Identifier: BSD-2-Clause */
/* cli.c - messages, ledgers and signals; how a program begins and ends. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ledger_page.h"
#include "cli/live.h"
#include "cli/private.h"
#include "cli/tty.h"
#include "row/outbuf.h"
#include "threads/threads.h"

static const char *program = "dta";

/* --- messages: on stderr, or kept while a screen would hide them --------- */

enum {
	MESSAGE_MAX = 1024, /* bytes; four times as many when all are \xNN */
};

const char cli_stdout[] = "standard output";

static const char *stdout_dash; /* the "-" that means standard output */

/* Messages and ledgers that are held, as they will be written. */
static struct {
	FILE *to; /* writes to text; NULL: nothing is held */
	char *text;
	size_t len;
	char last[4 * MESSAGE_MAX]; /* the last message */
} held;

void cli_set_stdout_dash(const char *dash)
{
	stdout_dash = dash;
}

const char *cli_file(const char *path)
{
	if (!path || strcmp(path, "-") != 0)
		return path;
	return path == stdout_dash ? cli_stdout : "standard input";
}

/* The stream for what is to be held. NULL: no memory. */
static FILE *open_held(void)
{
	if (!held.to)
		held.to = open_memstream(&held.text, &held.len);
	return held.to;
}

const char *cli_held_message(void)
{
	return *held.last ? held.last : NULL;
}

static bool progress_shown; /* there is a line of progress on stderr */

static void clear_progress(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

/* In one write, so that messages of a pipeline's programs do not mix. */
static void print_held(void)
{
	if (tty_is_open() || !held.to)
		return;
	fclose(held.to);
	clear_progress();
	fwrite(held.text, 1, held.len, stderr);
	free(held.text);
	held.to = NULL;
	held.last[0] = '\0';
}

/* Guards held and progress_shown: any thread may print a message. */
static pthread_mutex_t message_lock = PTHREAD_MUTEX_INITIALIZER;

void cli_print_held(void)
{
	pthread_mutex_lock(&message_lock);
	print_held();
	pthread_mutex_unlock(&message_lock);
}

/* Whether text on stderr would overwrite a screen. */
static bool is_hidden(void)
{
	return tty_is_open() && isatty(STDERR_FILENO);
}

/* Draws the line of progress, which stays until something else is printed.
 * share: of the input that is read; 0: unknown. */
static void show_progress(const char *unit, uint64_t n, double share)
{
	if (!isatty(STDERR_FILENO) || is_hidden() || cli_shows_rows())
		return;
	pthread_mutex_lock(&message_lock);
	fprintf(stderr, "\r%s: %ju %s", program, (uintmax_t)n, unit);
	if (share > 0)
		fprintf(stderr, ", %.0f %%", 100 * share);
	fputs("\033[K", stderr);
	progress_shown = true;
	pthread_mutex_unlock(&message_lock);
}

/* For ledgers: stderr or, under a screen, the held text. NULL: no memory. */
static FILE *ledger_stream(void)
{
	if (!is_hidden()) {
		pthread_mutex_lock(&message_lock);
		print_held();
		clear_progress();
		pthread_mutex_unlock(&message_lock);
		return stderr;
	}
	return open_held();
}

static bool timed; /* messages begin with the time */

void cli_log_times(void)
{
	const char *journal = getenv("JOURNAL_STREAM"); /* systemd.exec(5) */
	unsigned long long device, inode;
	struct stat st;

	tzset(); /* reads a file, which cannot be opened later (confine.h) */
	timed = !isatty(STDERR_FILENO) &&
		(!journal || fstat(STDERR_FILENO, &st) < 0 ||
		 sscanf(journal, "%llu:%llu", &device, &inode) != 2 ||
		 device != st.st_dev || inode != st.st_ino);
}

/* 2026-11-28T22:16:05+01:00 and a blank, or nothing. */
static const char *time_now(char out[64])
{
	time_t now = time(NULL);
	char zone[8];
	struct tm tm;

	*out = '\0';
	if (!timed || !localtime_r(&now, &tm))
		return out;
	strftime(out, 64, "%FT%T", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	snprintf(out + strlen(out), 64 - strlen(out), "%.3s:%s ", zone,
		 zone + 3);
	return out;
}

/* Escapes control characters: a message may quote a database or a file. */
static void print_message(const char *fmt, va_list ap)
{
	struct outbuf o = {0};
	char text[MESSAGE_MAX], when[64];
	FILE *to = stderr;
	size_t len;

	vsnprintf(text, sizeof(text), fmt, ap);
	for (len = strlen(text); len && strchr("\r\n", text[len - 1]); len--)
		text[len - 1] = '\0';
	outbuf_plain(&o, text, len, true);
	pthread_mutex_lock(&message_lock);
	if (!is_hidden()) {
		print_held();
		clear_progress();
	} else if ((to = open_held())) {
		snprintf(held.last, sizeof(held.last), "%.*s", (int)o.len,
			 o.buf);
	}
	if (to)
		fprintf(to, "%s%s: %.*s\n", time_now(when), program, (int)o.len,
			o.buf);
	pthread_mutex_unlock(&message_lock);
}

static bool failure_told; /* a message has said why the status is not 0 */

void cli_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
}

void cli_warn_callback(void *ctx, const char *text)
{
	(void)ctx;
	cli_warn("%s", text);
}

void cli_print_failure(const char *fmt, va_list ap)
{
	print_message(fmt, ap);
	failure_told = true;
}

void cli_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cli_print_failure(fmt, ap);
	va_end(ap);
	exit(CLI_FAIL);
}

void *cli_allocated(void *p)
{
	if (!p)
		cli_fail("out of memory");
	return p;
}

void cli_refuse(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cli_print_failure(fmt, ap);
	va_end(ap);
	exit(CLI_USAGE);
}

void cli_fail_option(const char *option, int rc, const struct error *err)
{
	if (rc == -EINVAL)
		cli_refuse("%s: %s", option, err->text);
	cli_fail("%s: %s", option, err->text);
}

void cli_error(const char *object, const struct error *err)
{
	struct error all;

	error_about(&all, 0, cli_file(object), err);
	cli_fail("%s", all.text);
}

void cli_warn_error(const char *object, const struct error *err)
{
	struct error all;

	object = cli_file(object);
	error_about(&all, 0, object, err);
	cli_warn("%s", all.text);
	failure_told = failure_told || object == cli_stdout;
}

/* --- ledgers, signals ----------------------------------------------------- */

atomic_int cli_stop, cli_report, cli_hangup;

static void ledger_text(FILE *to, const struct ledger *l, const void *ctr)
{
	bool colour = tty_colour(STDERR_FILENO);
	int width = 0;

	for (unsigned i = 0; i < l->n; i++)
		if ((int)strlen(l->fields[i].name) > width)
			width = (int)strlen(l->fields[i].name);
	fprintf(to, "%s: %s, %s\n", program, l->stage, l->unit);
	for (unsigned i = 0; i < l->n; i++) {
		uint64_t v = ledger_get(l, ctr, i);
		uint8_t role = l->fields[i].role;
		bool red = colour && v && role == LEDGER_LOSS;

		if (v || role == LEDGER_IN || role == LEDGER_DONE)
			fprintf(to, "%s  %-*s  %12ju%s\n",
				red ? "\033[31m" : "", width, l->fields[i].name,
				(uintmax_t)v, red ? "\033[m" : "");
	}
}

static void ledger_rows(FILE *to, const struct ledger *l, const void *ctr,
			enum row_format fmt)
{
	static const struct row_field fields[] = {
		{"stage", ROW_STR, 0, ROW_TAG},
		{"counter", ROW_STR, 0, ROW_TAG},
		{"role", ROW_STR, 0, ROW_TAG},
		{"value", ROW_U64, 0},
	};
	static const struct schema ledger = {"ledger", fields, 4};
	static bool header_printed; /* one for all ledgers of a program */
	struct rows *r = rows_print(to, fmt, &ledger, !header_printed);

	if (!r)
		return;
	for (unsigned i = 0; i < l->n; i++) {
		row_str(r, 0, ledger_stage(l, i));
		row_str(r, 1, l->fields[i].name);
		row_str(r, 2, ledger_role_name(l->fields[i].role));
		row_u64(r, 3, ledger_get(l, ctr, i));
		row_end(r);
	}
	rows_close(r);
	header_printed = true;
}

static bool put_in_page(const struct ledger *l, const void *ctr);

void cli_ledger(const struct ledger *l, const void *ctr, enum row_format fmt)
{
	FILE *to;

	if (put_in_page(l, ctr) || !(to = ledger_stream()))
		return;
	if (fmt == ROW_TEXT)
		ledger_text(to, l, ctr);
	else
		ledger_rows(to, l, ctr, fmt);
	if (!ledger_balanced(l, ctr))
		cli_warn("%s: the ledger does not add up", l->stage);
}

static volatile sig_atomic_t hangup_taken;

/* For THREADS_WAKE nothing is to be done: it only interrupts system calls. */
static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		cli_report = 1;
	else if (sig == SIGHUP && hangup_taken)
		cli_hangup = 1;
	else if (sig != THREADS_WAKE) {
		if (cli_stop < 2)
			cli_stop++;
		threads_wake();
	}
}

static void note_signal(int sig);

static void on_bus(int sig)
{
	static const char text[] =
		": a mapped file shrank while it was in use\n";
	static atomic_flag said = ATOMIC_FLAG_INIT;

	while (atomic_flag_test_and_set(&said))
		pause(); /* another thread ends the process */
	note_signal(sig);
	tty_close();
	(void)!write(STDERR_FILENO, program, strlen(program));
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(CLI_FAIL);
}

static void set_handler(int sig, void (*handler)(int))
{
	struct sigaction sa = {.sa_handler = handler};

	sigaction(sig, &sa, NULL);
}

void cli_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGUSR1, THREADS_WAKE};
	struct sigaction was;

	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		set_handler(signals[i], on_signal);
	set_handler(SIGBUS, on_bus);
	if (!sigaction(SIGHUP, NULL, &was) && was.sa_handler != SIG_IGN)
		set_handler(SIGHUP, on_signal);
}

void cli_catch_hangup(void)
{
	hangup_taken = 1;
	set_handler(SIGHUP, on_signal);
}

/* --- the beginning and the end ------------------------------------------- */

/* A full disk must not pass for success. EBADF of fclose() is no error: stdout
 * was closed before the program began, and if anything had been written,
 * fflush() would have failed first. ferror() has no reason for its failure. */
static void close_stdout(void)
{
	bool failed = ferror(stdout);
	int err = 0;

	cli_print_held();
	clear_progress();
	if (fflush(stdout))
		err = errno;
	if (fclose(stdout) && !err && errno != EBADF)
		err = errno;
	if (!err && !failed)
		return;
	if (!failure_told)
		fprintf(stderr, "%s: %s: %s\n", program, cli_stdout,
			err ? strerror(err) : "write error");
	_exit(CLI_FAIL);
}

/* Opens /dev/null for standard streams that are closed, as other files would
 * become these. In the wrong direction: their use is still an EBADF. */
static void hold_standard_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

void cli_start(const struct cli *c)
{
	static char buffer[1 << 16]; /* glibc ignores a size without one */

	program = c->name;
	hold_standard_streams();
	atexit(close_stdout);
	signal(SIGPIPE, SIG_DFL); /* the parent may ignore it */
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

/* --- options and limits of live interfaces -------------------------------- */

enum {
	FILTER_MAX = 2048,
};

void cli_live_set_filter(struct cli_live *l, int argc, char **argv)
{
	static char text[FILTER_MAX];
	size_t n = 0;

	for (int i = 0; i < argc && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				      i ? " " : "", argv[i]);
	if (n >= sizeof(text))
		cli_refuse("the filter is longer than %d characters",
			   FILTER_MAX - 1);
	if (n)
		l->options.filter = text;
}

static struct cli_limit limit_start(const struct cli_live *l)
{
	return (struct cli_limit){
		.left = l->count ? l->count : UINT64_MAX,
		.until_ns = l->duration_ns ? clock_ns() + l->duration_ns
					   : UINT64_MAX,
	};
}

/* How many of max packets may still be received; 0: a limit is reached. */
static int limit_room(const struct cli_limit *m, int max)
{
	if (m->until_ns != UINT64_MAX && clock_ns() >= m->until_ns)
		return 0;
	return m->left < (uint64_t)max ? (int)m->left : max;
}

static void limit_took(struct cli_limit *m, int n)
{
	if (n > 0 && m->left != UINT64_MAX)
		m->left -= (uint64_t)n;
}

struct src *cli_live_open(struct cli_live *l, const uint16_t *port, bool quiet)
{
	struct error err = {0};
	struct src *s;

	for (int i = 0; i < LIVE_PORTS && port && port[i]; i++)
		l->options.port[i] = port[i];
	if (src_open_live(&s, l->name, &l->options, &err) < 0)
		cli_error(l->name, &err);
	cli_log_times();
	if (!quiet)
		cli_warn("%s: %s", l->name, src_kind(s));
	return s;
}

const char *cli_path_to_open(const char *path)
{
	struct stat st;

	/* open() of a FIFO waits for its other end. */
	return cli_stop && strcmp(path, "-") && !stat(path, &st) &&
			       S_ISFIFO(st.st_mode)
		       ? "/dev/null"
		       : path;
}

int cli_snk_open(struct snk **out, const char *path, struct error *err)
{
	int rc;

	do {
		rc = snk_open(out, cli_path_to_open(path), err);
	} while (rc == -EINTR);
	if (!rc)
		snk_until(*out, &cli_stop);
	return rc;
}

struct drops {
	uint64_t kernel_drops;
	uint64_t unsent; /* falls when refused packets are sent later */
};

static const struct ledger_field drop_fields[] = {
	LEDGER_FIELD(struct drops, kernel_drops, LEDGER_LOSS),
	LEDGER_LEVEL(struct drops, unsent, LEDGER_LOSS),
};

static const struct ledger drop_ledger = {"interface", "packets", drop_fields,
					  2};

static uint64_t kernel_drops(const struct src *s)
{
	return s ? src_drops(s) : 0;
}

void cli_live_ledger(const struct cli_live *l, const struct src *s,
		     uint64_t unsent)
{
	const struct drops d = {kernel_drops(s) + kernel_drops(l->beside.s),
				unsent};

	cli_ledger(&drop_ledger, &d, l->format);
}

static void warn_drops(const char *name, const struct src *s)
{
	if (kernel_drops(s))
		cli_warn("%s: %ju packets were dropped by the kernel", name,
			 (uintmax_t)kernel_drops(s));
}

void cli_live_drops(const struct cli_live *l, const struct src *s,
		    uint64_t unsent)
{
	if (l->format != ROW_TEXT && (l->name || unsent))
		cli_live_ledger(l, s, unsent);
	if (l->format != ROW_TEXT)
		return;
	warn_drops(l->name, s);
	warn_drops(l->beside.name, l->beside.s);
	if (unsent)
		cli_warn("%ju packets could not be sent", (uintmax_t)unsent);
}

/* --- a pace --------------------------------------------------------------- */

enum {
	SECOND = 1000000000,
	STEP_NS = 1000000, /* at high rates, packets of so long go together */
};

int cli_pace(struct cli_pace *p, int max, uint64_t *wait_ns)
{
	uint64_t now = clock_ns(), n, wait = 1;
	double step, at;

	if (!p->start_ns)
		p->start_ns = now;
	now -= p->start_ns;
	if ((p->count && p->sent >= p->count) ||
	    (p->duration_ns && now >= p->duration_ns))
		return CLI_PACE_OVER;
	/* n: packets due so far; the first one is due at once. */
	n = p->rate > 0 ? (uint64_t)(p->rate * ((double)now / SECOND)) + 1
			: UINT64_MAX;
	n = n > p->sent ? n - p->sent : 0;
	if (p->count && n > p->count - p->sent)
		n = p->count - p->sent;
	if (n > (uint64_t)max)
		n = (uint64_t)max;
	p->sent += n;
	if (n)
		return (int)n;
	/* Wait until the next packet is due, or those of the next STEP_NS. */
	step = p->rate * STEP_NS / SECOND;
	at = ((double)p->sent + (step > 1 ? step - 1 : 0)) / p->rate * SECOND;
	if (at > (double)now)
		wait += (uint64_t)(at - (double)now);
	if (p->duration_ns && wait > p->duration_ns - now)
		wait = p->duration_ns - now;
	if (wait_ns)
		*wait_ns = wait;
	else
		nanosleep(&(struct timespec){(time_t)(wait / SECOND),
					     (long)(wait % SECOND)},
			  NULL);
	return 0;
}

void cli_pace_change(struct cli_pace *p, double rate)
{
	uint64_t now = clock_ns();
	double since = 0; /* seconds since the last packet was due */

	if (p->sent && p->rate > 0)
		since = (double)(now - p->start_ns) / SECOND -
			(double)(p->sent - 1) / p->rate;
	if (since > 1 / rate)
		since = 1 / rate;
	p->rate = rate;
	if (!p->sent)
		return;
	p->sent = 1;
	p->start_ns = now - (since > 0 ? (uint64_t)(since * SECOND) : 0);
}

/* --- the page ------------------------------------------------------------- */

#define PAGE_NS	      UINT64_C(250000000)
#define PAGE_RETRY_NS UINT64_C(2000000000) /* if it cannot be made */

static struct {
	struct cli_page_about about;
	struct ledger_writer *writer;
	pid_t owner;
	uint64_t due_ns; /* of clock_coarse_ns(); UINT64_MAX: never */
	bool writing;
	bool warned; /* that it cannot be made */
	/* For the line of progress: the page's first ledger, the value of its
	 * first counter, and the share of the capture that is read. */
	const struct ledger *first;
	uint64_t n;
	double share;
} page = {.due_ns = UINT64_MAX};

const char *cli_page_dir(void)
{
	const char *dir = cli_env("DTA_LEDGERS");

	return dir ? dir : LEDGER_DIR;
}

void cli_page_start(const struct cli_page_about *a)
{
	page.about = *a;
	page.due_ns = clock_coarse_ns() + PAGE_NS;
}

/* Called at exit; but not for the page of a parent process. */
static void remove_page(void)
{
	if (page.owner == getpid())
		ledger_page_close(page.writer);
	page.writer = NULL;
}

/* In a signal handler. */
static void note_signal(int sig)
{
	if (page.writer && page.owner == getpid())
		ledger_page_note_signal(page.writer, sig);
}

/* Its action is the default one again by now: the process ends by it. */
static void on_fatal(int sig)
{
	note_signal(sig);
	raise(sig);
}

/* Signals that are ignored, or a sanitizer's, stay so. */
static void catch_fatal(void)
{
	static const int fatal[] = {SIGQUIT, SIGILL,  SIGABRT, SIGFPE,
				    SIGSEGV, SIGPIPE, SIGSYS};
	const struct sigaction note = {.sa_handler = on_fatal,
				       .sa_flags = (int)SA_RESETHAND};
	struct sigaction was;

	for (unsigned i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		if (!sigaction(fatal[i], NULL, &was) &&
		    was.sa_handler == SIG_DFL)
			sigaction(fatal[i], &note, NULL);
}

static bool make_page(void)
{
	const struct cli_page_about *a = &page.about;
	const struct ledger_about about = {program, VERSION, a->region,
					   a->input, a->output};
	struct error err;

	if (ledger_page_open(&page.writer, cli_page_dir(), &about, &err) < 0) {
		if (!a->quiet && !page.warned)
			cli_warn("dta-top does not see this program: %s; "
				 "it is tried again",
				 err.text);
		page.warned = true;
		return false;
	}
	if (!page.owner) {
		atexit(remove_page);
		catch_fatal();
	}
	page.owner = getpid();
	return true;
}

bool cli_page_begin(void)
{
	uint64_t now;

	if (page.due_ns == UINT64_MAX ||
	    (now = clock_coarse_ns()) < page.due_ns)
		return false;
	if (page.writer && ledger_page_is_lost(page.writer))
		remove_page(); /* its file is gone: make a new one */
	if (!page.writer && !make_page()) {
		page.due_ns = now + PAGE_RETRY_NS;
		return false;
	}
	page.due_ns = now + PAGE_NS;
	page.writing = true;
	page.first = NULL;
	page.share = 0;
	ledger_page_begin(page.writer);
	return true;
}

void cli_page_end(void)
{
	ledger_page_end(page.writer);
	page.writing = false;
	if (page.first && !page.about.quiet)
		show_progress(page.first->unit, page.n, page.share);
}

/* Adds a ledger to the page; false: the page is not being written. */
static bool put_in_page(const struct ledger *l, const void *ctr)
{
	if (!page.writing)
		return false;
	ledger_page_add(page.writer, l, ctr);
	if (!page.first)
		page.n = ledger_get(l, ctr, 0);
	page.first = page.first ? page.first : l;
	return true;
}

/* --- the loop ------------------------------------------------------------- */

enum {
	FDS_MAX = 8,
	MS = 1000000, /* ns */
};

void cli_loop_housekeeping(struct cli_loop *l)
{
	uint64_t unsent;

	if (cli_report) {
		cli_report = 0;
		l->report(l->ctx);
	}
	if (cli_hangup) {
		cli_hangup = 0;
		l->hangup(l->ctx);
	}
	if (!cli_page_begin())
		return;
	unsent = l->unsent ? l->unsent(l->ctx) : 0;
	(l->show ? l->show : l->report)(l->ctx);
	if (l->live->name || unsent)
		cli_live_ledger(l->live, l->s, unsent);
	if (src_size(l->s))
		page.share = (double)src_done(l->s) / (double)src_size(l->s);
	cli_page_end();
}

int cli_loop_more(struct cli_loop *l, struct pkt *room, int max)
{
	struct error err;
	int n;

	max = limit_room(&l->limit, max);
	if (cli_stop || !max)
		return 0;
	n = src_rx_now(l->s, room, max, &err);
	limit_took(&l->limit, n);
	return n > 0 ? n : 0;
}

/* Waits until there are packets, l->fds() can be read, or l->due() is past. */
static void wait_for_more(const struct cli_loop *l)
{
	struct pollfd p[1 + FDS_MAX] = {{src_fd(l->s), POLLIN, 0}};
	uint64_t due = l->due ? l->due(l->ctx) : UINT64_MAX, now = clock_ns();
	int fd[FDS_MAX], ms = CLI_LOOK_AROUND_MS;
	unsigned n = l->fds(l->ctx, fd, FDS_MAX);

	for (unsigned i = 0; i < n; i++)
		p[1 + i] = (struct pollfd){fd[i], POLLIN, 0};
	if (due <= now)
		ms = 0;
	else if ((due - now) / MS < CLI_LOOK_AROUND_MS)
		ms = (int)((due - now + MS - 1) / MS);
	poll(p, 1 + n, ms);
}

int cli_loop(struct cli_loop *l, struct error *err)
{
	static struct pkt pkts[CLI_LOOP_MOST];
	const struct cli_page_about about = {l->region, l->input, l->output,
					     l->quiet};
	int most = l->most ? l->most : PKT_BATCH, n, max, rc;

	/* The loop must go on while a pipe is silent; files never wait. */
	if (!l->fds && !src_size(l->s))
		src_wait(l->s, CLI_LOOK_AROUND_MS);
	cli_page_start(&about);
	l->limit = limit_start(l->live);
	while (!cli_stop && (max = limit_room(&l->limit, most))) {
		cli_loop_housekeeping(l);
		n = src_rx(l->s, pkts, max, err);
		limit_took(&l->limit, n);
		l->source_failed = n < 0 && n != -EINTR && n != -EAGAIN;
		if (l->source_failed || !n)
			return n;
		rc = l->take(l->ctx, pkts, n < 0 ? 0 : n, err);
		if (rc < 0)
			return rc;
		if (n == -EAGAIN && l->fds)
			wait_for_more(l);
	}
	return 0;
}
