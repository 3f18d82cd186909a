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
#include "replies.h"
#include "shell.h"
#include "wire/key.h"

enum {
	ARGS_MAX = 64,
	CHUNK = 128,   /* keys on their way at once: less than a pipe holds */
	RUNS_MAX = 16, /* started at once; the oldest is ended for one more */
};

/* What a run of dta-query over there is asked for. */
struct errand {
	const struct table *t;
	uint8_t copies, policy, threshold;
	bool partial;
	uint64_t from, until;
};

struct run {
	pid_t pid; /* 0: none */
	int to;	   /* a socket: writing to one that is gone raises nothing */
	struct lines from;
	struct errand errand;
	struct replies_format format; /* without columns: no header yet */
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
	snprintf(r->ssh, sizeof(r->ssh), "%s", o->ssh ? o->ssh : "ssh");
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
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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
		"-o",
		"BatchMode=yes",
		"-o",
		"ConnectTimeout=10",
		r->c->host,
		"dta-query",
		e->t->kind == TABLE_KEYWRITE   ? "keywrite"
		: e->t->kind == TABLE_POSTCARD ? "path"
					       : "count",
		"--region",
		r->c->region,
		"--table",
		table,
		"--epoch",
		epochs,
		"--copies",
		copies,
		"--policy",
		policy_text(e, policy, sizeof(policy)),
		"--keys",
		"-",
		"--output",
		"csv",
		"--as",
		"hex",
		"--quiet",
		e->partial ? "--partial" : NULL,
		NULL,
	};
	int n;

	snprintf(table, sizeof(table), "%u", e->t->id);
	snprintf(epochs, sizeof(epochs), "%" PRIu64 "-%" PRIu64, e->from,
		 e->until);
	snprintf(copies, sizeof(copies), "%u", e->copies);
	snprintf(words, sizeof(words), "%s", r->ssh);
	n = words_split(words, argv,
			ARGS_MAX - (int)(sizeof(rest) / sizeof(rest[0])));
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
	u->format.columns = 0;
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
		size_t len;
		int rc;

		key_format(text, (enum key_type)t->key_type, keys[i],
			   t->key_len);
		len = strlen(text);
		text[len] = '\n';
		rc = send_all(u->to, text, len + 1);
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

static int read_header(struct run *u)
{
	char *line = next_line(u);

	return line ? replies_header(&u->format, line) : -EPIPE;
}

static int read_rows(struct run *u, const uint8_t *const *keys, size_t n,
		     struct reply *const *reply)
{
	const struct table *t = u->errand.t;
	char text[KEY_TEXT_MAX];

	if (!u->format.columns && read_header(u) < 0)
		return -EPIPE;
	for (size_t i = 0; i < n; i++) {
		char *line = next_line(u);

		if (!line)
			return -EPIPE;
		key_format(text, (enum key_type)t->key_type, keys[i],
			   t->key_len);
		if (!replies_row(&u->format, t, line, text, reply[i]))
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
		.copies = rule->copies		    ? rule->copies
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
