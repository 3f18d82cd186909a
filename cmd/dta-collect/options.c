/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c - dta-collect's command line. */
#include "collect.h"

#include "base/text.h"

#define AT(field) CLI_AT(struct opts, field)

static const char *const pages[] = {"auto", "huge", "small", NULL};

static const struct cli_option options[] = {
	{'R', "region", "NAME", "the region to work on", CLI_STR, AT(region)},
	{0, "create", NULL, "make the region from a layout", CLI_FLAG,
	 AT(create), .needs = "--layout"},
	{'l', "layout", "FILE", "layout file of --create (INI; - is stdin)",
	 CLI_IN, AT(layout), .needs = "--create"},
	{0, "epochs", "N", "sets of tables to keep, 1..64 (default 1)", CLI_U64,
	 AT(make.epochs), .min = 1, .max = REGION_EPOCHS_MAX,
	 .needs = "--create|--restore", .was = "-e"},
	{0, "pages", "KIND", "auto (default), huge or small", CLI_WORD,
	 AT(make.pages), .words = pages, .needs = "--create|--restore",
	 .rare = true},
	{0, "remove", NULL, "remove the region", CLI_FLAG, AT(remove)},
	{0, "ticket", "FILE", "write the region's ticket to FILE", CLI_OUT,
	 AT(ticket), .was = "-t"},
	{'r', "read", "FILE", "carry out the RoCEv2 packets of a capture",
	 CLI_IN, AT(read)},
	{'i', "interface", "IFACE",
	 "carry out the RoCEv2 packets that come there, and answer; a filter "
	 "may follow, as with tcpdump",
	 CLI_STR, AT(live.name)},
	{'w', "write", "FILE", "write the answers (ACK, NAK) to a capture",
	 CLI_OUT, AT(write), .needs = "-r|-i"},
	{0, "rotate", NULL, "start a new epoch", CLI_FLAG, AT(rotate)},
	{'s', "snapshot", "FILE", "write a compressed snapshot", CLI_OUT,
	 AT(snapshot)},
	{0, "restore", "FILE", "make the region from a snapshot", CLI_IN,
	 AT(restore)},
	{0, "ip", "ADDR", "collector's address in the ticket", CLI_STR, AT(ip)},
	{0, "mac", "ADDR", "collector's MAC address in the ticket", CLI_STR,
	 AT(mac), .rare = true},
	{0, "peer-ip", "ADDR", "the translator's address", CLI_STR,
	 AT(peer_ip)},
	{0, "peer-mac", "ADDR", "the translator's MAC address", CLI_STR,
	 AT(peer_mac), .rare = true},
	{0, "mtu", "BYTES", "path MTU: 256, 512, 1024, 2048, 4096", CLI_SIZE,
	 AT(want.mtu), .min = 256, .max = 4096, .rare = true},
	{0, "receives", "N",
	 "receives posted for immediates (default: never short)", CLI_SIZE,
	 AT(responder.receives), .max = UINT64_MAX - 1,
	 .needs = "-r|-i|--verbs", .rare = true},
	{'j', "cores", "N", "respond on so many cores at once (default 1)",
	 CLI_U64, AT(cores), .min = 1, .max = RESPONDER_CORES_MAX,
	 .needs = "-r|-i"},
	{0, "verbs", "DEV", "let an RDMA device write", CLI_STR, AT(verbs)},
	{0, "cm", "PORT", "with --verbs: listen for hosts (librdmacm)", CLI_U64,
	 AT(cm_port), .min = 1, .needs = "--verbs"},
	{0, "readable", NULL,
	 "with --cm: let hosts read, too (dta-query --verbs)", CLI_FLAG,
	 AT(readable), .needs = "--cm", .rare = true},
	{0, "grace", "TIME",
	 "with --verbs: old R_Keys outlive a rotation, 8s at most (default 1s)",
	 CLI_TIME, AT(grace_ns),
	 .max = VERBS_TARGET_GRACE_MAX_MS * UINT64_C(1000000),
	 .needs = "--verbs", .rare = true},
	{0, "notify", NULL, "print a row for each immediate", CLI_FLAG,
	 AT(notify)},
	CLI_LIMIT_OPTIONS(struct opts),
	CLI_SOCKET_OPTIONS(struct opts),
	{'o', "output", "FORMAT", "ledger as text, csv or ndjson", CLI_FORMAT,
	 AT(format)},
	CLI_TIME_OPTION(.needs = "--notify"),
	{'q', "quiet", NULL, "no ledger", CLI_FLAG, AT(quiet)},
	{0},
};

static const char runs_on[] = "--verbs runs until it is told to stop, and "
			      "another dta-collect rotates and snapshots";

static const struct cli_group groups[] = {
	{"--region", .ask = "which memory?"},
	{"--create --restore --remove"},
	{"-r -i --verbs"},
	{"--verbs --rotate", .why = runs_on},
	{"--verbs --snapshot", .why = runs_on},
	CLI_SOCKET_GROUP,
	{0},
};

const struct cli cli = {
	.name = "dta-collect",
	.summary = "own a collector's memory",
	.usage = "dta-collect --create --layout FILE --region NAME [--epochs "
		 "N]\n"
		 "dta-collect --region NAME [--ticket FILE] [-r FILE [-w "
		 "FILE]]\n"
		 "            [--rotate] [--snapshot FILE]\n"
		 "dta-collect --region NAME -i IFACE [--ticket FILE] [FILTER]\n"
		 "dta-collect --region NAME --verbs DEV [--peer-ip "
		 "ADDR]\n"
		 "            [--cm PORT [--readable]] [--ticket FILE] "
		 "[--notify]\n"
		 "dta-collect --region NAME --notify\n"
		 "dta-collect --restore FILE --region NAME\n"
		 "dta-collect --remove --region NAME\n",
	.options = options,
	.groups = groups,
};

static void read_ip(struct ticket *t, uint8_t out[16], const char *option,
		    const char *text)
{
	uint8_t version = text ? text_ip(out, text) : t->version;

	if (text && !version)
		cli_refuse("%s: '%s' is not an IP address", option, text);
	if (t->version && version != t->version)
		cli_refuse("%s: '%s' is of another family: all addresses must "
			   "be of one",
			   option, text);
	t->version = version;
}

static void read_mac(uint8_t out[6], const char *option, const char *text)
{
	if (text && !text_mac(out, text))
		cli_refuse("%s: '%s' is not a MAC address", option, text);
}

static void check_verbs(const struct opts *o)
{
	bool peer = o->peer_ip;

	if (!peer && !o->cm_port)
		cli_usage(&cli, "--verbs needs --peer-ip, the translator's "
				"address, or --cm");
	if (!peer && o->ticket)
		cli_usage(&cli, "--ticket of --verbs needs --peer-ip, the "
				"translator's address");
	if (!o->responder.receives || (o->responder.receives > UINT32_MAX &&
				       o->responder.receives != UINT64_MAX))
		cli_usage(&cli, "--receives: 1 or more with --verbs");
}

bool options_use_region(const struct opts *o)
{
	return o->ticket || o->read || o->live.name || o->verbs || o->notify ||
	       o->rotate || o->snapshot;
}

struct opts options_read(int argc, char **argv)
{
	struct opts o = {
		.responder.receives = UINT64_MAX,
		.grace_ns = VERBS_TARGET_GRACE_MS * UINT64_C(1000000),
	};
	int n = cli_read(&cli, &o, argc, argv);

	if (n < argc && !o.live.name)
		cli_usage(&cli, "'%s': no such argument", argv[n]);
	cli_live_set_filter(&o.live, argc - n, argv + n);
	/* What --remove removes must be named. */
	if (!o.remove)
		cli_from_env(&cli, &o, "--region", "DTA_REGION");
	cli_check(&cli, &o, -1);
	if (!options_use_region(&o) && !o.create && !o.restore && !o.remove)
		cli_usage(&cli, "nothing to do: say --create, --ticket, -r, "
				"-i, --verbs, --notify, --rotate, --snapshot, "
				"--restore or --remove");
	if (o.remove && options_use_region(&o))
		cli_usage(&cli, "--remove goes alone: nothing else can be done "
				"with what is gone");
	if (o.notify &&
	    (is_dash(o.ticket) || is_dash(o.snapshot) || is_dash(o.write)))
		cli_usage(&cli, "the standard output cannot take two files: "
				"with --notify no other may be -");
	read_ip(&o.want, o.want.ip, "--ip", o.ip);
	read_ip(&o.want, o.want.peer_ip, "--peer-ip", o.peer_ip);
	read_mac(o.want.mac, "--mac", o.mac);
	read_mac(o.want.peer_mac, "--peer-mac", o.peer_mac);
	if (o.want.mtu & (o.want.mtu - 1))
		cli_refuse("--mtu: '%u' is not 256, 512, 1024, 2048 or 4096",
			   o.want.mtu);
	if (o.verbs)
		check_verbs(&o);
	/* A region keeps the last immediates only: those of one core are
	 * printed in time, those of several at once might not be. */
	if (o.notify)
		o.cores = 1;
	o.live.format = o.format;
	if (!o.make.epochs)
		o.make.epochs = 1;
	return o;
}
