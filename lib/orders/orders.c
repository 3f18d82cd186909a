/* SPDX-License-Identifier: BSD-2-Clause */
#include "orders/orders.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/due.h"

#define MS	      UINT64_C(1000000)
#define WAIT_FIRST_NS (100 * MS) /* after a failure; twice that each time */
#define WAIT_MOST_NS  (10000 * MS)
#define WAIT_FULL_NS  MS /* a socket takes only so many, until they are read */
#define FULL_LONG_NS  (1000 * MS)  /* then it is told */
#define COMMAND_NS    (10000 * MS) /* in which a command has to end */

enum {
	FIRST = 64,   /* switches there is room for at first */
	AT_ONCE = 16, /* commands that are under way */
	/* Of say(): */
	UNDER_WAY = 1,
	FULL = 2, /* there is no room now */
};

struct label_order {
	uint16_t port;
	uint8_t s;
};

struct label_orders_list {
	struct label_order *at;
	unsigned n, room;
};

struct label_orders_switch {
	uint32_t device;
	struct label_orders_list waiting, said;
	pid_t run;	   /* the command under way; 0: none */
	uint64_t until_ns; /* it has to have ended */
	uint64_t wait_ns;  /* since the last failure; 0: there was none */
	uint64_t next_ns;  /* not before that */
	uint64_t full_ns;  /* since when it has no room; 0: it has */
	bool troubled;	   /* and that was told */
};

/* clang-format off */
#define FIELD(counter, role) \
	LEDGER_FIELD(struct label_orders_ledger, counter, role)
static const struct ledger_field fields[] = {
	FIELD(decisions, LEDGER_IN),
	FIELD(told, LEDGER_DONE),
	FIELD(superseded, LEDGER_HARMLESS),
	FIELD(unsent, LEDGER_LOSS),
	FIELD(tries, LEDGER_NOTE),
	FIELD(failed, LEDGER_NOTE),
};
#undef FIELD
LEDGER_COMPLETE(fields, struct label_orders_ledger);
/* clang-format on */

const struct ledger label_orders_ledger = {"orders", "decisions", fields,
					   sizeof(fields) / sizeof(fields[0])};

struct label_orders {
	struct label_orders_options o;
	struct label_orders_ledger ctr;
	struct label_orders_switch *at;
	uint32_t *slot; /* 2 * room of them: number of a switch + 1, or 0 */
	uint32_t n, room;
	struct dues due; /* switches that something waits for */
	uint32_t run[AT_ONCE], running;
	int fd; /* of send, or -1 */
	int err;
};

int label_orders_open(struct label_orders **out,
		      const struct label_orders_options *options)
{
	struct label_orders *o = calloc(1, sizeof(*o));
	int rc = 0;

	if (!o)
		return -ENOMEM;
	o->o = *options;
	o->fd = -1;
	if (o->o.send && (o->fd = orders_socket_open()) < 0)
		rc = o->fd;
	if (rc) {
		label_orders_close(o);
		return rc;
	}
	*out = o;
	return 0;
}

const struct label_orders_ledger *
label_orders_counters(const struct label_orders *o)
{
	return &o->ctr;
}

void label_orders_close(struct label_orders *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < o->n; i++) {
		free(o->at[i].waiting.at);
		free(o->at[i].said.at);
	}
	if (o->fd >= 0)
		close(o->fd);
	dues_fini(&o->due);
	free(o->at);
	free(o->slot);
	free(o);
}

/* --- which switch --------------------------------------------------------- */

static uint32_t *slot_of(const struct label_orders *o, uint32_t device)
{
	uint32_t mask = 2 * o->room - 1, i = (uint32_t)rng_mix(device) & mask;

	while (o->slot[i] && o->at[o->slot[i] - 1].device != device)
		i = (i + 1) & mask;
	return &o->slot[i];
}

static int grow(struct label_orders *o)
{
	uint32_t room = o->room ? 2 * o->room : FIRST;
	uint32_t *slot = calloc(2 * (size_t)room, sizeof(*slot));
	struct label_orders_switch *at = realloc(o->at, room * sizeof(*at));

	if (at)
		o->at = at;
	if (!slot || !at) {
		free(slot);
		return -ENOMEM;
	}
	free(o->slot);
	o->slot = slot;
	o->room = room;
	for (uint32_t i = 0; i < o->n; i++)
		*slot_of(o, at[i].device) = i + 1;
	return 0;
}

/* Its number; UINT32_MAX: no memory. */
static uint32_t switch_of(struct label_orders *o, uint32_t device)
{
	uint32_t *slot;

	if (o->n == o->room && grow(o) < 0)
		return UINT32_MAX;
	slot = slot_of(o, device);
	if (!*slot) {
		o->at[o->n] = (struct label_orders_switch){.device = device};
		*slot = ++o->n;
	}
	return *slot - 1;
}

/* --- what waits for it ---------------------------------------------------- */

/* The newest S of a port counts: what waits of it is not said. */
static void add(struct label_orders *o, struct label_orders_list *l,
		const struct label_order *order)
{
	struct label_order *at;

	for (unsigned i = 0; i < l->n; i++)
		if (l->at[i].port == order->port) {
			l->at[i].s = order->s;
			o->ctr.superseded++;
			return;
		}
	if (l->n == l->room) {
		unsigned room = l->room ? 2 * l->room : 8;

		if (!(at = realloc(l->at, room * sizeof(*at)))) {
			o->ctr.unsent++;
			o->err = -ENOMEM;
			return;
		}
		l->at = at;
		l->room = room;
	}
	l->at[l->n++] = *order;
}

/* It has its turn when it may have it: not while it is under way. */
static void set_due(struct label_orders *o, uint32_t i, uint64_t now_ns)
{
	const struct label_orders_switch *sw = &o->at[i];
	uint64_t ns = sw->next_ns > now_ns ? sw->next_ns : now_ns;

	if (sw->run || !sw->waiting.n)
		ns = DUE_NEVER;
	else if (dues_of(&o->due, i) < ns)
		return;
	if (dues_set(&o->due, i, ns) < 0)
		o->err = -ENOMEM;
}

/* --- how it is said ------------------------------------------------------- */

/* All lines as a file without a name, to be read from its beginning. */
static int file_of(const struct label_orders_switch *sw)
{
	int fd = memfd_create("label-commands", MFD_CLOEXEC);
	char line[LABEL_COMMAND_MAX];

	if (fd < 0)
		return -errno;
	for (unsigned i = 0; i < sw->said.n; i++) {
		label_command_s(line, sw->said.at[i].port, sw->said.at[i].s);
		dprintf(fd, "%s\n", line);
	}
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* An environment with LABEL_DEVICE in it, to be freed. Ours itself is not
 * changed: other threads read it. */
static char **with_device(char *const *was, char *device)
{
	size_t n = 0, kept = 0;
	char **env;

	while (was[n])
		n++;
	if (!(env = malloc((n + 2) * sizeof(*env))))
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (strncmp(was[i], device, strcspn(device, "=") + 1) != 0)
			env[kept++] = was[i];
	env[kept++] = device;
	env[kept] = NULL;
	return env;
}

/* By sh, as the leader of a group, so that a signal reaches what it has begun,
 * and it cannot ask on the terminal. Its output goes where messages go. */
static int spawn(pid_t *pid, const char *command, int in, char **env)
{
	const char *const argv[] = {"sh", "-c", command, NULL};
	posix_spawn_file_actions_t to;
	posix_spawnattr_t attr;
	int rc = posix_spawn_file_actions_init(&to);

	if (rc)
		return -rc;
	posix_spawnattr_init(&attr); /* neither fails in Linux */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	rc = posix_spawn_file_actions_adddup2(&to, in, STDIN_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(&to, STDERR_FILENO,
						      STDOUT_FILENO);
	if (!rc)
		rc = posix_spawn(pid, "/bin/sh", &to, &attr,
				 (char *const *)argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&to);
	return -rc;
}

/* A command with what is said on its stdin, under way. Or -errno. */
static int run(const struct label_orders *o, struct label_orders_switch *sw)
{
	char text[32], **env;
	int fd = file_of(sw), rc = -ENOMEM;
	pid_t pid = 0;

	if (fd < 0)
		return fd;
	snprintf(text, sizeof(text), "LABEL_DEVICE=%" PRIu32, sw->device);
	if ((env = with_device(o->o.environment, text)))
		rc = spawn(&pid, o->o.exec, fd, env);
	free(env);
	close(fd);
	sw->run = rc ? 0 : pid;
	return rc ? rc : UNDER_WAY;
}

/* How it has ended: 1 well, -1 not, and why; 0: it has not. */
static int reap(struct label_orders_switch *sw, char *why, size_t size)
{
	int status;
	pid_t pid = waitpid(sw->run, &status, WNOHANG);

	if (!pid)
		return 0;
	sw->run = 0;
	if (pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status))
		return 1;
	if (pid < 0)
		snprintf(why, size, "%s", strerror(errno));
	else if (WIFEXITED(status))
		snprintf(why, size, "exit status %d", WEXITSTATUS(status));
	else
		snprintf(why, size, "signal %d", WTERMSIG(status));
	return -1;
}

/* Ends it, with all that it has begun. */
static void end_run(struct label_orders_switch *sw)
{
	pid_t pid = sw->run;
	bool ours = kill(pid, SIGKILL) == 0;

	kill(-pid, SIGKILL);
	/* What has become another user's, as by sudo, is not waited for. */
	waitpid(pid, NULL, ours ? 0 : WNOHANG);
	sw->run = 0;
}

int orders_socket_open(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? -errno : fd;
}

/* The path with the switch's number for {device}. */
static int address_of(struct sockaddr_un *a, const char *path, uint32_t device)
{
	static const char mark[] = "{device}";
	const char *at = strstr(path, mark);
	size_t room = sizeof(a->sun_path);
	int n;

	*a = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (at)
		n = snprintf(a->sun_path, room, "%.*s%" PRIu32 "%s",
			     (int)(at - path), path, device, at + strlen(mark));
	else
		n = snprintf(a->sun_path, room, "%s", path);
	return n < 0 || (size_t)n >= room ? -ENAMETOOLONG : 0;
}

int orders_datagram(int fd, const char *path, uint32_t device, const char *line)
{
	struct sockaddr_un a;
	int rc = address_of(&a, path, device);

	if (!rc && sendto(fd, line, strlen(line), 0, (struct sockaddr *)&a,
			  sizeof(a)) < 0)
		rc = -errno;
	return rc;
}

/* Says it, line by line; *sent: the first ones that got there. 0, FULL or
 * -errno. */
static int send_all(const struct label_orders *o,
		    const struct label_orders_switch *sw, unsigned *sent)
{
	char line[LABEL_COMMAND_MAX];

	for (*sent = 0; *sent < sw->said.n; ++*sent) {
		const struct label_order *order = &sw->said.at[*sent];
		int rc;

		label_command_s(line, order->port, order->s);
		rc = orders_datagram(o->fd, o->o.send, sw->device, line);
		if (rc < 0)
			return rc == -EAGAIN ? FULL : rc;
	}
	return 0;
}

/* --- said, and whether it was heard --------------------------------------- */

static void tell_trouble(struct label_orders *o, struct label_orders_switch *sw,
			 const char *why)
{
	if (sw->troubled != !why)
		return;
	sw->troubled = why;
	o->o.trouble(o->o.ctx, sw->device, why);
}

static void heard(struct label_orders *o, struct label_orders_switch *sw)
{
	o->ctr.told += sw->said.n;
	sw->said.n = 0;
	sw->wait_ns = sw->full_ns = 0;
	tell_trouble(o, sw, NULL);
}

/* What was said waits again, but for what is newer. */
static void wait_again(struct label_orders *o, struct label_orders_switch *sw,
		       uint64_t next_ns)
{
	struct label_orders_list newer = sw->waiting;

	sw->next_ns = next_ns;
	sw->waiting = sw->said;
	sw->said = newer;
	for (unsigned i = 0; i < newer.n; i++)
		add(o, &sw->waiting, &newer.at[i]);
	sw->said.n = 0;
}

static void not_heard(struct label_orders *o, struct label_orders_switch *sw,
		      const char *why, uint64_t now_ns)
{
	o->ctr.failed++;
	tell_trouble(o, sw, why);
	sw->wait_ns = sw->wait_ns ? 2 * sw->wait_ns : WAIT_FIRST_NS;
	if (sw->wait_ns > WAIT_MOST_NS)
		sw->wait_ns = WAIT_MOST_NS;
	wait_again(o, sw, now_ns + sw->wait_ns);
}

/* A full socket is no failure; it is read, if later. */
static void no_room(struct label_orders *o, struct label_orders_switch *sw,
		    uint64_t now_ns)
{
	if (!sw->full_ns)
		sw->full_ns = now_ns;
	if (now_ns - sw->full_ns >= FULL_LONG_NS)
		tell_trouble(o, sw, "it does not read them");
	wait_again(o, sw, now_ns + WAIT_FULL_NS);
}

/* The first ones got there: they are not said again. */
static void heard_some(struct label_orders *o, struct label_orders_switch *sw,
		       unsigned sent)
{
	o->ctr.told += sent;
	sw->said.n -= sent;
	if (sent)
		sw->full_ns = 0;
	memmove(sw->said.at, sw->said.at + sent,
		sw->said.n * sizeof(*sw->said.at));
}

static void say(struct label_orders *o, uint32_t i, uint64_t now_ns)
{
	struct label_orders_switch *sw = &o->at[i];
	struct label_orders_list empty = sw->said;
	unsigned sent = 0;
	int rc;

	sw->said = sw->waiting;
	sw->waiting = empty;
	o->ctr.tries++;
	rc = o->o.exec ? run(o, sw) : send_all(o, sw, &sent);
	if (sent && (rc < 0 || rc == FULL))
		heard_some(o, sw, sent);
	if (rc == FULL) {
		no_room(o, sw, now_ns);
	} else if (rc < 0) {
		not_heard(o, sw, strerror(-rc), now_ns);
	} else if (rc == 0) {
		heard(o, sw);
	} else {
		sw->until_ns = now_ns + COMMAND_NS;
		o->run[o->running++] = i;
	}
	dues_set(&o->due, i, DUE_NEVER);
	set_due(o, i, now_ns);
}

static bool has_ended(struct label_orders *o, struct label_orders_switch *sw,
		      uint64_t now_ns)
{
	char why[128];
	int rc = reap(sw, why, sizeof(why));

	if (!rc && now_ns >= sw->until_ns) {
		end_run(sw);
		snprintf(why, sizeof(why), "it did not end");
		rc = -1;
	}
	if (rc > 0)
		heard(o, sw);
	else if (rc < 0)
		not_heard(o, sw, why, now_ns);
	return rc;
}

int label_orders_turn(struct label_orders *o, uint64_t now_ns)
{
	for (uint32_t i = 0; i < o->running;) {
		uint32_t who = o->run[i];

		if (!has_ended(o, &o->at[who], now_ns)) {
			i++;
			continue;
		}
		o->run[i] = o->run[--o->running];
		set_due(o, who, now_ns);
	}
	while (o->running < AT_ONCE && dues_first(&o->due).ns <= now_ns)
		say(o, dues_first(&o->due).who, now_ns);
	return o->err;
}

/* On stdout nothing waits. */
static void print(struct label_orders *o, const struct label_order *order)
{
	char line[LABEL_COMMAND_MAX];

	label_command_s(line, order->port, order->s);
	if (o->o.print(o->o.ctx, line) < 0)
		o->ctr.unsent++;
	else
		o->ctr.told++;
}

int label_orders_take(struct label_orders *o, const struct label_decision *d,
		      uint64_t now_ns)
{
	struct label_order order = {d->port->out, d->port->s};
	uint32_t i;

	o->ctr.decisions++;
	if (!o->o.exec && !o->o.send) {
		print(o, &order);
		return 0;
	}
	i = switch_of(o, d->port->device);
	if (i == UINT32_MAX) {
		o->ctr.unsent++;
		return o->err = -ENOMEM;
	}
	add(o, &o->at[i].waiting, &order);
	set_due(o, i, now_ns);
	return o->err;
}

bool label_orders_busy(const struct label_orders *o)
{
	return o->running || o->due.n;
}

void label_orders_end(struct label_orders *o)
{
	for (uint32_t i = 0; i < o->running; i++) {
		struct label_orders_switch *sw = &o->at[o->run[i]];

		end_run(sw);
		o->ctr.failed++;
		tell_trouble(o, sw, "it did not end");
		wait_again(o, sw, 0);
	}
	o->running = 0;
	for (uint32_t i = 0; i < o->n; i++)
		o->ctr.unsent += o->at[i].waiting.n;
}
