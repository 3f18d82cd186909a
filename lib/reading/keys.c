/* SPDX-License-Identifier: BSD-2-Clause */
#include "reading/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "row/csv.h"
#include "query/keytext.h"

void keys_open(struct keys *k, const struct keys_from *from,
	       const struct targets *t)
{
	int rc;

	k->targets = t;
	for (unsigned i = 0; i < t->n; i++)
		k->table[i] = t->target[i].t;
	k->from = *from;
	k->arg = 0;
	k->begun = false;
	k->csv_at = -1;
	k->malformed = k->good = k->first_bad = 0;
	k->bads = 0;
	k->n = 0;
	if (from->file && (rc = lines_open(&k->lines, from->file)) < 0)
		cli_fail("%s: %s", from->file, strerror(-rc));
}

/* Another file was meant: ten lines, and none is a key. */
static bool hopeless(const struct keys *k)
{
	return k->lines.fd >= 0 && k->first_bad >= KEYS_SHOWN;
}

/* The key again, below the message, which may fill more than one line of a
 * terminal; and a mark below the part that is wrong. */
static void mark(const char *text, const struct keytext_fault *f)
{
	int at = 0;

	for (size_t i = 0; i < f->at && text[i]; i++)
		at += (text[i] & 0xc0) != 0x80; /* UTF-8: not a byte each */
	cli_warn("  %s", text);
	cli_warn("  %*s^", at, "");
}

/* What a shell does with a > that is not quoted. */
static void tell_of_shell(void)
{
	struct stat st;
	char path[4096];
	ssize_t n;

	if (fstat(STDOUT_FILENO, &st) < 0 || !S_ISREG(st.st_mode)) {
		cli_warn("a > must be quoted: a shell takes it for itself");
		return;
	}
	n = readlink("/proc/self/fd/1", path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	cli_warn("a > must be quoted: a shell takes what is behind it for the "
		 "file that the output goes to, here %s",
		 path);
}

/* A line that is no key: to be told when the batch is. */
static void refuse_line(struct keys *k, const char *text,
			const struct fault *why)
{
	struct keys_bad *bad = &k->bad[k->bads];

	k->first_bad += !k->good;
	if (k->malformed++ >= KEYS_SHOWN)
		return;
	bad->number = k->lines.number;
	bad->why = *why;
	bad->text = strdup(text);
	k->bads++;
}

static void tell_bad(const struct keys *k, const struct keys_bad *bad)
{
	cli_warn("%s:%llu: '%s' %s", k->lines.path,
		 (unsigned long long)bad->number, bad->text ? bad->text : "",
		 bad->why.text);
}

static void forget_bad(struct keys *k)
{
	while (k->bads)
		free(k->bad[--k->bads].text);
}

void keys_tell(struct keys *k)
{
	for (unsigned i = 0; i < k->bads; i++)
		tell_bad(k, &k->bad[i]);
	forget_bad(k);
}

void keys_close(struct keys *k)
{
	if (!k->from.file)
		return;
	keys_tell(k);
	if (hopeless(k))
		cli_warn("%s: none of %d lines is a key: another file?",
			 k->lines.path, KEYS_SHOWN);
	else if (k->malformed > KEYS_SHOWN)
		cli_warn("%s: %llu lines are no keys; above are the first %d",
			 k->lines.path, (unsigned long long)k->malformed,
			 KEYS_SHOWN);
	lines_close(&k->lines);
}

static void refuse(struct keys *k, const char *text,
		   const struct keytext_fault *f)
{
	if (k->from.file) {
		refuse_line(k, text, &f->why);
		return;
	}
	k->malformed++;
	cli_warn("'%s' %s", text, f->why.text);
	if (f->at != SIZE_MAX)
		mark(text, f);
	if (f->shell)
		tell_of_shell();
}

static void add(struct keys *k, const char *text)
{
	struct asked *a = &k->asked[k->n];
	struct keytext_fault why;
	const struct table *t;
	bool loose;
	int which;

	a->text = text;
	a->key = k->room[k->n].key;
	which = keytext_pick(a->key, &loose, k->table, k->targets->n, text,
			     &why);
	if (which < 0) {
		refuse(k, text, &why);
		return;
	}
	a->target = &k->targets->target[which];
	t = k->table[which];
	if (loose) { /* it is shown as all others are */
		key_format(k->text[k->n], (enum key_type)t->key_type, a->key,
			   t->key_len);
		a->text = k->text[k->n];
	}
	k->good++;
	k->n++;
}

/* Characters of a key as it is shown. */
static size_t shown_len(const struct targets *t, const char *text)
{
	const struct table *tables[TABLE_MAX];
	struct keytext_fault why;
	char shown[KEY_TEXT_MAX];
	uint8_t key[KEY_MAX];
	bool loose;
	int which;

	for (unsigned i = 0; i < t->n; i++)
		tables[i] = t->target[i].t;
	which = keytext_pick(key, &loose, tables, t->n, text, &why);
	if (which < 0 || !loose)
		return strlen(text);
	return key_format(shown, (enum key_type)tables[which]->key_type, key,
			  tables[which]->key_len);
}

static bool is_ip6(const struct table *t)
{
	return t->key_type == KEY_FLOW6 || t->key_type == KEY_HOP6;
}

uint8_t keys_column(const struct keys_from *from, const struct targets *t)
{
	/* 255.255.255.255:65535>.../tcp; most of those with IPv6 addresses */
	enum { FLOW4 = 47, FLOW6 = 84 };
	size_t most = 0, len;

	for (unsigned i = 0; i < t->n && from->file; i++) {
		len = is_ip6(t->target[i].t) ? FLOW6 : FLOW4;
		most = len > most ? len : most;
	}
	for (int i = 0; i < from->nargs; i++) {
		len = shown_len(t, from->args[i]);
		most = len > most ? len : most;
	}
	return (uint8_t)(most < UINT8_MAX ? most : UINT8_MAX);
}

static bool next_args(struct keys *k)
{
	if (k->arg == k->from.nargs)
		return false;
	while (k->arg < k->from.nargs && k->n < QUERY_BATCH)
		add(k, k->from.args[k->arg++]);
	return true;
}

static void add_field(struct keys *k, char *line)
{
	static const struct keytext_fault unclosed = {
		.why = {"is no CSV: a quote that is not closed"},
		.at = SIZE_MAX,
	};
	char *field[CSV_FIELDS_MAX];
	int n = csv_split(line, field, k->csv_at + 1);

	if (n < 0)
		refuse(k, line, &unclosed);
	else if (n > k->csv_at)
		add(k, field[k->csv_at]);
}

int keys_head(const char *line)
{
	for (int at = 0;; at++) {
		size_t n = strcspn(line, ",");

		if (n == 3 && !memcmp(line, "key", 3))
			return at;
		if (!line[n])
			return -1;
		line += n + 1;
	}
}

/* The first line tells what the others are. */
static void begin(struct keys *k)
{
	size_t len;
	char *line = k->begun ? NULL : lines_next(&k->lines, &len);

	if (!line)
		return;
	k->begun = true;
	k->csv_at = keys_head(line);
	if (k->csv_at < 0)
		lines_again(&k->lines, line, len);
}

static bool next_lines(struct keys *k)
{
	char *line;
	size_t len;
	int rc;

	begin(k);
	while (k->n < QUERY_BATCH && !hopeless(k) &&
	       (line = lines_next(&k->lines, &len))) {
		if (len && k->csv_at >= 0)
			add_field(k, line);
		else if (len && *line != '#')
			add(k, line);
	}
	if (k->n || hopeless(k))
		return k->n;
	rc = cli_stop ? 0 : lines_more(&k->lines);
	if (rc < 0)
		keys_tell(k);
	lines_check(&k->lines, rc);
	return rc != 0;
}

bool keys_next(struct keys *k)
{
	k->n = 0;
	return k->from.file ? !hopeless(k) && next_lines(k) : next_args(k);
}

enum {
	SHARE = 1 << 15, /* bytes that a thread takes at once */
};

int keys_share_open(struct keys *k, const struct targets *t)
{
	const struct keys_from none = {0};

	keys_open(k, &none, t);
	return lines_room(&k->lines);
}

void keys_share_close(struct keys *k)
{
	forget_bad(k);
	lines_close(&k->lines);
}

int keys_share(struct keys *of, struct keys *share, bool wait)
{
	share->malformed = share->good = share->first_bad = 0;
	share->from.file = of->from.file;
	share->begun = true;
	while (begin(of),
	       !of->begun || !lines_share(&of->lines, &share->lines, SHARE)) {
		int rc;

		if (!wait && lines_wait(&of->lines))
			return -EAGAIN;
		rc = cli_stop ? 0 : lines_more(&of->lines);
		if (rc <= 0)
			return rc == -EINTR ? -EAGAIN : rc;
	}
	share->csv_at = of->csv_at;
	return 1;
}

bool keys_told(struct keys *of, struct keys *share)
{
	for (unsigned i = 0; i < share->bads && !hopeless(of); i++)
		if (of->malformed + i < KEYS_SHOWN)
			tell_bad(of, &share->bad[i]);
	forget_bad(share);
	of->first_bad += of->good ? 0 : share->first_bad;
	of->malformed += share->malformed;
	of->good += share->good;
	return !hopeless(of);
}

uint64_t keys_gather(struct keymap *map, const struct keys_from *from,
		     const struct targets *t)
{
	struct keys *k = calloc(1, sizeof(*k));
	uint64_t malformed;

	if (!k)
		cli_fail("out of memory");
	for (unsigned i = 0; i < t->n; i++)
		keymap_init(&map[i], t->target[i].t->key_len, 1);
	keys_open(k, from, t);
	while (!cli_stop && keys_next(k)) {
		keys_tell(k);
		for (size_t i = 0; i < k->n; i++)
			if (!keymap_get(&map[k->asked[i].target - t->target],
					k->asked[i].key))
				cli_fail("out of memory");
	}
	keys_close(k);
	malformed = k->malformed;
	free(k);
	return malformed;
}
