/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - dta-collect's command line. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

enum {
	OPT_CREATE = 256,
	OPT_REMOVE,
	OPT_EPOCHS,
	OPT_PAGES,
	OPT_TICKET,
	OPT_SNAPSHOT,
	OPT_RESTORE,
	OPT_ROTATE,
	OPT_EPOCH,
	OPT_IP,
	OPT_MAC,
	OPT_PEER_IP,
	OPT_PEER_MAC,
	OPT_MTU,
	OPT_RECEIVES,
	OPT_ANY_PEER,
	OPT_VERBS,
	OPT_CM,
	OPT_GRACE,
	OPT_READABLE,
	OPT_NOTIFY,
	OPT_NOTIFY_EXEC,
};

static const struct cli_option options[] = {
	{'R', "region", "NAME", "the region to work on"},
	{OPT_CREATE, "create", NULL, "make the region from a layout"},
	{'l', "layout", "FILE", "layout file of --create (INI; - is stdin)"},
	{'e', "epochs", "N", "sets of tables to keep, 1..64 (default 1)"},
	{OPT_PAGES, "pages", "KIND", "auto (default), huge or small"},
	{OPT_REMOVE, "remove", NULL, "remove the region"},
	{'t', "ticket", "FILE", "write the region's ticket to FILE"},
	{'r', "read", "FILE", "carry out the RoCEv2 packets of a capture"},
	{CLI_INTERFACE, "interface", "IFACE",
	 "carry out the RoCEv2 packets that come there, and answer; a filter "
	 "may follow, as with tcpdump"},
	{'w', "write", "FILE", "write the answers (ACK, NAK) to a capture"},
	{OPT_ROTATE, "rotate", NULL, "start a new epoch"},
	{'s', "snapshot", "FILE", "write a compressed snapshot"},
	{OPT_EPOCH, "epoch", "N", "snapshot this epoch only"},
	{OPT_RESTORE, "restore", "FILE", "make the region from a snapshot"},
	{OPT_IP, "ip", "ADDR", "collector's address in the ticket"},
	{OPT_MAC, "mac", "ADDR", "collector's MAC address in the ticket"},
	{OPT_PEER_IP, "peer-ip", "ADDR", "the translator's address"},
	{OPT_PEER_MAC, "peer-mac", "ADDR", "the translator's MAC address"},
	{OPT_MTU, "mtu", "BYTES", "path MTU: 256, 512, 1024, 2048, 4096"},
	{OPT_RECEIVES, "receives", "N",
	 "receives posted for immediates (default: never short)"},
	{OPT_ANY_PEER, "any-peer", NULL, "take packets from any address"},
	{OPT_VERBS, "verbs", "DEV[@PEER],...", "let RDMA devices write"},
	{OPT_CM, "cm", "PORT", "with --verbs: listen for hosts (librdmacm)"},
	{OPT_READABLE, "readable", NULL,
	 "with --cm: let hosts read, too (dta-query --verbs)"},
	{OPT_GRACE, "grace", "TIME",
	 "with --verbs: old R_Keys outlive a rotation (default 1s)"},
	{OPT_NOTIFY, "notify", NULL, "print a row for each immediate"},
	{OPT_NOTIFY_EXEC, "notify-exec", "CMD", "run CMD for immediates"},
	{CLI_COUNT, "count", "N", "stop after so many packets"},
	{CLI_DURATION, "duration", "TIME", "with -i: stop after that long"},
	{CLI_STATS, "stats", "TIME", "rates on stderr, every so often (1s)"},
	{CLI_XDP, "xdp", NULL, "receive by AF_XDP or fail"},
	{CLI_NO_XDP, "no-xdp", NULL, "receive by AF_PACKET"},
	{CLI_PROMISCUOUS, "promiscuous", NULL,
	 "take frames for other MAC addresses, too"},
	{CLI_USER, "user", "NAME", "become this user when all is open"},
	{'o', "output", "FORMAT", "ledger as text, csv or ndjson"},
	{'q', "quiet", NULL, "no ledger, no progress"},
	{0},
};

const struct cli cli = {
	.name = "dta-collect",
	.summary = "own a collector's memory",
	.usage =
		"dta-collect --create --layout FILE --region NAME [--epochs "
		"N]\n"
		"dta-collect --region NAME [--ticket FILE] [-r FILE [-w "
		"FILE]]\n"
		"            [--rotate] [--snapshot FILE]\n"
		"dta-collect --region NAME -i IFACE [--ticket FILE] [FILTER]\n"
		"dta-collect --region NAME --verbs DEV[@PEER][,...] [--peer-ip "
		"ADDR]\n"
		"            [--cm PORT [--readable]] [--ticket FILE] "
		"[--notify]\n"
		"dta-collect --region NAME --notify\n"
		"dta-collect --restore FILE --region NAME\n"
		"dta-collect --remove --region NAME\n",
	.options = options,
};

static enum region_pages pages_of(const char *text)
{
	static const char *const name[] = {"auto", "huge", "small"};

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(text, name[i]))
			return (enum region_pages)i;
	cli_refuse("--pages: '%s' is not auto, huge or small", text);
}

void options_ip(const char *option, const char *text, uint8_t *version,
		uint8_t out[16])
{
	uint8_t v = text_ip(out, text);

	if (!v)
		cli_refuse("%s: '%s' is not an IP address", option, text);
	if (*version && *version != v)
		cli_usage(&cli,
			  "%s: '%s': both addresses must be of one family",
			  option, text);
	*version = v;
}

static void mac_of(const char *option, const char *text, uint8_t out[6])
{
	if (!text_mac(out, text))
		cli_refuse("%s: '%s' is not a MAC address", option, text);
}

static void parse_ticket_option(struct opts *o, int ch)
{
	struct ticket *t = &o->at;

	switch (ch) {
	case OPT_IP:
		options_ip("--ip", optarg, &t->version, t->ip);
		o->has_ip = true;
		break;
	case OPT_PEER_IP:
		options_ip("--peer-ip", optarg, &t->version, t->peer_ip);
		o->has_peer = true;
		break;
	case OPT_MAC:
		mac_of("--mac", optarg, t->mac);
		break;
	case OPT_PEER_MAC:
		mac_of("--peer-mac", optarg, t->peer_mac);
		break;
	case OPT_MTU:
		t->mtu = (uint16_t)cli_size("--mtu", optarg, 256, 4096);
		if (t->mtu & (t->mtu - 1))
			cli_refuse("--mtu: '%s' is not 256, 512, 1024, 2048 or "
				   "4096",
				   optarg);
		break;
	}
}

static void parse_target_option(struct opts *o, int ch)
{
	uint64_t ns;

	switch (ch) {
	case OPT_VERBS:
		o->verbs = optarg;
		break;
	case OPT_CM:
		o->cm_port = (uint16_t)cli_u64("--cm", optarg, 1, 65535);
		break;
	case OPT_GRACE:
		ns = cli_duration_ns("--grace", optarg);
		if (ns > VERBS_TARGET_GRACE_MAX_MS * UINT64_C(1000000))
			cli_refuse("--grace: '%s' is above 8s, and a rotation "
				   "waits 10s",
				   optarg);
		o->grace_ms = (unsigned)(ns / 1000000);
		break;
	case OPT_READABLE:
		o->readable = true;
		break;
	case OPT_NOTIFY:
		o->notify = true;
		break;
	case OPT_NOTIFY_EXEC:
		o->notify_exec = optarg;
		break;
	default:
		if (!cli_live_option(&o->live, ch))
			parse_ticket_option(o, ch);
		break;
	}
}

static void parse_option(struct opts *o, int ch)
{
	switch (ch) {
	case 'R':
		o->region = optarg;
		break;
	case 'l':
		o->layout = optarg;
		break;
	case 't':
		o->ticket = optarg;
		break;
	case 'r':
		o->read = optarg;
		break;
	case 'w':
		o->write = optarg;
		break;
	case 's':
		o->snapshot = optarg;
		break;
	case 'q':
		o->quiet = true;
		break;
	case 'o':
		o->format = cli_format(optarg);
		break;
	case 'e':
		o->make.epochs = (unsigned)cli_u64("--epochs", optarg, 1,
						   REGION_EPOCHS_MAX);
		break;
	case OPT_CREATE:
		o->create = true;
		break;
	case OPT_REMOVE:
		o->remove = true;
		break;
	case OPT_ROTATE:
		o->rotate = true;
		break;
	case OPT_RESTORE:
		o->restore = optarg;
		break;
	case OPT_PAGES:
		o->make.pages = pages_of(optarg);
		break;
	case OPT_EPOCH:
		o->epoch = cli_u64("--epoch", optarg, 1, UINT64_MAX);
		break;
	case OPT_RECEIVES:
		o->responder.receives = cli_size("--receives", optarg, 0,
						 UINT64_MAX - 1);
		break;
	case OPT_ANY_PEER:
		o->responder.any_peer = true;
		break;
	default:
		parse_target_option(o, ch);
		break;
	}
}

/* Whether every device of --verbs has one: its own, or that of all. */
static bool has_peers(const struct opts *o)
{
	bool all = true;

	for (const char *d = o->verbs; d && !o->has_peer; d = strchr(d, ',')) {
		size_t n;

		d += *d == ',';
		n = strcspn(d, ",");
		all &= memchr(d, '@', n) != NULL;
	}
	return all;
}

/* Whether the software responder is asked for. */
static bool responds(const struct opts *o)
{
	return o->read || o->live.name;
}

static void check_live(const struct opts *o)
{
	const struct cli_live *l = &o->live;

	if (o->read && l->name)
		cli_usage(&cli, "only one of -r and -i may be given");
	if (l->user && !l->name && !o->verbs)
		cli_usage(&cli, "--user needs -i or --verbs: nothing else "
				"needs privileges");
	cli_live_check(&cli, l);
	if ((l->stats_ns || l->count) && !responds(o))
		cli_usage(&cli, "--stats and --count need -r or -i");
}

static void check_verbs(const struct opts *o)
{
	if (o->readable && !o->cm_port)
		cli_usage(&cli, "--readable needs --cm");
	if (!o->verbs) {
		if (o->cm_port || o->grace_ms != VERBS_TARGET_GRACE_MS)
			cli_usage(&cli, "--cm and --grace need --verbs, with "
					"the names of RDMA devices");
		return;
	}
	if (responds(o) || o->rotate || o->snapshot)
		cli_usage(&cli, "--verbs runs until it is told to stop: rotate "
				"and snapshot with another dta-collect");
	if (!has_peers(o) && !o->cm_port)
		cli_usage(&cli, "--verbs needs --peer-ip, the translator's "
				"address, or --cm");
	if (!has_peers(o) && o->ticket)
		cli_usage(&cli, "--ticket of --verbs needs --peer-ip, the "
				"translator's address");
	if (o->has_ip && strchr(o->verbs, ','))
		cli_usage(&cli, "--ip: of several devices each has its own");
	if (!o->responder.receives || (o->responder.receives > UINT32_MAX &&
				       o->responder.receives != UINT64_MAX))
		cli_usage(&cli, "--receives: 1 or more with --verbs");
}

/* Options that would say nothing without another one. */
static void check_needs(const struct opts *o)
{
	if (o->write && !responds(o))
		cli_usage(&cli, "-w needs -r or -i");
	if (o->epoch && !o->snapshot)
		cli_usage(&cli, "--epoch needs --snapshot");
	if (o->responder.any_peer && !responds(o))
		cli_usage(&cli, "--any-peer needs -r or -i");
	if (o->responder.receives != UINT64_MAX && !responds(o) && !o->verbs)
		cli_usage(&cli, "--receives needs -r, -i or --verbs");
	check_live(o);
	check_verbs(o);
	if ((o->make.epochs || o->make.pages) && !o->create && !o->restore)
		cli_usage(&cli, "--epochs and --pages need --create or "
				"--restore");
}

/* No file is an input and an output, or two outputs. */
static void check_files(const struct opts *o)
{
	const char *in[] = {o->layout, o->read, o->restore};
	const char *out[] = {o->ticket, o->write, o->snapshot};

	for (unsigned i = 0; i < 3; i++) {
		for (unsigned k = 0; k < 3; k++)
			cli_apart(in[i], out[k]);
		for (unsigned k = 0; k < i; k++)
			cli_apart(out[i], out[k]);
	}
}

/* What goes together and what does not. */
static void check_options(const struct opts *o)
{
	bool work = o->ticket || responds(o) || o->rotate || o->snapshot ||
		    o->verbs || o->notify || o->notify_exec;

	if (!o->region)
		cli_usage(&cli, "--region is missing: which memory?");
	if (o->create + o->remove + !!o->restore > 1)
		cli_usage(&cli, "only one of --create, --restore, --remove may "
				"be given");
	if (o->remove && work)
		cli_usage(&cli, "--remove goes alone: nothing else can be done "
				"with what is gone");
	if (o->create != !!o->layout)
		cli_usage(&cli,
			  "--create and --layout go together: %s is "
			  "missing",
			  o->create ? "--layout" : "--create");
	check_needs(o);
	if (!o->create && !o->remove && !o->restore && !work)
		cli_usage(&cli, "nothing to do: say --create, --ticket, -r, "
				"-i, --verbs, --notify, --rotate, --snapshot, "
				"--restore or --remove");
	if (o->epoch && o->rotate)
		cli_usage(&cli, "--rotate already says which epoch");
	if (is_dash(o->ticket) + is_dash(o->write) + is_dash(o->snapshot) +
		    o->notify >
	    1)
		cli_usage(&cli, "stdout cannot take two files: only one of "
				"--ticket, -w and --snapshot may be -, and "
				"none with --notify");
	if (is_dash(o->layout) && is_dash(o->read))
		cli_usage(&cli, "stdin cannot be two files: only one of "
				"--layout and -r may be -");
	check_files(o);
}

struct opts options_read(int argc, char **argv)
{
	struct opts o = {
		.responder.receives = UINT64_MAX,
		.grace_ms = VERBS_TARGET_GRACE_MS,
	};
	int ch;

	while ((ch = cli_next(&cli, argc, argv)) != -1)
		parse_option(&o, ch);
	if (optind < argc && !o.live.name)
		cli_usage(&cli, "'%s': no such argument", argv[optind]);
	cli_live_filter(&o.live, argc - optind, argv + optind);
	o.live.format = o.format;
	check_options(&o);
	if (!o.make.epochs)
		o.make.epochs = 1;
	return o;
}
