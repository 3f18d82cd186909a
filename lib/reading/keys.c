/* SPDX-License-Identifier: BSD-2-Clause */
#include "reading/keys_private.h"

#include <errno.h>
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
	k->malformed = k->good = 0;
	k->n = 0;
	if (from->file && (rc = lines_open(&k->lines, from->file)) < 0)
		cli_fail("%s: %s", from->file, strerror(-rc));
}

/* Another file was meant: ten lines, and none is a key. */
static bool hopeless(const struct keys *k)
{
	return !k->later && !k->good && k->malformed >= KEYS_SHOWN;
}

void keys_close(struct keys *k)
{
	if (!k->from.file)
		return;
	if (hopeless(k))
		cli_warn("%s: none of %llu lines is a key: another file?",
			 k->lines.path, (unsigned long long)k->malformed);
	else if (k->malformed > KEYS_SHOWN)
		cli_warn("%s: %llu lines are no keys; above are the first %d",
			 k->lines.path, (unsigned long long)k->malformed,
			 KEYS_SHOWN);
	lines_close(&k->lines);
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

/* To be told when all before have been. */
static void refuse_later(struct keys *k, const char *text,
			 const struct keytext_fault *f)
{
	struct keys_later *l = k->later;

	k->malformed++;
	l->first_bad += !k->good;
	if (l->n == KEYS_SHOWN)
		return;
	l->bad[l->n].number = k->lines.number;
	l->bad[l->n].why = f->why;
	l->bad[l->n++].text = strdup(text);
}

void keys_warn(const struct keys *k, uint64_t number, const char *text,
	       const struct fault *why)
{
	cli_warn("%s:%llu: '%s' %s", k->lines.path, (unsigned long long)number,
		 text, why->text);
}

static void refuse(struct keys *k, const char *text,
		   const struct keytext_fault *f)
{
	if (k->later) {
		refuse_later(k, text, f);
		return;
	}
	if (k->malformed++ >= KEYS_SHOWN && k->from.file)
		return;
	if (k->from.file) {
		keys_warn(k, k->lines.number, text, &f->why);
		return;
	}
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

void keys_find_column(struct keys *k, const char *line)
{
	char copy[LINE_MAX_LEN + 1], *field[CSV_FIELDS_MAX];
	uint64_t number;
	int n, at;

	k->csv_head = true;
	snprintf(copy, sizeof(copy), "%s", line);
	n = csv_split(copy, field, CSV_FIELDS_MAX);
	at = csv_find(field, n, k->from.column);
	if (at < 0 && n > 0 && text_u64(&number, k->from.column, (uint64_t)n))
		at = (int)number - 1;
	if (at < 0)
		cli_fail("%s: no column '%s' in: %s", k->lines.path,
			 k->from.column, line);
	k->csv_at = at;
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

bool keys_is_head(const char *line)
{
	return !strncmp(line, "table,kind,key,", 15) ||
	       !strncmp(line, "key,", 4);
}

void keys_fail(const struct keys *k, uint64_t number, int error)
{
	if (error == -E2BIG)
		cli_fail("%s:%llu: a line longer than %d bytes", k->lines.path,
			 (unsigned long long)number + 1, LINE_MAX_LEN);
	cli_fail("%s: %s", k->lines.path, strerror(-error));
}

static bool next_lines(struct keys *k)
{
	char *line;
	size_t len;
	int rc;

	while (k->n < QUERY_BATCH && !hopeless(k) &&
	       (line = lines_next(&k->lines, &len))) {
		if (k->lines.number == 1 && !k->later && !k->from.column &&
		    keys_is_head(line))
			k->from.column = "key";
		if (!len || (*line == '#' && !k->from.column))
			continue;
		else if (!k->from.column)
			add(k, line);
		else if (!k->csv_head)
			keys_find_column(k, line);
		else
			add_field(k, line);
	}
	if (k->n || hopeless(k))
		return k->n;
	if (k->later) {
		if (k->lines.too_long)
			k->later->error = -E2BIG;
		return false;
	}
	rc = cli_stop ? 0 : lines_more(&k->lines);
	if (rc < 0 && rc != -EINTR)
		keys_fail(k, k->lines.number, rc);
	return rc != 0;
}

bool keys_next(struct keys *k)
{
	k->n = 0;
	return k->from.file ? !hopeless(k) && next_lines(k) : next_args(k);
}
