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

#define MS	      UINT64_C(1000000)
#define WAIT_FIRST_NS (100 * MS) /* after a failure; twice that each time */
#define WAIT_MOST_NS  (10000 * MS)
#define COMMAND_NS    (10000 * MS) /* in which a command has to end */

enum {
	AT_ONCE = 16, /* commands that are under way */
};

/* What S of a port shall be. */
struct order {
	uint16_t port;
	uint8_t s;
	bool said;  /* by the command under way */
	bool newer; /* and s is another one since */
};

struct label_southbound_switch {
	uint32_t device;
	struct order *at;
	unsigned n;
	pid_t run;	   /* the command under way; 0: none */
	uint64_t until_ns; /* it has to have ended */
	uint64_t wait_ns;  /* since the last failure; 0: there was none */
	uint64_t next_ns;  /* not before that */
	bool troubled;	   /* and that was told */
};

/* clang-format off */
#define FIELD(counter, role) \
	LEDGER_FIELD(struct label_southbound_ledger, counter, role)
static const struct ledger_field fields[] = {
	FIELD(decisions, LEDGER_IN),
	FIELD(told, LEDGER_DONE),
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
	struct label_southbound_switch *at;
	uint32_t n;
	uint32_t begin;	  /* the switch that is first, the next time */
	uint32_t running; /* commands */
	uint64_t orders;  /* that wait, or are under way */
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
		free(o->at[i].at);
	free(o->at);
	free(o);
}

/* --- what is to be said --------------------------------------------------- */

/* NULL: no memory. */
static struct label_southbound_switch *
find_or_add_switch(struct label_southbound *o, uint32_t device)
{
	struct label_southbound_switch *at;

	for (uint32_t i = 0; i < o->n; i++)
		if (o->at[i].device == device)
			return &o->at[i];
	if (!(at = realloc(o->at, (o->n + 1) * sizeof(*at))))
		return NULL;
	o->at = at;
	at[o->n] = (struct label_southbound_switch){.device = device};
	return &at[o->n++];
}

/* The newest S of a port counts: what waits of it is not said. */
int label_southbound_add(struct label_southbound *o,
			 const struct label_decision *d)
{
	struct order order = {d->port->out, d->port->s, false, false}, *at;
	struct label_southbound_switch *sw;

	o->ctr.decisions++;
	sw = find_or_add_switch(o, d->port->device);
	for (at = sw ? sw->at : NULL; sw && at < sw->at + sw->n; at++)
		if (at->port == order.port) {
			at->s = order.s;
			o->ctr.superseded += at->newer || !at->said;
			at->newer = at->said;
			return 0;
		}
	if (!sw || !(at = realloc(sw->at, (sw->n + 1) * sizeof(*at)))) {
		o->ctr.unsent++;
		return -ENOMEM;
	}
	sw->at = at;
	at[sw->n++] = order;
	o->orders++;
	return 0;
}

/* --- how it is said ------------------------------------------------------- */

/*
 * A command is under way: by sh, all lines on its stdin, as the leader of a
 * group, so that a signal reaches what it has begun, and it cannot ask on the
 * terminal. Its output goes where messages go. 0 or an errno.
 */
static int start_command(const struct label_southbound *o,
			 struct label_southbound_switch *sw)
{
	int fd = memfd_create("label-commands", MFD_CLOEXEC), rc;
	posix_spawn_file_actions_t to;
	posix_spawnattr_t attr;
	char line[LABEL_COMMAND_MAX], *command;

	if (fd < 0)
		return errno;
	for (unsigned i = 0; i < sw->n; i++) {
		label_command_s(line, sw->at[i].port, sw->at[i].s);
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
	if (!rc && asprintf(&command, "export LABEL_DEVICE=%" PRIu32 "\n%s",
			    sw->device, o->exec) < 0)
		rc = ENOMEM;
	if (!rc) {
		const char *const argv[] = {"sh", "-c", command, NULL};

		rc = posix_spawn(&sw->run, "/bin/sh", &to, &attr,
				 (char *const *)argv, o->environment);
		free(command);
	}
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&to);
	close(fd);
	if (rc)
		sw->run = 0;
	return rc;
}

/* Ends it, with all that it has begun. */
static void kill_command(struct label_southbound_switch *sw)
{
	pid_t pid = sw->run;
	bool ours = kill(pid, SIGKILL) == 0;

	kill(-pid, SIGKILL);
	/* What has become another user's, as by sudo, is not waited for. */
	waitpid(pid, NULL, ours ? 0 : WNOHANG);
	sw->run = 0;
}

/* --- said, and whether it was heard --------------------------------------- */

static void report_trouble(struct label_southbound *o,
			   struct label_southbound_switch *sw, const char *why)
{
	if (sw->troubled != !why)
		return;
	sw->troubled = why;
	o->trouble(sw->device, why);
}

static void on_failure(struct label_southbound *o,
		       struct label_southbound_switch *sw, const char *why,
		       uint64_t now_ns)
{
	o->ctr.failed++;
	report_trouble(o, sw, why);
	sw->wait_ns = sw->wait_ns ? 2 * sw->wait_ns : WAIT_FIRST_NS;
	if (sw->wait_ns > WAIT_MOST_NS)
		sw->wait_ns = WAIT_MOST_NS;
	sw->next_ns = now_ns + sw->wait_ns;
}

static void send_orders(struct label_southbound *o,
			struct label_southbound_switch *sw, uint64_t now_ns)
{
	int rc = start_command(o, sw);

	o->ctr.tries++;
	if (rc) {
		on_failure(o, sw, strerror(rc), now_ns);
		return;
	}
	for (unsigned i = 0; i < sw->n; i++)
		sw->at[i].said = true;
	sw->until_ns = now_ns + COMMAND_NS;
	o->running++;
}

/* What its command has said was heard, or has to be said again; what came
 * meanwhile is still to be said. */
static void settle_orders(struct label_southbound *o,
			  struct label_southbound_switch *sw, bool ok)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < sw->n; i++) {
		struct order order = sw->at[i];

		if (order.said && ok) {
			o->ctr.told++;
			o->orders -= !order.newer;
		} else {
			o->ctr.superseded += order.newer;
		}
		if (order.said && ok && !order.newer)
			continue;
		order.said = order.newer = false;
		sw->at[kept++] = order;
	}
	sw->n = kept;
	o->running--;
}

static void check_switch(struct label_southbound *o,
			 struct label_southbound_switch *sw, uint64_t now_ns)
{
	char why[128] = "it did not end";
	int status;
	pid_t pid = waitpid(sw->run, &status, WNOHANG);
	bool ok = pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status);

	if (!pid && now_ns < sw->until_ns)
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
	sw->run = 0;
	settle_orders(o, sw, ok);
	if (ok) {
		sw->wait_ns = 0;
		report_trouble(o, sw, NULL);
	} else {
		on_failure(o, sw, why, now_ns);
	}
}

void label_southbound_send_due(struct label_southbound *o, uint64_t now_ns)
{
	if (!o->orders)
		return;
	o->begin++;
	for (uint32_t i = 0; i < o->n; i++) {
		struct label_southbound_switch *sw =
			&o->at[(o->begin + i) % o->n];

		if (sw->run)
			check_switch(o, sw, now_ns);
		if (!sw->run && sw->n && sw->next_ns <= now_ns &&
		    o->running < AT_ONCE)
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
		struct label_southbound_switch *sw = &o->at[i];

		if (sw->run) {
			kill_command(sw);
			settle_orders(o, sw, false);
			on_failure(o, sw, "it did not end", 0);
		}
		o->ctr.unsent += sw->n;
	}
}
