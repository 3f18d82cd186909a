/* SPDX-License-Identifier: BSD-2-Clause */
/* option.c - reads the command line by a program's table. */
#include "cli/option.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/private.h"

/* --- values: from text to where they are stored -------------------------- */

static int read_number(const char *text, uint64_t min, uint64_t max,
		       uint64_t *out, struct error *why)
{
	if (!text_u64(out, text, max) || *out < min)
		return error_set(why, -EINVAL,
				 "is not a whole number from %ju to %ju",
				 (uintmax_t)min, (uintmax_t)max);
	return 0;
}

/* Copies "99%" without its sign to room; NULL: it has none. */
static const char *cut_percent(const char *text, char room[32])
{
	size_t n = strlen(text);

	if (n < 2 || n > 31 || text[n - 1] != '%')
		return NULL;
	memcpy(room, text, n - 1);
	room[n - 1] = '\0';
	return room;
}

/* An option's text, without the sign of 99% if its argument is PERCENT. */
static const char *bare_number(const struct cli_option *o, const char *text,
			       char room[32])
{
	const char *bare = o->arg && !strcmp(o->arg, "PERCENT")
				   ? cut_percent(text, room)
				   : NULL;

	return bare ? bare : text;
}

/* If high is 1, 99% is 0.99. */
static int read_f64(const char *text, double low, double high, double *out,
		    struct error *why)
{
	char room[32];
	const char *share = high <= 1 ? cut_percent(text, room) : NULL;
	bool ok = text_f64(out, share ? share : text);

	if (share)
		*out /= 100;
	if (ok && *out >= low && *out <= high)
		return 0;
	return error_set(why, -EINVAL, "is not a number from %.12g to %.12g%s",
			 low, high, high <= 1 ? "; a share may be 99%" : "");
}

/* "is not a, b or c" */
static int no_such_word(const char *const *words, const char *word,
			struct error *why)
{
	struct guess g = {.word = word};
	char text[256] = "is not ";
	size_t n = strlen(text);

	for (unsigned i = 0; words[i] && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				      !i	     ? ""
				      : words[i + 1] ? ", "
						     : " or ",
				      words[i]);
	return error_set(why, -EINVAL, "%s%s", text, guess_words(&g, words));
}

static int read_word(const char *const *words, const char *text, uint64_t min,
		     uint64_t *out, struct error *why)
{
	unsigned i = 0;

	while (words[i] && strcmp(text, words[i]) != 0)
		i++;
	*out = min + i;
	return words[i] ? 0 : no_such_word(words, text, why);
}

/* "a,b", "none" or "all": a bit for each word. */
static int read_set(const char *const *words, const char *text, uint64_t *set,
		    struct error *why)
{
	char buf[256], names[256] = "", *rest = buf, *name;
	size_t len = 0;
	unsigned n, i;

	for (n = 0; words[n] && len < sizeof(names); n++)
		len += (size_t)snprintf(names + len, sizeof(names) - len,
					"%s, ", words[n]);
	*set = !strcmp(text, "all") ? (UINT64_C(1) << n) - 1 : 0;
	if (*set || !strcmp(text, "none"))
		return 0;
	if (strlen(text) >= sizeof(buf))
		return error_set(why, -EINVAL, "is too long");
	memcpy(buf, text, strlen(text) + 1);
	while ((name = strsep(&rest, ","))) {
		for (i = 0; i < n && strcmp(name, words[i]) != 0;)
			i++;
		if (i == n)
			return error_set(why, -EINVAL,
					 "names '%s', which is none of "
					 "%sall, none",
					 name, names);
		*set |= UINT64_C(1) << i;
	}
	return 0;
}

/* Reads a value of a type that is stored as a whole number. */
static int read_whole(const struct cli_option *o, const char *text, uint64_t *v,
		      struct error *why)
{
	static const char *const no_yes[] = {"no", "yes", NULL};
	uint64_t max = o->max ? o->max : UINT64_MAX >> (64 - 8 * o->width);
	char room[32];
	int rc;

	switch (o->type) {
	case CLI_FLAG:
		rc = read_word(no_yes, text, 0, v, why);
		*v = *v && o->min ? o->min : *v;
		return rc;
	case CLI_U64:
		return read_number(bare_number(o, text, room), o->min, max, v,
				   why);
	case CLI_SIZE:
		if (!text_size(v, text) && *v >= o->min && *v <= max)
			return 0;
		return error_set(why, -EINVAL,
				 "is not a number from %ju to %ju (K, M, G, T: "
				 "powers of 1000; Ki, Mi...: of 1024)",
				 (uintmax_t)o->min, (uintmax_t)max);
	case CLI_TIME:
		if (!text_duration_ns(v, text))
			return error_set(why, -EINVAL,
					 "is not a duration (100ms, 5s, 1m)");
		if (*v < o->min)
			return error_set(why, -EINVAL, "is no time at all");
		return *v <= max ? 0
				 : error_set(why, -EINVAL, "is above %gs",
					     (double)max / 1e9);
	case CLI_WORD:
		return read_word(o->words, text, o->min, v, why);
	case CLI_SET:
		return read_set(o->words, text, v, why);
	default:
		return read_word(row_format_names, text, 0, v, why);
	}
}

/* Adds a text behind those of an array, of which the last one stays NULL. */
static int add_text(const struct cli_option *o, const char **list,
		    const char *text, struct error *why)
{
	unsigned most = o->width / sizeof(*list) - 1, i = 0;

	while (i < most && list[i])
		i++;
	if (i == most)
		return error_set(why, -E2BIG, "is one above %u", most);
	list[i] = text;
	return 0;
}

int cli_set(const struct cli_option *o, void *opts, const char *text,
	    struct error *why)
{
	char *to = (char *)opts + o->at;
	uint64_t v = 0;
	char room[32];
	double f;
	int rc;

	switch (o->type) {
	case CLI_CALL:
		return o->read(opts, text, why);
	case CLI_STR:
	case CLI_IN:
	case CLI_OUT:
		if (!*text)
			return error_set(why, -EINVAL, "is empty");
		memcpy(to, &text, sizeof(text));
		return 0;
	case CLI_STRS:
		return add_text(o, (void *)to, text, why);
	case CLI_F64:
		rc = read_f64(bare_number(o, text, room), o->low, o->high, &f,
			      why);
		if (!rc)
			memcpy(to, &f, sizeof(f));
		return rc;
	default: /* a whole number of any width */
		rc = read_whole(o, text, &v, why);
		if (!rc)
			memcpy(to, field_low_bytes(&v, o->width), o->width);
		return rc;
	}
}

int cli_read_time_form(void *opts, const char *text, struct error *why)
{
	(void)opts;
	row_style.iso_time = !strcmp(text, "iso");
	return row_style.iso_time || !strcmp(text, "unix")
		       ? 0
		       : error_set(why, -EINVAL, "is not unix or iso");
}

int cli_read_split_flow(void *opts, const char *text, struct error *why)
{
	(void)opts;
	(void)text;
	(void)why;
	row_style.split_flow = true;
	return 0;
}

uint64_t cli_u64(const char *what, const char *text, uint64_t min, uint64_t max)
{
	struct error why;
	uint64_t v = 0;

	if (read_number(text, min, max, &v, &why) < 0)
		cli_refuse("%s: '%s' %s", what, text, why.text);
	return v;
}

void cli_check_csv_kinds(unsigned kinds)
{
	if (kinds & (kinds - 1))
		cli_refuse("-o csv: a header is that of one kind of row: name "
			   "one with --rows, or have a file of each with -x "
			   "'file:%%m.csv?format=csv'");
}

void cli_usage(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cli_print_failure(fmt, ap);
	va_end(ap);
	fprintf(stderr, "try '%s -h'\n", c->name);
	exit(CLI_USAGE);
}

/* --- options as they come ------------------------------------------------ */

enum {
	OPTIONS_MAX = 64,
	WORD_MAX = 32, /* bytes of an option's name with its dashes, and NUL */
	NAMES_MAX = 256,
	HELP_COLUMN = 26, /* where the help of an option begins, of 80 */
};

/* The text given to each option of the table; NULL: it was not given. */
static const char *given[OPTIONS_MAX];

/* Prints the synopsis, with its further lines aligned to the first. */
static void print_usage(const struct cli *c)
{
	const char *line = c->usage, *lead = "usage: ";

	while (*line) {
		int len = (int)strcspn(line, "\n");

		printf("%s%.*s\n", lead, len, line);
		line += len + (line[len] == '\n');
		lead = "       ";
	}
}

/* Prints the help of an option, in lines that end within 80 columns. */
static void print_help(const char *text)
{
	size_t left = strlen(text), room = 80 - HELP_COLUMN;

	while (left > room) {
		const char *blank = memrchr(text, ' ', room + 1);
		size_t len = blank ? (size_t)(blank - text) : room;

		printf("%.*s\n%*s", (int)len, text, HELP_COLUMN, "");
		len += blank != NULL;
		text += len;
		left -= len;
	}
	printf("%s\n", text);
}

static void print_option(const struct cli_option *o)
{
	char left[80];
	int n;

	n = snprintf(left, sizeof(left), o->ch ? "  -%c, " : "      ", o->ch);
	n += snprintf(left + n, sizeof(left) - (size_t)n, "--%s%s%s", o->name,
		      o->arg ? " " : "", o->arg ? o->arg : "");
	printf("%-*s", HELP_COLUMN, left);
	if (n > HELP_COLUMN - 2)
		printf("\n%*s", HELP_COLUMN, "");
	print_help(o->help);
}

/* Reads the next of words between blanks or bars; false: there is none. */
static bool next_word(const char **at, char word[WORD_MAX])
{
	size_t n;

	*at += strspn(*at, " |");
	n = strcspn(*at, " |");
	assert(n < WORD_MAX);
	memcpy(word, *at, n);
	word[n] = 0;
	*at += n;
	return n > 0;
}

/* Whether a verb has an option; verb NULL: whether any has. */
static bool is_for(const struct cli_option *o, const char *verb)
{
	const char *at = o->verbs;
	char word[WORD_MAX];

	if (!verb || !at)
		return true;
	while (next_word(&at, word))
		if (!strcmp(word, verb))
			return true;
	return false;
}

/* Every program's. */
static const struct cli_option own[] = {
	{'h', "help", NULL, "print this and exit"},
	{0, "help-all", NULL, "print the options for rare needs, too"},
	{'V', "version", NULL, "print the version, what is built in, and exit"},
	{0},
};

void cli_help_options(const struct cli *c, const char *verb)
{
	for (const struct cli_option *o = c->options; o->name; o++)
		if (o->help && is_for(o, verb))
			print_option(o);
}

static __attribute__((noreturn)) void print_all(const struct cli *c, bool rare)
{
	bool some_rare = false;

	print_usage(c);
	printf("\n%s\n\n", c->summary);
	for (const struct cli_option *o = c->options; o->name; o++) {
		some_rare = some_rare || o->rare;
		if (o->help && (rare || !o->rare))
			print_option(o);
	}
	for (const struct cli_option *o = own; o->name; o++)
		if (o->ch || some_rare)
			print_option(o);
	exit(CLI_OK);
}

/* Finds an option by its name; name NULL: by its letter. NULL: none. */
static const struct cli_option *look_up(const struct cli *c, char letter,
					const char *name, size_t len)
{
	const struct cli_option *const tables[] = {c->options, own};

	for (unsigned i = 0; i < 2; i++)
		for (const struct cli_option *o = tables[i]; o->name; o++)
			if (name ? strlen(o->name) == len &&
					    !memcmp(o->name, name, len)
				 : o->ch == letter)
				return o;
	return NULL;
}

/* What 1.0 called so; NULL: nothing. */
static const struct cli_option *by_former_name(const struct cli *c,
					       const char *name)
{
	for (const struct cli_option *o = c->options; o->name; o++)
		if (o->was && !strcmp(o->was, name)) {
			cli_warn("%s will be gone, it is now --%s", name,
				 o->name);
			return o;
		}
	return NULL;
}

/* Refuses a long option that does not exist. Abbreviations are refused, too:
 * they would become ambiguous when a later version adds an option. */
static __attribute__((noreturn)) void refuse_unknown(const struct cli *c,
						     const char *name)
{
	struct guess g = {.word = name};

	for (const struct cli_option *o = c->options; o->name; o++)
		guess_try(&g, o->name);
	guess_try(&g, "help");
	guess_try(&g, "version");
	cli_usage(c,
		  g.best ? "unknown option --%s; did you mean --%s?"
			 : "unknown option --%s",
		  name, g.best);
}

/* Stores an option's value; exits if it is bad. */
static void set_option(const struct cli *c, void *opts,
		       const struct cli_option *o, const char *text)
{
	struct error why;

	given[o - c->options] = o->arg ? text : "";
	if (o->type == CLI_OUT && !strcmp(text, "-"))
		cli_set_stdout_dash(text);
	if (cli_set(o, opts, o->arg ? text : "yes", &why) < 0)
		cli_refuse("--%s: '%s' %s", o->name, text, why.text);
}

/* Handles an option that was given; text NULL: without an argument. */
static void take_option(const struct cli *c, void *opts,
			const struct cli_option *o, const char *text)
{
	if (o == &own[0] || o == &own[1])
		print_all(c, o == &own[1]);
	if (o == &own[2]) {
		printf("%s %s\n%s\n", c->name, VERSION, BUILT_IN);
		exit(CLI_OK);
	}
	if (o->arg && !text)
		cli_usage(c, "--%s: argument missing", o->name);
	/* If two names or files were accepted, one would be ignored. */
	if ((o->type == CLI_STR || o->type == CLI_IN || o->type == CLI_OUT) &&
	    given[o - c->options])
		cli_usage(c, "--%s is given twice: '%s' and '%s'", o->name,
			  given[o - c->options], text);
	set_option(c, opts, o, text);
}

/* Reads --name, --name=value or --name value. Returns the words used. */
static int read_long(const struct cli *c, void *opts, char **word)
{
	const char *name = *word + 2;
	size_t len = strcspn(name, "=");
	const struct cli_option *o = look_up(c, 0, name, len);
	char text[64];

	snprintf(text, sizeof(text), "%.*s", (int)len + 2, *word);
	if (!o && !(o = by_former_name(c, text)))
		refuse_unknown(c, text + 2);
	if (name[len] && !o->arg)
		cli_usage(c, "--%s takes no argument", o->name);
	take_option(c, opts, o, name[len] ? name + len + 1 : word[1]);
	return o->arg && !name[len] ? 2 : 1;
}

/* Reads -abc; the last may be -cvalue or -c value. Returns the words used. */
static int read_letters(const struct cli *c, void *opts, char **word)
{
	for (const char *p = *word + 1; *p; p++) {
		const struct cli_option *o = look_up(c, *p, NULL, 0);

		if (!o && !(o = by_former_name(c, (char[]){'-', *p, '\0'})))
			cli_usage(c, "unknown option -%c", *p);
		take_option(c, opts, o, o->arg && p[1] ? p + 1 : word[1]);
		if (o->arg)
			return p[1] ? 1 : 2;
	}
	return 1;
}

int cli_read(const struct cli *c, void *opts, int argc, char **argv)
{
	int at = 1, operands = 0;

	memset(given, 0, sizeof(given));
	while (at < argc && strcmp(argv[at], "--") != 0)
		if (argv[at][0] != '-' || !argv[at][1])
			argv[1 + operands++] = argv[at++];
		else if (argv[at][1] == '-')
			at += read_long(c, opts, argv + at);
		else
			at += read_letters(c, opts, argv + at);
	at += at < argc; /* -- */
	/* Operands among the options come before those after them. */
	memmove(argv + at - operands, argv + 1,
		(size_t)operands * sizeof(*argv));
	return at - operands;
}

static const struct cli_option *find_option(const struct cli *c,
					    const char *name)
{
	const struct cli_option *o = name[1] == '-'
					     ? look_up(c, 0, name + 2,
						       strlen(name + 2))
					     : look_up(c, name[1], NULL, 0);

	assert(o); /* else the table's rules name an unknown option */
	return o;
}

const char *cli_option_text(const struct cli *c, const char *name)
{
	return given[find_option(c, name) - c->options];
}

/* --- rules: which options go together ------------------------------------ */

/* Makes "A, B and C" of "A B C", last being " and ". */
static const char *list_words(const char *names, const char *last,
			      char out[NAMES_MAX])
{
	char word[WORD_MAX], after[WORD_MAX];
	size_t n = 0;

	next_word(&names, word);
	n = (size_t)snprintf(out, NAMES_MAX, "%s", word);
	for (bool more = next_word(&names, word); more && n < NAMES_MAX;) {
		more = next_word(&names, after);
		n += (size_t)snprintf(out + n, NAMES_MAX - n, "%s%s",
				      more ? ", " : last, word);
		memcpy(word, after, sizeof(word));
	}
	return out;
}

/* The number of the options named that were given. */
static unsigned count_given(const struct cli *c, const char *names)
{
	char word[WORD_MAX];
	unsigned n = 0;

	while (next_word(&names, word))
		n += cli_option_text(c, word) != NULL;
	return n;
}

static void check_group(const struct cli *c, const struct cli_group *g)
{
	unsigned n = count_given(c, g->names);
	char names[NAMES_MAX];

	if (!n && g->ask)
		cli_usage(c, "%s Say %s", g->ask,
			  list_words(g->names, " or ", names));
	if (n > 1)
		cli_usage(c, "only one of %s may be given%s%s",
			  list_words(g->names, " and ", names),
			  g->why ? ": " : "", g->why ? g->why : "");
}

/* Checks that each word of needs was given; of A|B|C any. */
static void check_needs(const struct cli *c, const struct cli_option *o)
{
	const char *at = o->needs;
	char any[NAMES_MAX], names[NAMES_MAX];

	while (*at) {
		size_t n = strcspn(at, " ");

		snprintf(any, sizeof(any), "%.*s", (int)n, at);
		if (!count_given(c, any))
			cli_usage(c, "--%s needs %s%s%s", o->name,
				  list_words(any, " or ", names),
				  o->why ? ": " : "", o->why ? o->why : "");
		at += n;
		at += strspn(at, " ");
	}
}

/* Whether two paths are one regular file. */
static bool same_file(const char *a, const char *b)
{
	struct stat s, t;

	if (stat(a, &s) < 0 || stat(b, &t) < 0)
		return !strcmp(a, b); /* one may be made later */
	return S_ISREG(s.st_mode) && s.st_dev == t.st_dev &&
	       s.st_ino == t.st_ino;
}

void cli_check_distinct_files(const char *file, const char *written)
{
	if (file && written && strcmp(file, "-") && strcmp(written, "-") &&
	    same_file(file, written))
		cli_refuse("%s: named twice: it would be overwritten", written);
}

/* The path that an option for a file was given; NULL: none. */
static const char *path_of(const struct cli_option *o, const void *opts)
{
	const char *path;

	if (o->type != CLI_IN && o->type != CLI_OUT)
		return NULL;
	memcpy(&path, (const char *)opts + o->at, sizeof(path));
	return path;
}

static void check_files(const struct cli *c, const void *opts)
{
	for (const struct cli_option *o = c->options; o->name; o++) {
		const char *path = path_of(o, opts), *other;

		for (const struct cli_option *p = c->options; p < o; p++) {
			if (!path || !(other = path_of(p, opts)))
				continue;
			if (!strcmp(path, "-") && !strcmp(other, "-") &&
			    o->type == p->type)
				cli_usage(c,
					  "the %s cannot be two files: only "
					  "one of --%s and --%s may be -",
					  o->type == CLI_IN ? "standard input"
							    : cli_stdout,
					  p->name, o->name);
			if (o->type == CLI_OUT)
				cli_check_distinct_files(other, path);
			else if (p->type == CLI_OUT)
				cli_check_distinct_files(path, other);
		}
	}
}

const char *cli_env(const char *variable)
{
	const char *text = getenv(variable);

	return text && *text ? text : NULL;
}

void cli_from_env(const struct cli *c, void *opts, const char *names,
		  const char *variable)
{
	const char *text = cli_env(variable);
	char word[WORD_MAX];

	if (!text || count_given(c, names))
		return;
	next_word(&names, word);
	set_option(c, opts, find_option(c, word), text);
}

int cli_verb(const struct cli *c, const char *word)
{
	char names[NAMES_MAX] = "", out[NAMES_MAX];
	struct guess g = {.word = word};
	size_t n = 0;

	for (int i = 0; c->verbs[i]; i++) {
		if (word && !strcmp(word, c->verbs[i]))
			return i;
		n += (size_t)snprintf(names + n, sizeof(names) - n, " %s",
				      c->verbs[i]);
	}
	list_words(names, " or ", out);
	if (!word)
		cli_usage(c, "%s?", out);
	cli_usage(c, "'%s' is not %s%s", word, out, guess_words(&g, c->verbs));
}

void cli_check(const struct cli *c, const void *opts, int verb)
{
	cli_check_named(c, opts, verb < 0 ? NULL : c->verbs[verb]);
}

void cli_check_named(const struct cli *c, const void *opts, const char *verb)
{
	for (const struct cli_group *g = c->groups; g && g->names; g++)
		check_group(c, g);
	for (const struct cli_option *o = c->options; o->name; o++) {
		char name[WORD_MAX], names[NAMES_MAX];

		snprintf(name, sizeof(name), "--%s", o->name);
		if (!cli_option_text(c, name))
			continue;
		if (!is_for(o, verb))
			cli_usage(c, "--%s is for %s", o->name,
				  list_words(o->verbs, " and ", names));
		if (o->needs)
			check_needs(c, o);
	}
	check_files(c, opts);
}
