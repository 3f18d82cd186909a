/* SPDX-License-Identifier: BSD-2-Clause */
#include "remote.h"

#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lines.h"
#include "rdma/ticket.h"
#include "shell.h"
#include "wire/key.h"

enum {
	ARGS_MAX = 64,
	CHUNK = 128,   /* keys on their way at once: less than a pipe holds */
	COLUMNS = 16,
	RUNS_MAX = 16, /* started at once; the oldest is ended for one more */
};

/* What a run of dta-query over there is asked for. */
struct errand {
	const struct table *t;
	uint8_t copies, policy, threshold;
	bool partial;
	uint64_t from, until;
};

/* Columns that are understood, in whatever order they come. */
enum column {
	COL_KEY,
	COL_ANSWER,
	COL_VALUE, /* and path, and count */
	COL_AGREED,
	COL_MATCHED, /* and valid */
	COL_COPIES,
	COL_EPOCH,
	COL_HOLES,
	COL_KNOWN,
};

struct run {
	pid_t pid; /* 0: none */
	int to;	   /* a socket: writing to one that is gone raises nothing */
	struct lines from;
	struct errand errand;
	uint8_t column[COLUMNS]; /* what each is, or COL_KNOWN */
	unsigned columns;	 /* 0: no header yet */
};

struct remote {
	const struct cluster_collector *c;
	char ssh[LINE_MAX_LEN];
	struct ticket ticket;
	struct run run[RUNS_MAX];
	unsigned next;
};

int remote_open(struct remote **out, const struct cluster_collector *c,
		const struct opts *o, struct fault *f)
{
	struct remote *r;
	int rc;

	if (!*c->ticket)
		return fault_set(f, -EINVAL,
				 "host: its ticket is needed, for the tables "
				 "that it has");
	if (o->ssh && strlen(o->ssh) >= sizeof(r->ssh))
		return fault_set(f, -ENAMETOOLONG, "--ssh: too long");
	r = calloc(1, sizeof(*r));
	if (!r)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	r->c = c;
	strcpy(r->ssh, o->ssh ? o->ssh : "ssh");
	rc = ticket_read(&r->ticket, c->ticket, f);
	if (rc < 0) {
		free(r);
		return rc;
	}
	*out = r;
	return 0;
}

unsigned remote_tables(const struct remote *r)
{
	return r->ticket.n;
}

const struct table *remote_table(const struct remote *r, unsigned i)
{
	return &r->ticket.table[i];
}

/* Ends a run; its exit status, 128 and more for a signal. */
static int run_end(struct run *u)
{
	int status = 0;

	if (!u->pid)
		return 0;
	close(u->to);
	lines_close(&u->from);
	while (waitpid(u->pid, &status, 0) < 0 && errno == EINTR)
		;
	*u = (struct run){0};
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : 128 + WTERMSIG(status);
}

void remote_close(struct remote *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < RUNS_MAX; i++)
		run_end(&r->run[i]);
	ticket_fini(&r->ticket);
	free(r);
}

static const char *policy_text(const struct errand *e, char *room, size_t len)
{
	static const char *const names[QUERY_POLICIES] = {
		[QUERY_PLURALITY] = "plurality",
		[QUERY_FIRST] = "first",
		[QUERY_UNIQUE] = "unique",
	};

	if (e->policy != QUERY_CONSENSUS)
		return names[e->policy];
	snprintf(room, len, "consensus:%u", e->threshold);
	return room;
}

/*
 * In the child: becomes ssh. ssh joins the words after the host and gives them
 * to a shell: each is plain (numbers, and names that the cluster file's reader
 * took for plain).
 */
_Noreturn static void become_ssh(const struct remote *r, const struct errand *e)
{
	char *argv[ARGS_MAX], words[LINE_MAX_LEN];
	char table[8], epochs[48], copies[4], policy[16];
	const char *const rest[] = {
		"-o", "BatchMode=yes", "-o", "ConnectTimeout=10", r->c->host,
		"dta-query",
		e->t->kind == TABLE_KEYWRITE   ? "keywrite"
		: e->t->kind == TABLE_POSTCARD ? "path"
					       : "count",
		"--region", r->c->region, "--table", table, "--epoch", epochs,
		"--copies", copies, "--policy",
		policy_text(e, policy, sizeof(policy)), "--keys", "-",
		"--output", "csv", "--as", "hex", "--quiet",
		e->partial ? "--partial" : NULL, NULL,
	};
	int n;

	snprintf(table, sizeof(table), "%u", e->t->id);
	snprintf(epochs, sizeof(epochs), "%" PRIu64 "-%" PRIu64, e->from,
		 e->until);
	snprintf(copies, sizeof(copies), "%u", e->copies);
	strcpy(words, r->ssh);
	n = words_split(words, argv, ARGS_MAX - (int)(sizeof(rest) /
						      sizeof(rest[0])));
	if (n < 1) {
		cli_warn("--ssh: '%s': no command", r->ssh);
		_exit(CLI_USAGE);
	}
	memcpy(argv + n, rest, sizeof(rest));
	execvp(argv[0], argv);
	cli_warn("%s: %s", argv[0], strerror(errno));
	_exit(127);
}

static int run_start(const struct remote *r, struct run *u,
		     const struct errand *e, struct fault *f)
{
	int in[2], out[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) < 0)
		return fault_set(f, -errno, "%s", strerror(errno));
	if (pipe2(out, O_CLOEXEC) < 0) {
		close(in[0]);
		close(in[1]);
		return fault_set(f, -errno, "%s", strerror(errno));
	}
	fflush(stdout); /* or the child had it, too */
	u->pid = fork();
	if (u->pid == 0) {
		dup2(in[1], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		become_ssh(r, e);
	}
	close(in[1]);
	close(out[1]);
	if (u->pid < 0 || lines_attach(&u->from, out[0], r->c->host) < 0) {
		u->pid = 0;
		close(in[0]);
		close(out[0]);
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	}
	u->to = in[0];
	u->errand = *e;
	u->columns = 0;
	return 0;
}

static bool same_errand(const struct errand *a, const struct errand *b)
{
	return a->t == b->t && a->copies == b->copies &&
	       a->policy == b->policy && a->threshold == b->threshold &&
	       a->partial == b->partial && a->from == b->from &&
	       a->until == b->until;
}

static int run_of(struct remote *r, const struct errand *e, struct run **out,
		  struct fault *f)
{
	for (unsigned i = 0; i < RUNS_MAX; i++)
		if (r->run[i].pid && same_errand(&r->run[i].errand, e)) {
			*out = &r->run[i];
			return 0;
		}
	*out = &r->run[r->next++ % RUNS_MAX];
	run_end(*out);
	return run_start(r, *out, e, f);
}

static int send_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR && !cli_stop)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static int send_keys(struct run *u, const uint8_t *const *keys, size_t n)
{
	const struct table *t = u->errand.t;
	char text[KEY_TEXT_MAX + 1];

	for (size_t i = 0; i < n; i++) {
		int rc;

		key_format(text, (enum key_type)t->key_type, keys[i],
			   t->key_len);
		strcat(text, "\n");
		rc = send_all(u->to, text, strlen(text));
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The next line, NULL at the end or on an error. */
static char *next_line(struct run *u)
{
	char *line;
	size_t len;
	int rc;

	while (!(line = lines_next(&u->from, &len))) {
		rc = lines_more(&u->from);
		if (rc == -EINTR && !cli_stop)
			continue;
		if (rc <= 0)
			return NULL;
	}
	return line;
}

/* Cuts a CSV line into its cells, in place; how many, or -1. */
static int cells_of(char *line, char **cell)
{
	int n = 0;

	for (;;) {
		char *out;

		if (n == COLUMNS)
			return -1;
		cell[n++] = out = line;
		if (*line == '"') {
			for (line++; *line && (*line != '"' || line[1] == '"');
			     line++) {
				line += *line == '"';
				*out++ = *line;
			}
			if (*line++ != '"')
				return -1;
		} else {
			line += strcspn(line, ",");
			out = line;
		}
		if (*line && *line != ',')
			return -1;
		if (!*line) {
			*out = '\0';
			return n;
		}
		line++;
		*out = '\0';
	}
}

static int read_header(struct run *u)
{
	static const struct {
		const char *name;
		uint8_t column;
	} known[] = {
		{"key", COL_KEY},	{"answer", COL_ANSWER},
		{"value", COL_VALUE},	{"path", COL_VALUE},
		{"count", COL_VALUE},	{"agreed", COL_AGREED},
		{"matched", COL_MATCHED}, {"valid", COL_MATCHED},
		{"copies", COL_COPIES}, {"epoch", COL_EPOCH},
		{"holes", COL_HOLES},
	};
	char *line = next_line(u), *cell[COLUMNS];
	int n = line ? cells_of(line, cell) : -1;

	if (n <= 0)
		return -EPIPE;
	u->columns = (unsigned)n;
	for (int i = 0; i < n; i++) {
		u->column[i] = COL_KNOWN;
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (!strcmp(cell[i], known[k].name))
				u->column[i] = known[k].column;
	}
	return 0;
}

/* A number, "" for 0. */
static bool number(const char *text, uint64_t max, uint64_t *out)
{
	char *end;

	*out = 0;
	if (!*text)
		return true;
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return !errno && !*end && *out <= max;
}

static bool hex_of(const char *text, uint8_t *out, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	if (!strncmp(text, "0x", 2))
		text += 2;
	if (strlen(text) != 2 * len)
		return false;
	for (size_t i = 0; i < 2 * len; i++) {
		const char *d = strchr(digits, text[i]);

		if (!d)
			return false;
		out[i / 2] = (uint8_t)(out[i / 2] << 4 | (d - digits));
	}
	return true;
}

/* "1,2,3": numbers; how many, or -1. */
static int list_of(const char *text, uint32_t *out, unsigned max)
{
	unsigned n = 0;
	char *end;

	while (*text) {
		unsigned long v;

		if (n == max || *text < '0' || *text > '9')
			return -1;
		errno = 0;
		v = strtoul(text, &end, 10);
		if (errno || v > UINT32_MAX || (*end && *end != ','))
			return -1;
		out[n++] = (uint32_t)v;
		text = end + (*end == ',');
	}
	return (int)n;
}

static bool take_answer(struct reply *r, const char *text)
{
	for (int a = 0; a <= ANSWER_UNREADABLE; a++)
		if (!strcmp(text, answer_name((enum answer)a))) {
			r->answer = (enum answer)a;
			return true;
		}
	return false;
}

/* What was found: a value, a path or a count. */
static bool take_value(struct reply *r, const struct table *t, const char *text,
		       const char *holes)
{
	uint32_t hole[HASH_HOPS];
	int n;

	if (r->answer != ANSWER_FOUND)
		return true;
	if (t->kind == TABLE_KEYWRITE)
		return hex_of(text, r->value, t->value_len);
	if (t->kind == TABLE_KEYINC)
		return *text && number(text, UINT64_MAX, &r->count);
	n = list_of(text, r->path.value, HASH_HOPS);
	if (n < 0)
		return false;
	r->path.len = (uint8_t)n;
	r->path.holes = 0;
	n = list_of(holes, hole, HASH_HOPS);
	for (int i = 0; i < n; i++)
		if (hole[i] < HASH_HOPS)
			r->path.holes |= (uint8_t)(1u << hole[i]);
	return n >= 0;
}

static bool take_row(struct run *u, char *line, const char *key,
		     struct reply *r)
{
	char *cell[COLUMNS], *of[COL_KNOWN + 1];
	uint64_t agreed, matched, copies;
	int n = cells_of(line, cell);

	if (n != (int)u->columns)
		return false;
	for (unsigned i = 0; i <= COL_KNOWN; i++)
		of[i] = "";
	for (int i = 0; i < n; i++)
		of[u->column[i]] = cell[i];
	if (strcmp(of[COL_KEY], key) != 0 || !take_answer(r, of[COL_ANSWER]) ||
	    !number(of[COL_AGREED], HASH_COPIES, &agreed) ||
	    !number(of[COL_MATCHED], HASH_COPIES, &matched) ||
	    !number(of[COL_COPIES], HASH_COPIES, &copies) ||
	    !number(of[COL_EPOCH], UINT64_MAX, &r->epoch))
		return false;
	r->agreed = (uint8_t)agreed;
	r->matched = (uint8_t)matched;
	r->copies = (uint8_t)copies;
	if (u->errand.t->kind == TABLE_POSTCARD) {
		r->path.answer = r->answer;
		r->path.valid = (uint8_t)matched;
		r->path.agreed = (uint8_t)agreed;
	}
	return take_value(r, u->errand.t, of[COL_VALUE], of[COL_HOLES]);
}

static int read_rows(struct run *u, const uint8_t *const *keys, size_t n,
		     struct reply *const *reply)
{
	const struct table *t = u->errand.t;
	char text[KEY_TEXT_MAX];

	if (!u->columns && read_header(u) < 0)
		return -EPIPE;
	for (size_t i = 0; i < n; i++) {
		char *line = next_line(u);

		if (!line)
			return -EPIPE;
		key_format(text, (enum key_type)t->key_type, keys[i],
			   t->key_len);
		if (!take_row(u, line, text, reply[i]))
			return -EBADMSG;
	}
	return 0;
}

int remote_ask(struct remote *r, const struct table *t,
	       const struct query_rule *rule, uint64_t from, uint64_t until,
	       const uint8_t *const *keys, size_t n, struct reply *const *reply,
	       struct fault *f)
{
	struct errand e = {
		.t = t,
		.copies = rule->copies ? rule->copies
			  : t->kind == TABLE_KEYINC ? t->copies
						    : HASH_COPIES,
		.policy = rule->policy,
		.threshold = rule->threshold,
		.partial = rule->partial,
		.from = from,
		.until = until,
	};
	struct run *u;
	int rc = run_of(r, &e, &u, f), status;

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n && !rc; i += CHUNK) {
		size_t some = n - i < CHUNK ? n - i : CHUNK;

		rc = send_keys(u, keys + i, some);
		if (!rc)
			rc = read_rows(u, keys + i, some, reply + i);
	}
	if (!rc)
		return 0;
	status = run_end(u);
	if (rc == -EBADMSG)
		return fault_set(f, rc, "%s: an answer that is none",
				 r->c->host);
	return fault_set(f, rc, "%s: cannot be asked (%s ended with status %d)",
			 r->c->host, r->ssh, status);
}
