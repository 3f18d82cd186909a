/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - beside what people would use instead: a table on this machine, one
 * core, a row for each peer and number of flows.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "measure.h"

enum {
	SIZES_MAX = 16,
};

#define TABLE "exact,deletion,iteration"
#define OURS  "nic,shared,epochs,persistence"

static const struct entry entries[] = {
	{"ours-N=1", "", &peer_ours1, OURS, 0, 0},
	{"ours-N=2", "", &peer_ours2, OURS, 0, 0},
	{"absl::flat_hash_map", "libabsl-dev", &peer_absl, TABLE, 1, 0},
	{"uthash", "uthash-dev", &peer_uthash, TABLE, 1, 0},
	{"GHashTable", "libglib2.0-dev", &peer_glib, TABLE, 1, 0},
	{"LMDB", "liblmdb-dev", &peer_lmdb,
	 TABLE ",persistence,shared,snapshots", 1, 1},
	{"Redis", "redis-server", &peer_redis, TABLE ",persistence,network", 1,
	 1},
	{"RocksDB", "librocksdb-dev", &peer_rocksdb,
	 TABLE ",persistence,snapshots", 1, 1},
	{"SQLite", "libsqlite3-dev", &peer_sqlite,
	 TABLE ",persistence,shared,queries", 1, 1},
};

enum {
	ENTRIES = sizeof(entries) / sizeof(entries[0]),
};

/* clang-format off */
static const char legend[] =
	"\n"
	"exact        ours: found is 99 % for the oldest key, as far as memory "
		"goes, more for\n"
	"             younger ones; of 2^32 wrong slots one passes for right\n"
	"deletion, iteration\n"
	"             ours: no; a table holds no keys, and old pairs give way\n"
	"persistence  ours: a region outlives its writer, a snapshot the "
		"machine\n"
	"nic          a NIC or a switch writes it, without any CPU\n"
	"shared       other processes read it where it lies (SQLite: by "
		"locks)\n"
	"epochs       a new table at once, old ones are kept to be asked\n"
	"snapshots    readers see one state while writers go on\n"
	"Tables are timed by the CPU, stores by the clock. Stores get 1024 "
		"pairs a\n"
	"transaction, and wait for no disk; Redis has a core of its own, if "
		"there is one.\n";
/* clang-format on */

struct opts {
	uint64_t rounds, reports, store_flows, memory;
	const char *dir;
	enum row_format fmt;
	uint64_t size; /* of the operands, one after the other */
};

#define AT(field) CLI_AT(struct opts, field)

static const struct cli_option options[] = {
	{'n', "rounds", "N", "medians of so many (7)", CLI_U64, AT(rounds),
	 .min = 1, .max = ROUNDS_MAX},
	{'c', "reports", "N", "reports and questions of a round (1M)", CLI_SIZE,
	 AT(reports), .min = 16, .max = 1 << 24},
	{0, "store-flows", "N", "databases: no more flows (10M)", CLI_SIZE,
	 AT(store_flows), .min = 1, .max = UINT32_MAX},
	{'m', "memory", "SIZE", "ours: at most (4G)", CLI_SIZE, AT(memory),
	 .min = 1 << 12, .max = 1ull << 40},
	{'d', "dir", "DIRECTORY", "where databases keep their files", CLI_STR,
	 AT(dir)},
	{'o', "output", "FORMAT", "text, csv or ndjson", CLI_FORMAT, AT(fmt)},
	{0},
};

static const struct cli program = {
	.name = "peers",
	.summary = "the tables of this suite beside others",
	.usage = "peers -d DIRECTORY [-n N] [-o FORMAT] [FLOWS...]",
	.options = options,
};

enum field {
	PEER,
	FLOWS,
	N,
	UPDATES,
	UPDATES_SPREAD,
	LOOKUPS,
	LOOKUPS_SPREAD,
	REPORT_NS,
	KEY_BYTES,
	FOUND,
	WRONG,
	GIVES,
	PAGES,
	CPU,
	WHY,
	FIELDS,
};

static const struct row_field fields[] = {
	[PEER] = {"peer", ROW_STR, 19, ROW_TAG},
	[FLOWS] = {"flows", ROW_U64, 9, ROW_TAG},
	[N] = {"n", ROW_U64, 2},
	[UPDATES] = {"updates_mps", ROW_F64, 0},
	[UPDATES_SPREAD] = {"updates_spread", ROW_F64, 0},
	[LOOKUPS] = {"lookups_mps", ROW_F64, 0},
	[LOOKUPS_SPREAD] = {"lookups_spread", ROW_F64, 0},
	[REPORT_NS] = {"report_ns", ROW_F64, 0, ROW_VALUE, "ns"},
	[KEY_BYTES] = {"key_bytes", ROW_F64, 0, ROW_VALUE, "bytes"},
	[FOUND] = {"found", ROW_F64, 8},
	[WRONG] = {"wrong", ROW_U64, 5},
	[GIVES] = {"gives", ROW_STR, 49},
	[PAGES] = {"pages", ROW_STR, 5},
	[CPU] = {"cpu", ROW_STR, 0},
	[WHY] = {"why", ROW_STR, 0},
};

static const struct schema schema = {"peers", fields, FIELDS};

void peer_fail(const char *who, const char *what)
{
	cli_fail("%s: %s", who, what);
}

/* As Linux has it, where it does. */
static const char *cpu_model(void)
{
	static char line[256], model[128];
	FILE *in = fopen("/proc/cpuinfo", "r");

	while (in && !model[0] && fgets(line, sizeof(line), in))
		if (sscanf(line, "model name : %127[^\n]", model) == 1)
			break;
	if (in)
		fclose(in);
	return model[0] ? model : NULL;
}

/* Two digits behind the point are more than these machines repeat. */
static double rounded(double v)
{
	return (double)(int64_t)(v * 100 + 0.5) / 100;
}

static void show_rates(struct rows *r, unsigned field, const struct rates *v)
{
	row_f64(r, field, rounded(v->median));
	row_f64(r, field + 1, rounded(v->spread));
}

static void show(struct rows *out, const struct plan_of_run *p,
		 const struct entry *e, const struct result *r)
{
	row_str(out, PEER, e->name);
	row_u64(out, FLOWS, p->flows);
	row_str(out, GIVES, e->gives);
	row_str(out, CPU, cpu_model());
	if (r->measured) {
		row_u64(out, N, p->rounds);
		show_rates(out, UPDATES, &r->updates);
		show_rates(out, LOOKUPS, &r->lookups);
		row_f64(out, REPORT_NS, rounded(1e3 / r->updates.median));
		if (r->key_bytes > 0)
			row_f64(out, KEY_BYTES, rounded(r->key_bytes));
		row_f64(out, FOUND, r->found);
		row_u64(out, WRONG, r->wrong);
		if (r->pages[0])
			row_str(out, PAGES, r->pages);
	} else {
		row_str(out, WHY, r->why);
	}
	if (row_end(out))
		cli_fail("standard output: cannot be written");
}

/* One that calls itself exact and is not: the run is worth nothing. */
static int is_wrong(const struct entry *e, const struct result *r)
{
	int wrong = r->measured && e->exact && (r->wrong || r->found < 1);

	if (wrong)
		cli_warn("%s: %ju answers were wrong, %.9g were found", e->name,
			 (uintmax_t)r->wrong, r->found);
	return wrong;
}

static int run(const struct opts *o, uint64_t flows, struct rows *out)
{
	static struct result results[ENTRIES];
	struct plan_of_run p = {.flows = flows,
				.rounds = (unsigned)o->rounds,
				.reports = o->reports,
				.store_flows = o->store_flows,
				.memory = o->memory,
				.dir = o->dir};
	int wrong = 0;

	measure(&p, entries, ENTRIES, results);
	for (unsigned i = 0; i < ENTRIES; i++) {
		show(out, &p, &entries[i], &results[i]);
		wrong |= is_wrong(&entries[i], &results[i]);
	}
	rows_flush(out);
	return wrong;
}

static unsigned read_sizes(uint64_t *sizes, int n, char **words)
{
	static const uint64_t usual[] = {1000, 100000, 10000000, 100000000};
	static const struct cli_option size = {
		0,	  NULL,	    NULL,     NULL,
		CLI_SIZE, AT(size), .min = 1, .max = UINT32_MAX};
	struct error why = {""};
	struct opts o;

	if (!n) {
		memcpy(sizes, usual, sizeof(usual));
		return sizeof(usual) / sizeof(usual[0]);
	}
	if (n > SIZES_MAX)
		cli_usage(&program, "too many numbers of flows");
	for (int i = 0; i < n; i++) {
		if (cli_set(&size, &o, words[i], &why))
			cli_refuse("flows: '%s' %s", words[i], why.text);
		sizes[i] = o.size;
	}
	return (unsigned)n;
}

static void stay_on_one_core(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

int main(int argc, char **argv)
{
	struct opts o = {.rounds = 7,
			 .reports = 1000000,
			 .store_flows = 10000000,
			 .memory = 4ull << 30};
	uint64_t sizes[SIZES_MAX];
	struct rows *out;
	int wrong = 0, at;
	unsigned n;

	cli_start(&program);
	at = cli_read(&program, &o, argc, argv);
	n = read_sizes(sizes, argc - at, argv + at);
	if (!o.dir)
		cli_usage(&program, "-d says where databases keep their files");
	stay_on_one_core();
	out = cli_rows(o.fmt, &schema);
	for (unsigned i = 0; i < n; i++)
		wrong |= run(&o, sizes[i], out);
	rows_close(out);
	if (o.fmt == ROW_TEXT)
		fputs(legend, stdout);
	return wrong ? CLI_FAIL : CLI_OK;
}
