/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * label.c - int-label-ctl label, a device of INT-label: passes packets from one
 * capture to another or, in both directions, between two interfaces.
 */
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/live.h"
#include "commands.h"
#include "label/command.h"
#include "net/net.h"

/* The two sides of the device. The number of a side's port is 1 more. */
enum hop_side { HOP_IN, HOP_OUT, HOP_SIDES };

struct hop_options {
	const char *read, *write; /* one way, through captures */
	struct cli_live live;	  /* both ways, between interfaces */
	const char *to;
	struct label_hop_options hop;
	struct label_router router[LABEL_ROUTERS_MAX];
	uint64_t interval_ns, rest_ns;
	unsigned edge; /* 1 << enum hop_side: a host is there */
	const char *export, *collector, *control;
	enum row_format format;
	bool quiet;
};

/* Whether labels that end here are exported. */
static bool hop_exports(const struct hop_options *o)
{
	return o->export || o->collector;
}

/* --- the command line ----------------------------------------------------- */

#define AT(field) CLI_AT(struct hop_options, field)

static int read_routers(void *opts, const char *text, struct error *why)
{
	struct hop_options *o = opts;
	char one[64];
	unsigned n = 0;
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (n == LABEL_ROUTERS_MAX)
			return error_set(why, -E2BIG,
					 "has more than %d addresses",
					 LABEL_ROUTERS_MAX);
		snprintf(one, sizeof(one), "%.*s", (int)len, text);
		o->router[n].version = text_ip(o->router[n].ip, one);
		if (!o->router[n++].version)
			return error_set(why, -EINVAL,
					 "is not a list of IP addresses");
		if (!text[len])
			break;
	}
	o->hop.routers = o->router;
	o->hop.n_routers = n;
	return 0;
}

static const char *const edges[] = {"none", "in", "out", "both", NULL};

static const struct cli_option options[] = {
	{'r', "read", "FILE", "packets that come in, a capture (- is stdin)",
	 CLI_IN, AT(read)},
	{'w', "write", "FILE", "packets that leave, to a capture", CLI_OUT,
	 AT(write), .needs = "-r"},
	{'i', "interface", "IFACE", "the interface of the one side", CLI_STR,
	 AT(live.name), .needs = "--to"},
	{0, "to", "IFACE", "and of the other: packets pass both ways", CLI_STR,
	 AT(to), .needs = "-i"},
	{'d', "node", "N", "its number, by which its labels are known", CLI_U64,
	 AT(hop.device), .was = "--device"},
	{0, "edge", "SIDE",
	 "where hosts are: in, out, both or none (default): labels end there",
	 CLI_WORD, AT(edge), .words = edges},
	{0, "routers", "LIST",
	 "own addresses of routers next to it: packets to them have no labels",
	 CLI_CALL, .read = read_routers},
	POLICY_OPTIONS(struct hop_options, hop.policy, interval_ns, rest_ns,
		       NULL),
	{'e', "export", "FILE", "labels that end here, to a capture", CLI_OUT,
	 AT(export)},
	{0, "collector", "ADDRESS", "labels that end here, to ADDRESS[:PORT]",
	 CLI_STR, AT(collector)},
	{0, "control", "PATH",
	 "obey lines of a file or stdin (-) first, or of a socket made there",
	 CLI_STR, AT(control)},
	{0, "xdp", NULL, "receive by AF_XDP or fail", CLI_FLAG,
	 AT(live.options.kind), .min = LIVE_XDP, .needs = "-i"},
	{'o', "output", "FORMAT", "ledger as text, csv or ndjson", CLI_FORMAT,
	 AT(format)},
	{'q', "quiet", NULL, "no ledger", CLI_FLAG, AT(quiet)},
	{0},
};

static const struct cli_group groups[] = {
	{"-r -i", .ask = "where are the packets?"},
	{"--export --collector"},
	{0},
};

static const struct cli hop_cli = {
	.name = "int-label-ctl label",
	.summary = "a device of INT-label: labels packets on their way",
	.usage = "int-label-ctl label -d N -r FILE [-w FILE] [-e FILE]\n"
		 "int-label-ctl label -d N -i IFACE --to IFACE "
		 "[--collector ADDRESS]",
	.options = options,
	.groups = groups,
};

/* Exits on options that make no sense together. */
static void check_use(const struct hop_options *o)
{
	unsigned ends = o->live.name ? 1 << HOP_IN | 1 << HOP_OUT
				     : 1 << HOP_OUT;

	if (o->read && o->control && !strcmp(o->read, "-") &&
	    !strcmp(o->control, "-"))
		cli_refuse("--control: packets come from stdin already");
	/* Two names may be of one interface. */
	if (o->live.name &&
	    (!strcmp(o->live.name, o->to) ||
	     (if_nametoindex(o->to) &&
	      if_nametoindex(o->to) == if_nametoindex(o->live.name))))
		cli_refuse("--to: '%s' is --interface, too", o->to);
	if (hop_exports(o) && !(o->edge & ends) && !o->hop.n_routers)
		cli_usage(&hop_cli,
			  "--%s: no labels end here: say --edge, where hosts "
			  "are",
			  o->export ? "export" : "collector");
}

static void hop_options_read(struct hop_options *o, int argc, char **argv)
{
	int n;

	*o = (struct hop_options){
		.hop = {.format = label_format_default},
		.interval_ns = POLICY_INTERVAL_NS,
	};
	n = cli_read(&hop_cli, o, argc, argv);
	if (n < argc)
		cli_usage(&hop_cli, "'%s': no such argument", argv[n]);
	cli_check(&hop_cli, o, -1);
	if (!cli_option_text(&hop_cli, "--node"))
		cli_usage(&hop_cli, "which --node is it?");
	check_use(o);
	policy_set(&hop_cli, &o->hop.policy, o->interval_ns, o->rest_ns);
	o->live.format = o->format;
}

/* --- labels that end here, exported to the controller --------------------- */

struct hop_export {
	const char *name;
	struct snk *file; /* a capture; NULL: none */
	int fd;		  /* a UDP socket; -1: none */
	struct sockaddr_storage to;
	socklen_t to_len;
	uint64_t unsent; /* datagrams */
};

/* The socket is not connected: where a collector captures packets and has no
 * socket for them, ICMP errors would make every second sendto() fail. */
static void open_collector(struct hop_export *e, const struct hop_options *o)
{
	struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *found;
	char host[256], text[8];
	const char *port;
	int rc;

	if (!text_host(host, sizeof(host), &port, o->collector))
		cli_refuse("--collector: '%s' is not ADDRESS or ADDRESS:PORT",
			   o->collector);
	if (!port) {
		snprintf(text, sizeof(text), "%u", o->hop.format.export_port);
		port = text;
	}
	if ((rc = getaddrinfo(host, port, &hints, &found)))
		cli_fail("--collector: %s: %s", o->collector, gai_strerror(rc));
	e->fd = socket(found->ai_family,
		       SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (e->fd < 0)
		cli_fail("--collector: %s: %s", o->collector, strerror(errno));
	memcpy(&e->to, found->ai_addr, found->ai_addrlen);
	e->to_len = found->ai_addrlen;
	freeaddrinfo(found);
}

static void hop_export_open(struct hop_export *e, const struct hop_options *o)
{
	struct error err = {0};

	*e = (struct hop_export){.fd = -1, .name = o->export};
	if (o->export && cli_snk_open(&e->file, o->export, &err) < 0)
		cli_error(o->export, &err);
	if (o->collector)
		open_collector(e, o);
}

/* Exports a frame of label_hop_pass(). Errors of the file show at its close. */
static void hop_export_put(struct hop_export *e, const uint8_t *frame,
			   size_t len, uint64_t ts_ns)
{
	struct pkt p = {frame, (uint32_t)len, (uint32_t)len, ts_ns};
	struct cur c = cur_of(frame, len);
	const uint8_t *at;

	if (e->file)
		snk_tx(e->file, &p, 1);
	/* A collector that is not there yet is no reason to end. */
	if (e->fd >= 0 && net_eth_skip(&c, &at) >= 0 &&
	    sendto(e->fd, c.p, cur_left(&c), 0, (struct sockaddr *)&e->to,
		   e->to_len) < 0)
		e->unsent++;
}

/* 0 or -errno. */
static int hop_export_close(struct hop_export *e)
{
	int rc = e->file ? snk_close(e->file) : 0;

	if (e->fd >= 0)
		close(e->fd);
	if (e->unsent)
		cli_warn("--collector: %" PRIu64 " datagrams were not taken",
			 e->unsent);
	if (rc)
		cli_warn("%s: %s", e->name, strerror(-rc));
	return rc;
}

/* --- lines of commands to this device ------------------------------------- */

static int make_socket(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct stat st;
	int fd;

	if (strlen(path) >= sizeof(a.sun_path))
		cli_refuse("--control: '%s' is too long for a socket", path);
	memcpy(a.sun_path, path, strlen(path) + 1);
	/* A socket that an earlier run has left. */
	if (!stat(path, &st) && S_ISSOCK(st.st_mode))
		unlink(path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		cli_fail("%s: %s", path, strerror(errno));
	return fd;
}

static void run_command(struct label_hop *h, const char *line)
{
	struct label_command cmd;
	int rc = label_command_read(&cmd, line);

	if (rc)
		cli_warn("--control: '%s' is no command, as COMMANDS of "
			 "int-label-ctl(1) has them",
			 line);
	else if (cmd.kind == LABEL_COMMAND_S)
		label_hop_set_s(h, cmd.port, cmd.s);
	else if (cmd.kind == LABEL_COMMAND_FLOW_ADD)
		rc = label_hop_flow_add(h, cmd.key, cmd.key_len, cmd.period_us);
	else
		rc = label_hop_flow_del(h, cmd.key, cmd.key_len);
	if (rc == -ENOSPC)
		cli_warn("--control: '%s' is one flow above %d", line,
			 LABEL_FLOWS_MAX);
	if (rc == -ENOENT)
		cli_warn("--control: '%s' names a flow that is not there",
			 line);
}

/* Carries out all lines of a text, which is changed. */
static void run_lines(struct label_hop *h, char *text)
{
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		run_command(h, line);
}

static void run_file(struct label_hop *h, const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *line = NULL;
	size_t room = 0;

	if (!f)
		cli_fail("%s: %s", path, strerror(errno));
	while (!cli_stop && getline(&line, &room, f) >= 0)
		run_lines(h, line);
	if (ferror(f) && !cli_stop)
		cli_fail("%s: %s", path, strerror(errno));
	free(line);
	if (f != stdin)
		fclose(f);
}

/* Carries out the commands of a file and returns -1, or makes a socket for
 * commands and returns it. quiet: without a message about the socket. */
static int hop_control_open(struct label_hop *h, const char *path, bool quiet)
{
	struct stat st;
	int fd;

	if (!path)
		return -1;
	if (!strcmp(path, "-") || (!stat(path, &st) && !S_ISSOCK(st.st_mode))) {
		run_file(h, path);
		return -1;
	}
	fd = make_socket(path);
	if (!quiet)
		cli_warn("--control: a socket is at %s, for commands", path);
	return fd;
}

/* Carries out the datagrams that wait; each is whole lines. */
static void read_control_socket(int fd, struct label_hop *h)
{
	static char text[65536]; /* as much as socat(1) sends, and more */
	ssize_t n;

	while ((n = recv(fd, text, sizeof(text) - 1,
			 MSG_DONTWAIT | MSG_TRUNC)) >= 0) {
		if ((size_t)n >= sizeof(text)) {
			cli_warn("--control: a datagram is too long");
			continue;
		}
		text[n] = '\0';
		run_lines(h, text);
	}
}

/* --- packets -------------------------------------------------------------- */

struct direction {
	struct src *src;
	struct snk *snk; /* NULL: packets go nowhere */
	enum hop_side from, to;
};

struct hop_run {
	struct hop_options o;
	struct label_hop *h;
	struct direction
		direction[HOP_SIDES]; /* the first one is read by the loop */
	struct hop_export export;
	int control; /* a socket for commands, or -1 */
	struct cli_loop loop;
	uint8_t *export_buf; /* PKT_MAX and a label, for exports */
	int error;
	struct error why;
	const char *failed; /* name of the source; NULL: the loop's */
};

static void print_ledgers(void *run)
{
	struct hop_run *r = run;

	cli_ledger(&label_hop_ledger, label_hop_counters(r->h), r->o.format);
}

/* The device's state for a packet. The time of a capture is its packets'. Of an
 * interface it is ours: latency is since the kernel received the packet, queue
 * is how many of its batch are behind it. */
static void set_state(const struct hop_run *r, struct label_transit *t,
		      const struct pkt *p, int behind)
{
	uint64_t now_ns = r->o.live.name ? clock_wall_ns() : p->ts_ns;
	uint64_t ns = now_ns > p->ts_ns ? now_ns - p->ts_ns : 0;

	t->now_us = now_ns / 1000;
	t->latency_ns = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
	t->queue = r->o.live.name ? (uint32_t)behind : 0;
}

static int pass_packets(struct hop_run *r, const struct direction *dir,
			const struct pkt *pkts, int n)
{
	struct label_transit t = {.in = dir->from + 1,
				  .out = dir->to + 1,
				  .from_edge = r->o.edge >> dir->from & 1,
				  .to_edge = r->o.edge >> dir->to & 1};
	static uint8_t nowhere[PKT_MAX + LABEL_GROWTH];

	for (int i = 0; i < n; i++) {
		const struct pkt *p = &pkts[i];
		size_t cap = p->len + LABEL_GROWTH;
		uint8_t *out = dir->snk ? snk_room(dir->snk, cap) : nowhere;
		struct label_outcome o;

		if (!out)
			return -errno;
		set_state(r, &t, p, n - 1 - i);
		o = label_hop_pass(r->h, &t, p->data, p->len, out,
				   hop_exports(&r->o) ? r->export_buf : NULL,
				   cap);
		if (o.len && dir->snk)
			snk_done_cut(dir->snk, o.len,
				     (uint32_t)o.len + p->wire_len - p->len,
				     p->ts_ns);
		if (o.export)
			hop_export_put(&r->export, r->export_buf, o.export,
				       p->ts_ns);
	}
	if (dir->snk && n < PKT_BATCH)
		return snk_flush(dir->snk);
	return 0;
}

/* The other direction, without waiting. */
static int pass_packets_back(struct hop_run *r, struct error *err)
{
	static struct pkt pkts[PKT_BATCH];
	const struct direction *dir = &r->direction[1];
	int n;

	if (!dir->src)
		return 0;
	n = src_rx(dir->src, pkts, PKT_BATCH, err);
	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (n < 0) {
		r->failed = r->o.to;
		return n;
	}
	return pass_packets(r, dir, pkts, n);
}

static int take_packets(void *run, const struct pkt *pkts, int n,
			struct error *err)
{
	struct hop_run *r = run;
	int rc;

	if (r->control >= 0)
		read_control_socket(r->control, r->h);
	rc = pass_packets(r, &r->direction[0], pkts, n);
	if (!rc)
		rc = pass_packets_back(r, err);
	if (n < PKT_BATCH && r->export.file)
		snk_flush(r->export.file);
	if (rc < 0 && !err->text[0])
		error_set(err, rc, "%s", strerror(-rc));
	return rc;
}

static unsigned list_fds(void *run, int *fd, unsigned max)
{
	struct hop_run *r = run;
	unsigned n = 0;

	(void)max;
	if (r->direction[1].src)
		fd[n++] = src_fd(r->direction[1].src);
	if (r->control >= 0)
		fd[n++] = r->control;
	return n;
}

/* Opens both interfaces, for all packets, not only this host's. */
static void open_live(struct hop_run *r)
{
	const char *name[HOP_SIDES] = {r->o.live.name, r->o.to};
	struct live_options all = r->o.live.options;
	struct error err = {0};

	if (all.kind != LIVE_XDP)
		all.kind = LIVE_PACKET;
	all.promiscuous = true;
	for (int i = 0; i < HOP_SIDES; i++) {
		struct direction *dir = &r->direction[i];

		dir->from = (enum hop_side)i;
		dir->to = (enum hop_side) !i;
		if (src_open_live(&dir->src, name[i], &all, &err) < 0)
			cli_error(name[i], &err);
		if (snk_open_live(&dir->snk, name[!i], LIVE_PACKET, &err) < 0)
			cli_error(name[!i], &err);
		src_wait(dir->src, 0); /* the loop waits for both */
	}
	cli_log_times();
	r->o.live.beside.name = r->o.to;
	r->o.live.beside.s = r->direction[HOP_OUT].src;
	r->loop.fds = list_fds;
}

/* The smaller MTU of the links that are not to hosts; 0: no limit. */
static size_t mtu_of(const struct hop_options *o)
{
	const char *name[HOP_SIDES] = {o->live.name, o->to};
	size_t mtu = 0;

	for (int i = 0; o->live.name && i < HOP_SIDES; i++) {
		size_t side = o->edge >> i & 1 ? 0 : live_mtu(name[i]);

		if (side && (!mtu || side < mtu))
			mtu = side;
	}
	return mtu;
}

static void hop_open(struct hop_run *r)
{
	struct direction *dir = &r->direction[0];
	struct error err = {0};

	r->export_buf = malloc(PKT_MAX + LABEL_GROWTH);
	r->o.hop.mtu = mtu_of(&r->o);
	if (!r->export_buf || label_hop_open(&r->h, &r->o.hop) < 0)
		cli_fail("out of memory");
	/* Before packets: a file's commands hold from the first one on. */
	r->control = hop_control_open(r->h, r->o.control, r->o.quiet);
	dir->from = HOP_IN;
	dir->to = HOP_OUT;
	if (r->o.live.name)
		open_live(r);
	else if (src_open(&dir->src, r->o.read, &err) < 0)
		cli_error(r->o.read, &err);
	if (r->o.write && cli_snk_open(&dir->snk, r->o.write, &err) < 0)
		cli_error(r->o.write, &err);
	hop_export_open(&r->export, &r->o);
	cli_may_write(r->o.control); /* a socket, removed at the end */
	cli_confine(r->o.quiet || !r->o.live.name);
	r->loop.s = dir->src;
}

static uint64_t count_unsent(void *run)
{
	const struct hop_run *r = run;
	uint64_t sum = 0;

	for (int i = 0; i < HOP_SIDES; i++)
		if (r->direction[i].snk)
			sum += snk_drops(r->direction[i].snk);
	return sum;
}

static int hop_close(struct hop_run *r)
{
	uint64_t lost;
	bool told; /* an output's error has been reported */
	int rc;

	for (int i = 0; i < HOP_SIDES; i++)
		if (r->direction[i].snk) /* snk_close() tells of an error */
			snk_settle(r->direction[i].snk);
	lost = count_unsent(r);
	told = hop_export_close(&r->export) < 0;
	for (int i = 0; i < HOP_SIDES; i++)
		if ((rc = snk_close(r->direction[i].snk)) < 0) {
			cli_warn("%s: %s",
				 r->o.write ? cli_file(r->o.write)
					    : "interfaces",
				 strerror(-rc));
			told = true;
		}
	if (!r->o.quiet) {
		print_ledgers(r);
		cli_live_drops(&r->o.live, r->loop.s, lost);
	}
	/* What cannot be written is not the input's fault. */
	if (r->error && (r->loop.source_failed || r->failed || !told))
		cli_warn_error(r->failed   ? r->failed
			       : r->o.read ? r->o.read
					   : r->o.live.name,
			       &r->why);
	if (r->control >= 0) {
		close(r->control);
		unlink(r->o.control);
	}
	src_close(r->direction[0].src);
	src_close(r->direction[1].src);
	label_hop_close(r->h);
	free(r->export_buf);
	return r->error || told ? CLI_FAIL : CLI_OK;
}

int hop_main(int argc, char **argv)
{
	static struct hop_run run;

	cli_start(&hop_cli);
	hop_options_read(&run.o, argc, argv);
	run.loop = (struct cli_loop){
		.live = &run.o.live,
		.input = run.o.read ? run.o.read : run.o.live.name,
		.output = run.o.write ? run.o.write : run.o.to,
		.quiet = run.o.quiet || run.o.live.name,
		.ctx = &run,
		.take = take_packets,
		.report = print_ledgers,
		.unsent = count_unsent,
	};
	cli_signals();
	hop_open(&run);
	run.error = cli_loop(&run.loop, &run.why);
	return hop_close(&run);
}
