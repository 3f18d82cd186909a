/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flow.c - int-label-ctl flow: which flows a device marks as specific.
 *
 * simple_switch_CLI of BMv2 takes an entry of a table by its handle, which the
 * switch tells; so --exec asks first, and says then what is to be done.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bmv2/entry.h"
#include "cli/cli.h"
#include "commands.h"
#include "label/command.h"
#include "orders.h"

enum {
	FLOW_ADD,
	FLOW_DEL,
	ANSWER_MAX = 16384, /* bytes of what a command says */
};

struct flow_options {
	uint64_t every_ns, device;
	const char *send, *exec;
};

#define AT(field) CLI_AT(struct flow_options, field)

static const struct cli_option options[] = {
	{0, "every", "TIME", "mark one of its packets so often (10ms)",
	 CLI_TIME, AT(every_ns), .min = 1000,
	 .max = UINT32_MAX * UINT64_C(1000), .verbs = "add"},
	{'d', "device", "N",
	 "the device where the flow comes in, for --send and --exec", CLI_U64,
	 AT(device), .max = UINT32_MAX, .needs = "--send|--exec"},
	{0, "send", "PATH", "to its socket, {device} in its path; not stdout",
	 CLI_STR, AT(send)},
	{0, "exec", "CMD",
	 "to a switch of BMv2: simple_switch_CLI --thrift-port 9090", CLI_STR,
	 AT(exec)},
	{0},
};

static const struct cli_group groups[] = {{"--send --exec"}, {0}};

static const char *const verbs[] = {"add", "del", NULL};

static const struct cli cli = {
	.name = "int-label-ctl flow",
	.summary = "have every device on the way of a flow label its packets",
	.usage = "int-label-ctl flow add FLOW... [--every TIME]\n"
		 "         [--send PATH [-d N] | --exec CMD [-d N]]\n"
		 "int-label-ctl flow del FLOW...\n"
		 "         [--send PATH [-d N] | --exec CMD [-d N]]",
	.options = options,
	.groups = groups,
	.verbs = verbs,
};

static size_t read_key(uint8_t key[KEY_MAX], const char *text)
{
	static const enum key_type types[] = {KEY_FLOW4, KEY_FLOW6};

	for (unsigned i = 0; i < 2; i++) {
		size_t len = key_type_len(types[i]);

		if (strchr(text, '>') && !key_parse(key, types[i], len, text))
			return len;
	}
	cli_refuse("'%s' is no flow: 10.0.0.1:443>10.0.0.2:5501/tcp", text);
}

/* A file without a name. */
static int nameless(void)
{
	int fd = memfd_create("label-flow", MFD_CLOEXEC);

	if (fd < 0)
		cli_fail("--exec: %s", strerror(errno));
	return fd;
}

static void wait_for(const char *command, pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			cli_fail("--exec: %s", strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		cli_fail("--exec: '%s' failed", command);
}

/* A line to the command; answer is what it says. */
static void ask(const struct flow_options *o, const char *line,
		char answer[ANSWER_MAX])
{
	int in = nameless(), out = nameless(), rc;
	ssize_t n;
	pid_t pid;

	signal(SIGCHLD, SIG_DFL); /* ignored, it would hide how it ended */
	if (dprintf(in, "%s\n", line) < 0 || lseek(in, 0, SEEK_SET) < 0)
		cli_fail("--exec: %s", strerror(errno));
	rc = orders_spawn(&pid, o->exec, environ, (uint32_t)o->device, false,
			  in, out);
	if (rc < 0)
		cli_fail("--exec: %s", strerror(-rc));
	wait_for(o->exec, pid);
	n = pread(out, answer, ANSWER_MAX - 1, 0);
	answer[n > 0 ? n : 0] = '\0';
	close(in);
	close(out);
}

/* Exits if the switch has refused something. */
static void check(const char *flow, const char *answer)
{
	size_t len;
	const char *why = bmv2_refused(answer, &len);

	if (why)
		cli_fail("%s: the switch: %.*s", flow, (int)len, why);
}

static void tell_bmv2(const struct flow_options *o, const char *flow,
		      const uint8_t *key, size_t len, bool add)
{
	char line[LABEL_COMMAND_MAX], answer[ANSWER_MAX];
	uint64_t period_us = add ? o->every_ns / 1000 : 0;
	uint32_t handle;
	int rc;

	bmv2_entry_ask(line, key, len);
	ask(o, line, answer);
	rc = bmv2_entry_handle(&handle, answer);
	if (rc == -EPROTO) {
		check(flow, answer);
		cli_fail("--exec: '%s' does not speak as simple_switch_CLI",
			 o->exec);
	}
	if (rc == -ENOENT && !add)
		cli_fail("%s: the switch does not mark it", flow);
	if (rc == -ENOENT)
		label_command_flow(line, key, len, period_us);
	else
		bmv2_entry_change(line, len, handle, period_us);
	ask(o, line, answer);
	check(flow, answer);
}

static void tell(const struct flow_options *o, int fd, const char *line)
{
	int rc;

	if (!o->send) {
		printf("%s\n", line);
		return;
	}
	rc = orders_datagram(fd, o->send, (uint32_t)o->device, line);
	if (rc < 0)
		cli_fail("%s: %s", o->send, strerror(-rc));
}

static void one_flow(const struct flow_options *o, const char *flow, bool add,
		     int fd)
{
	char line[LABEL_COMMAND_MAX];
	uint8_t key[KEY_MAX];
	size_t len = read_key(key, flow);

	if (o->exec) {
		tell_bmv2(o, flow, key, len, add);
		return;
	}
	label_command_flow(line, key, len, add ? o->every_ns / 1000 : 0);
	tell(o, fd, line);
}

int flow_main(int argc, char **argv)
{
	struct flow_options o = {.every_ns = 10000000};
	int n, verb, fd;

	cli_start(&cli);
	n = cli_read(&cli, &o, argc, argv);
	verb = cli_verb(&cli, argv[n]);
	cli_check(&cli, &o, verb);
	if (n + 1 == argc)
		cli_usage(&cli, "%s which flow?", verbs[verb]);
	fd = o.send ? orders_socket() : -1;
	for (int i = n + 1; i < argc; i++)
		one_flow(&o, argv[i], verb == FLOW_ADD, fd);
	orders_socket_close(fd);
	return CLI_OK;
}
