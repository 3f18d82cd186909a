/* SPDX-License-Identifier: BSD-2-Clause */
#include "label/command.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS	       UINT64_C(1000000)
#define BACKOFF_MIN_NS (100 * MS) /* after a failure; twice that each time */
#define BACKOFF_MAX_NS (10000 * MS)
#define TIMEOUT_NS     (10000 * MS) /* in which a command has to end */

enum {
	COMMANDS_MAX = 16, /* that run at once */
};

/* The newest S of a port, until the switch has it. */
struct order {
	uint16_t port;
	uint8_t s;
	bool sent;    /* by the running command */
	bool changed; /* s has changed since it was sent */
};

struct label_switch {
	uint32_t device;
	struct order *order;
	unsigned n;
	pid_t pid;	      /* the running command; 0: none */
	uint64_t deadline_ns; /* of the command */
	uint64_t backoff_ns;  /* after the last failure; 0: it succeeded */
	uint64_t retry_ns;    /* no command before this time */
	bool failing;	      /* as was reported by trouble() */
};

/* clang-format off */
#define FIELD(counter, role) \
	LEDGER_FIELD(struct label_southbound_ledger, counter, role)
static const struct ledger_field fields[] = {
	FIELD(decisions, LEDGER_IN),
	FIELD(applied, LEDGER_DONE),
	FIELD(superseded, LEDGER_HARMLESS),
	FIELD(unsent, LEDGER_LOSS),
	FIELD(tries, LEDGER_NOTE),
	FIELD(failed, LEDGER_NOTE),
};
#undef FIELD
LEDGER_COMPLETE(fields, struct label_southbound_ledger);
/* clang-format on */

const struct ledger label_southbound_ledger = {
	"orders", "decisions", fields, sizeof(fields) / sizeof(fields[0])};

struct label_southbound {
	const char *exec;
	char *const *environment;
	void (*trouble)(uint32_t device, const char *why);
	struct label_southbound_ledger ctr;
	struct label_switch *sw;
	uint32_t n;
	uint32_t first;	  /* switch to begin with: they take turns */
	uint32_t running; /* commands */
	uint64_t orders;  /* of all switches */
};

struct label_southbound *
label_southbound_open(const char *exec, char *const *environment,
		      void (*trouble)(uint32_t device, const char *why))
{
	struct label_southbound *o = calloc(1, sizeof(*o));

	if (o) {
		o->exec = exec;
		o->environment = environment;
		o->trouble = trouble;
	}
	return o;
}

const struct label_southbound_ledger *
label_southbound_counters(const struct label_southbound *o)
{
	return &o->ctr;
}

void label_southbound_close(struct label_southbound *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < o->n; i++)
		free(o->sw[i].order);
	free(o->sw);
	free(o);
}

/* --- orders --------------------------------------------------------------- */

/* NULL: no memory. */
static struct label_switch *find_or_add_switch(struct label_southbound *o,
					       uint32_t device)
{
	struct label_switch *at;

	for (uint32_t i = 0; i < o->n; i++)
		if (o->sw[i].device == device)
			return &o->sw[i];
	if (!(at = realloc(o->sw, (o->n + 1) * sizeof(*at))))
		return NULL;
	o->sw = at;
	at[o->n] = (struct label_switch){.device = device};
	return &at[o->n++];
}

/* A newer S of a port replaces the one that waits. */
int label_southbound_add(struct label_southbound *o,
			 const struct label_decision *d)
{
	struct order order = {d->port->out, d->port->s, false, false}, *at;
	struct label_switch *sw;

	o->ctr.decisions++;
	sw = find_or_add_switch(o, d->port->device);
	for (at = sw ? sw->order : NULL; sw && at < sw->order + sw->n; at++)
		if (at->port == order.port) {
			at->s = order.s;
			o->ctr.superseded += at->changed || !at->sent;
			at->changed = at->sent;
			return 0;
		}
	if (!sw || !(at = realloc(sw->order, (sw->n + 1) * sizeof(*at)))) {
		o->ctr.unsent++;
		return -ENOMEM;
	}
	sw->order = at;
	at[sw->n++] = order;
	o->orders++;
	return 0;
}

/* --- commands ------------------------------------------------------------- */

/* Runs exec by sh, with all lines on its stdin and its output on stderr. It
 * leads a process group of its own, so that a signal reaches its children, and
 * it cannot read from the terminal. 0 or an errno. */
static int start_command(const struct label_southbound *o,
			 struct label_switch *sw)
{
	int fd = memfd_create("label-commands", MFD_CLOEXEC), rc;
	posix_spawn_file_actions_t to;
	posix_spawnattr_t attr;
	char line[LABEL_COMMAND_MAX], *command;

	if (fd < 0)
		return errno;
	for (unsigned i = 0; i < sw->n; i++) {
		label_command_s(line, sw->order[i].port, sw->order[i].s);
		dprintf(fd, "%s\n", line);
	}
	lseek(fd, 0, SEEK_SET);
	posix_spawnattr_init(&attr); /* these do not fail in Linux */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_init(&to);
	rc = posix_spawn_file_actions_adddup2(&to, fd, STDIN_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(&to, STDERR_FILENO,
						      STDOUT_FILENO);
	if (!rc && asprintf(&command,
			    "export LABEL_NODE=%" PRIu32
			    "; export LABEL_DEVICE=$LABEL_NODE\n%s",
			    sw->device, o->exec) < 0)
		rc = ENOMEM;
	if (!rc) {
		const char *const argv[] = {"sh", "-c", command, NULL};

		rc = posix_spawn(&sw->pid, "/bin/sh", &to, &attr,
				 (char *const *)argv, o->environment);
		free(command);
	}
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&to);
	close(fd);
	if (rc)
		sw->pid = 0;
	return rc;
}

/* Kills a command and its children. */
static void kill_command(struct label_switch *sw)
{
	pid_t pid = sw->pid;
	bool ours = kill(pid, SIGKILL) == 0;

	kill(-pid, SIGKILL);
	/* A process of another user, as by sudo, cannot be killed: no wait. */
	waitpid(pid, NULL, ours ? 0 : WNOHANG);
	sw->pid = 0;
}

static void report_trouble(struct label_southbound *o, struct label_switch *sw,
			   const char *why)
{
	if (sw->failing != !why)
		return;
	sw->failing = why;
	o->trouble(sw->device, why);
}

static void on_failure(struct label_southbound *o, struct label_switch *sw,
		       const char *why, uint64_t now_ns)
{
	o->ctr.failed++;
	report_trouble(o, sw, why);
	sw->backoff_ns = sw->backoff_ns ? 2 * sw->backoff_ns : BACKOFF_MIN_NS;
	if (sw->backoff_ns > BACKOFF_MAX_NS)
		sw->backoff_ns = BACKOFF_MAX_NS;
	sw->retry_ns = now_ns + sw->backoff_ns;
}

static void send_orders(struct label_southbound *o, struct label_switch *sw,
			uint64_t now_ns)
{
	int rc = start_command(o, sw);

	o->ctr.tries++;
	if (rc) {
		on_failure(o, sw, strerror(rc), now_ns);
		return;
	}
	for (unsigned i = 0; i < sw->n; i++)
		sw->order[i].sent = true;
	sw->deadline_ns = now_ns + TIMEOUT_NS;
	o->running++;
}

/* After a command: orders that failed or have changed since stay, to be sent
 * again. */
static void settle_orders(struct label_southbound *o, struct label_switch *sw,
			  bool ok)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < sw->n; i++) {
		struct order order = sw->order[i];

		if (order.sent && ok) {
			o->ctr.applied++;
			o->orders -= !order.changed;
		} else {
			o->ctr.superseded += order.changed;
		}
		if (order.sent && ok && !order.changed)
			continue;
		order.sent = order.changed = false;
		sw->order[kept++] = order;
	}
	sw->n = kept;
	o->running--;
}

static void check_switch(struct label_southbound *o, struct label_switch *sw,
			 uint64_t now_ns)
{
	char why[128] = "it did not end";
	int status;
	pid_t pid = waitpid(sw->pid, &status, WNOHANG);
	bool ok = pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status);

	if (!pid && now_ns < sw->deadline_ns)
		return;
	if (!pid)
		kill_command(sw);
	else if (pid < 0)
		snprintf(why, sizeof(why), "%s", strerror(errno));
	else if (WIFEXITED(status))
		snprintf(why, sizeof(why), "exit status %d",
			 WEXITSTATUS(status));
	else
		snprintf(why, sizeof(why), "signal %d", WTERMSIG(status));
	sw->pid = 0;
	settle_orders(o, sw, ok);
	if (ok) {
		sw->backoff_ns = 0;
		report_trouble(o, sw, NULL);
	} else {
		on_failure(o, sw, why, now_ns);
	}
}

void label_southbound_send_due(struct label_southbound *o, uint64_t now_ns)
{
	if (!o->orders)
		return;
	o->first++;
	for (uint32_t i = 0; i < o->n; i++) {
		struct label_switch *sw = &o->sw[(o->first + i) % o->n];

		if (sw->pid)
			check_switch(o, sw, now_ns);
		if (!sw->pid && sw->n && sw->retry_ns <= now_ns &&
		    o->running < COMMANDS_MAX)
			send_orders(o, sw, now_ns);
	}
}

bool label_southbound_busy(const struct label_southbound *o)
{
	return o->orders;
}

void label_southbound_stop(struct label_southbound *o)
{
	for (uint32_t i = 0; i < o->n; i++) {
		struct label_switch *sw = &o->sw[i];

		if (sw->pid) {
			kill_command(sw);
			settle_orders(o, sw, false);
			on_failure(o, sw, "it did not end", 0);
		}
		o->ctr.unsent += sw->n;
	}
}
