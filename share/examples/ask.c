/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ask.c - asks a collector's memory, by libdta(3):
 *
 *	cc ask.c $(pkg-config --cflags --libs dta) -o ask
 *
 * ask SOURCE: the tables of a region, or of a snapshot (*.snap);
 * ask SOURCE TABLE KEY...: their answers;
 * ask SOURCE TABLE LIST...: the entries of lists;
 * ask: the counters of the programs that run.
 */
#include <dta.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TEXT = 8192, /* of a value of 1020 bytes, whatever it is made of */
	ENTRIES = 256,
};

static void print_tables(const struct dta *d)
{
	printf("table kind units bytes\n");
	for (unsigned i = 0; i < dta_tables(d); i++) {
		const struct dta_table *t = dta_table(d, i);

		printf("%s %s %" PRIu64 " %" PRIu64 "\n",
		       dta_table_text(t, "name"), dta_table_text(t, "kind"),
		       dta_table_number(t, "units"),
		       dta_table_number(t, "length"));
	}
}

/* A value is bytes, a path an array of numbers, a count a number. */
static void print_value(const struct dta_table *t, const struct dta_answer *a,
			const void *value)
{
	const char *kind = dta_table_text(t, "kind");
	char text[TEXT];

	if (!strcmp(kind, "postcard")) {
		for (unsigned i = 0; i < a->hops; i++)
			if (a->holes >> i & 1)
				printf("%s-", i ? "," : "");
			else
				printf("%s%" PRIu32, i ? "," : "",
				       ((const uint32_t *)value)[i]);
	} else if (!strcmp(kind, "keyinc")) {
		printf("%" PRIu64, *(const uint64_t *)value);
	} else {
		dta_value_text(t, value, text, sizeof(text));
		printf("%s", text);
	}
}

static void ask_keys(struct dta *d, const struct dta_table *t, char **text,
		     size_t n)
{
	size_t key_len = dta_table_number(t, "key");
	size_t len = dta_table_number(t, "answer");
	struct dta_answer *answer = calloc(n, sizeof(*answer));
	char *key = calloc(n, key_len), *value = calloc(n, len);

	if (!answer || !key || !value)
		errx(1, "out of memory");
	for (size_t i = 0; i < n; i++)
		if (dta_key(d, t, text[i], key + i * key_len) < 0)
			errx(1, "%s", dta_error(d));
	if (dta_ask(d, t, key, n, answer, sizeof(*answer), value) < 0)
		errx(1, "%s", dta_error(d));
	printf("key answer copies epoch source value\n");
	for (size_t i = 0; i < n; i++) {
		const char *source = dta_source(d, answer[i].source);

		printf("%s %s %u %" PRIu64 " %s ", text[i],
		       dta_found_name(answer[i].found), answer[i].copies,
		       answer[i].epoch, source ? source : "-");
		if (answer[i].found == DTA_FOUND)
			print_value(t, &answer[i], value + i * len);
		printf("\n");
	}
	free(answer);
	free(key);
	free(value);
}

/* Each epoch has a list of its own. */
static void print_list(struct dta *d, const struct dta_table *t, uint32_t list)
{
	size_t len = dta_table_number(t, "value");
	char *entry = calloc(ENTRIES, len);
	uint64_t lost, epoch, newest;
	int64_t n;

	if (!entry || dta_epochs(d, &epoch, &newest) < 0)
		errx(1, "%s", dta_error(d));
	for (; epoch <= newest; epoch++) {
		uint64_t next = 0;

		do { /* to follow the list: wait at 0, and go on */
			n = dta_list_read(d, t, epoch, list, &next, entry,
					  ENTRIES, &lost);
			if (n < 0 && n != -ENOENT)
				warnx("%s", dta_error(d));
			for (int64_t i = 0; i < n; i++) {
				printf("%" PRIu32 " %" PRIu64 " %" PRIu64 " ",
				       list, next - (uint64_t)(n - i), epoch);
				print_value(t, NULL, entry + (size_t)i * len);
				printf("\n");
			}
			if (lost)
				warnx("%" PRIu64 " entries lost", lost);
		} while (n > 0 || (!n && lost));
	}
	free(entry);
}

static void print_counter(void *ctx, const struct dta_counter *c)
{
	(void)ctx;
	printf("%s %" PRIu32 " %s %s %s %" PRIu64 "\n", c->program, c->pid,
	       c->stage, c->name, c->role, c->value);
}

int main(int argc, char **argv)
{
	struct dta *d;
	const struct dta_table *t;
	const char *source = argc > 1 ? argv[1] : "", *kind = "snapshot";
	size_t len = strlen(source);

	if (argc == 1)
		return dta_counters(getenv("DTA_LEDGERS"), print_counter,
				    NULL) < 0;
	if (len < 5 || strcmp(source + len - 5, ".snap") != 0)
		kind = "region";
	d = dta_new();
	if (!d || dta_set(d, kind, source) < 0 || dta_open(d) < 0)
		errx(1, "%s", dta_error(d));
	if (argc < 3) {
		print_tables(d);
	} else if (!(t = dta_table_find(d, argv[2]))) {
		errx(1, "%s", dta_error(d));
	} else if (strcmp(dta_table_text(t, "kind"), "append") != 0) {
		ask_keys(d, t, argv + 3, (size_t)argc - 3);
	} else {
		printf("list index epoch value\n");
		for (int i = 3; i < argc; i++)
			print_list(d, t, (uint32_t)strtoul(argv[i], NULL, 0));
	}
	dta_close(d);
	return 0;
}
