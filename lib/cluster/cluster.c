/* SPDX-License-Identifier: BSD-2-Clause */
/* cluster.c - cluster files: generations and their members; and before that,
 * the lines. They are read as strangers' files: nothing is believed unseen. */
#include "cluster/cluster.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/ini.h"
#include "base/text.h"
#include "hash/crc.h"
#include "hash/family.h"

/* Members as they are written, kept until all collectors are known. */
struct cluster_listed {
	unsigned generation;
	uint16_t first, last; /* ids */
	uint64_t epoch;	      /* 0: the generation's */
};

struct cluster_members {
	uint64_t epoch[CLUSTER_GENERATIONS]; /* 0: not said */
	struct cluster_listed *listed;
	size_t n;
	bool all; /* no generation is there: all collectors are one */
};

static int find_collector(const struct cluster *c, uint16_t id)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->collector[i].id == id)
			return (int)i;
	return -ENOENT;
}

/* Where a collector was a member last, before generation g. */
static struct cluster_member *last_membership(struct cluster *c, unsigned g,
					      uint16_t collector)
{
	while (g-- > 0)
		for (unsigned i = 0; i < c->generation[g].n; i++)
			if (c->generation[g].member[i].collector == collector)
				return &c->generation[g].member[i];
	return NULL;
}

static int add_member(struct cluster *c, const struct cluster_members *m,
		      unsigned g, uint16_t id, uint64_t epoch,
		      struct error *err)
{
	struct cluster_generation *to = &c->generation[g];
	int at = find_collector(c, id);
	struct cluster_member *last;

	if (at < 0)
		return error_set(err, -EINVAL, "there is no [collector %u]",
				 id);
	for (unsigned i = 0; i < to->n; i++)
		if (to->member[i].collector == at)
			return error_set(err, -EINVAL, "twice collector %u",
					 id);
	last = last_membership(c, g, (uint16_t)at);
	if (!epoch)
		epoch = last ? m->epoch[g] : 1;
	if (!epoch)
		return error_set(err, -EINVAL,
				 "since which epoch? It needs epoch = N");
	if (last && last->from >= epoch)
		return error_set(err, -EINVAL,
				 "collector %u was in a generation from epoch "
				 "%llu on; this one begins later",
				 id, (unsigned long long)last->from);
	if (last)
		last->until = epoch;
	to->member[to->n++] = (struct cluster_member){
		.collector = (uint16_t)at,
		.from = epoch,
		.until = UINT64_MAX,
	};
	return 0;
}

static int make_generation(struct cluster *c, const struct cluster_members *m,
			   unsigned g, struct error *err)
{
	struct cluster_generation *to = &c->generation[g];
	int rc = 0;

	to->member = calloc(c->n, sizeof(to->member[0]));
	if (!to->member)
		return error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
	for (unsigned i = 0; i < c->n && m->all && !rc; i++)
		rc = add_member(c, m, g, c->collector[i].id, 0, err);
	for (size_t i = 0; i < m->n && !rc; i++) {
		const struct cluster_listed *l = &m->listed[i];

		if (l->generation != g)
			continue;
		for (unsigned id = l->first; id <= l->last && !rc; id++)
			rc = add_member(c, m, g, (uint16_t)id, l->epoch, err);
	}
	if (rc < 0)
		return rc;
	return to->n ? 0 : error_set(err, -EINVAL, "no collectors");
}

static int check_collector(const struct cluster_collector *a, struct error *err)
{
	if (!*a->region && !*a->ticket && !*a->verbs)
		return error_set(err, -EINVAL,
				 "needs region or ticket, or verbs");
	if (*a->host && !*a->region)
		return error_set(err, -EINVAL,
				 "host: needs region, the name of it there");
	if (*a->verbs && *a->region && !*a->host)
		return error_set(err, -EINVAL,
				 "verbs: without host the region is on this "
				 "machine: name the host, or no region");
	return 0;
}

/* Judges a whole file and makes its generations. */
static int cluster_make(struct cluster *c, struct cluster_members *m,
			struct error *err)
{
	struct error why = {""};
	int rc;

	if (!c->n) /* a section without fields is not seen */
		return error_set(err, -EINVAL,
				 "no collectors: a [collector ID] with region, "
				 "ticket or both is needed");
	for (unsigned i = 0; i < c->n; i++)
		if ((rc = check_collector(&c->collector[i], &why)) < 0)
			return error_set(err, rc, "[collector %u]: %s",
					 c->collector[i].id, why.text);
	if (!c->generations) {
		m->all = true;
		c->generation[c->generations++].number = 1;
	}
	for (unsigned g = 0; g < c->generations; g++)
		if ((rc = make_generation(c, m, g, &why)) < 0)
			return error_set(err, rc, "[generation %u]: %s",
					 c->generation[g].number, why.text);
	return 0;
}

struct reader {
	struct ini ini;
	unsigned header; /* of the section in hand */
	struct cluster *c;
	uint64_t version, seen; /* of [cluster] */
	bool mirror;
	uint64_t collector_seen, generation_seen;
	struct cluster_members m;
	size_t room;
};

static int refuse_value(const struct reader *r, const char *what,
			const char *value)
{
	return ini_error(&r->ini, r->ini.line, -EINVAL, "%s: '%.100s'", what,
			 value);
}

/*
 * Names go to other programs, and through a shell on another machine: nothing
 * that looks like an option, and no character that a shell would look at.
 */
static bool has_only(const char *text, const char *more)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz"
				    "0123456789._/@:+-%=,";

	while (*text && (strchr(plain, *text) || strchr(more, *text)))
		text++;
	return !*text;
}

static bool is_plain(const char *text)
{
	return *text && *text != '-' && has_only(text, "");
}

/* Brackets, which a shell would look at, are IPv6's; no shell gets these. */
static bool is_address(const char *text)
{
	return *text && *text != '-' && has_only(text, "[]");
}

/* A text of the collector in hand. */
static int take_text(const struct field *field, const struct reader *r,
		     const char *value, struct error *err)
{
	char *out = (char *)&r->c->collector[r->c->n - 1] + field->at;

	if (!*value || strlen(value) >= CLUSTER_TEXT)
		return error_set(err, -EINVAL, "empty or too long: '%s'",
				 value);
	memcpy(out, value, strlen(value) + 1);
	return 0;
}

static int set_name(const struct field *field, void *reader, const char *value,
		    struct error *err)
{
	return is_plain(value)
		       ? take_text(field, reader, value, err)
		       : error_set(err, -EINVAL, "no plain name: '%s'", value);
}

static int set_verbs(const struct field *field, void *reader, const char *value,
		     struct error *err)
{
	return is_address(value)
		       ? take_text(field, reader, value, err)
		       : error_set(err, -EINVAL, "no address: '%s'", value);
}

/* A path as seen from the directory of the cluster file. */
static int set_ticket(const struct field *field, void *reader,
		      const char *value, struct error *err)
{
	struct reader *r = reader;
	const char *slash = strrchr(r->ini.name, '/');
	char path[2 * CLUSTER_TEXT];

	if (!*value || *value == '/' || !slash)
		return take_text(field, r, value, err);
	if (snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - r->ini.name),
		     r->ini.name, value) >= CLUSTER_TEXT)
		return error_set(err, -ENAMETOOLONG, "too long: '%s'", value);
	return take_text(field, r, path, err);
}

static const char *const yes_names[] = {"no", "yes", NULL};

/* clang-format off */
static const struct field cluster_fields[] = {
	{ "version", FIELD_NUMBER, 8, offsetof(struct reader, version),
	  0, UINT32_MAX, .want = "a number" },
	{ "mirror", FIELD_NAME, 1, offsetof(struct reader, mirror),
	  .names = yes_names, .want = "no or yes" },
	{ NULL },
};

#define TEXT(member) \
	FIELD_OTHER, 0, offsetof(struct cluster_collector, member)

static const struct field collector_fields[] = {
	{ "region", TEXT(region), .set = set_name },
	{ "host", TEXT(host), .set = set_name },
	{ "verbs", TEXT(verbs), .set = set_verbs },
	{ "ticket", TEXT(ticket), .set = set_ticket },
	{ NULL },
};

/* And collectors, as often as one likes. */
static const struct field generation_fields[] = {
	{ "epoch", FIELD_NUMBER, 8, 0, 1, UINT64_MAX,
	  .want = "a number from 1" },
	{ NULL },
};
/* clang-format on */

static int refuse_members(const struct reader *r, const char *want)
{
	return ini_error(&r->ini, r->ini.line, -EINVAL,
			 "collectors: '%.100s' is not %s", r->ini.value, want);
}

static bool keep_listed(struct reader *r, const struct cluster_listed *l)
{
	if (r->m.n == r->room) {
		size_t room = r->room ? 2 * r->room : 64;
		void *p = realloc(r->m.listed, room * sizeof(*r->m.listed));

		if (!p)
			return false;
		r->m.listed = p;
		r->room = room;
	}
	r->m.listed[r->m.n++] = *l;
	return true;
}

/* "ID", "ID-ID", each with ":EPOCH" behind, and blanks between them. */
static int take_members(struct reader *r, const char *value)
{
	const char *p = value + strspn(value, " \t,");

	while (*p) {
		uint64_t first, last, epoch = 0;
		struct cluster_listed l;

		p = text_digits(&first, p, UINT16_MAX);
		last = first;
		if (p && *p == '-')
			p = text_digits(&last, p + 1, UINT16_MAX);
		if (p && *p == ':' &&
		    (!(p = text_digits(&epoch, p + 1, UINT64_MAX)) || !epoch))
			return refuse_members(r, "ids with an :EPOCH from 1");
		if (!p || last < first || (*p && !strchr(" \t,", *p)))
			return refuse_members(r,
					      "a list of ids, such as 0-3 7");
		l = (struct cluster_listed){
			.generation = r->c->generations - 1,
			.first = (uint16_t)first,
			.last = (uint16_t)last,
			.epoch = epoch,
		};
		if (!keep_listed(r, &l))
			return ini_error(&r->ini, r->ini.line, -ENOMEM, "%s",
					 strerror(ENOMEM));
		p += strspn(p, " \t,");
	}
	return 0;
}

static int generation_field(struct reader *r)
{
	if (!strcmp(r->ini.key, "collectors"))
		return take_members(r, r->ini.value);
	return ini_set(&r->ini, generation_fields, &r->generation_seen,
		       &r->m.epoch[r->c->generations - 1]);
}

static int cluster_field(struct reader *r)
{
	int rc = ini_set(&r->ini, cluster_fields, &r->seen, r);

	if (r->seen & 1 && r->version != CLUSTER_VERSION && rc >= 0)
		return ini_error(&r->ini, r->ini.line, -EPROTONOSUPPORT,
				 "a cluster file of another version: '%s'",
				 r->ini.value);
	return rc;
}

static int enter_collector(struct reader *r, const char *text)
{
	struct cluster *c = r->c;
	uint64_t id;

	if (!text_u64(&id, text, UINT16_MAX))
		return refuse_value(r, "no collector's id", text);
	for (unsigned i = 0; i < c->n; i++)
		if (c->collector[i].id == id)
			return refuse_value(r, "twice the same collector",
					    text);
	if (c->n == CLUSTER_MAX)
		return refuse_value(r, "too many collectors", text);
	c->collector[c->n++].id = (uint16_t)id;
	r->collector_seen = 0;
	return 0;
}

static int enter_generation(struct reader *r, const char *text)
{
	struct cluster *c = r->c;
	uint64_t n;

	if (!text_u64(&n, text, UINT32_MAX))
		return refuse_value(r, "no generation's number", text);
	if (c->generations && c->generation[c->generations - 1].number >= n)
		return refuse_value(r, "generations come in their order", text);
	if (c->generations == CLUSTER_GENERATIONS)
		return refuse_value(r, "too many generations", text);
	c->generation[c->generations++].number = (uint32_t)n;
	r->generation_seen = 0;
	return 0;
}

static int enter_section(struct reader *r)
{
	const char *section = r->ini.section;

	r->header = r->ini.header;
	if (!strncmp(section, "collector ", 10))
		return enter_collector(r, section + 10);
	if (!strncmp(section, "generation ", 11))
		return enter_generation(r, section + 11);
	return strcmp(section, "cluster")
		       ? refuse_value(r, "no such section", section)
		       : 0;
}

static int take_field(struct reader *r)
{
	if (!r->ini.header)
		return refuse_value(r, "not in a section", r->ini.key);
	if (r->ini.header != r->header && enter_section(r) < 0)
		return -EINVAL;
	if (r->ini.section[0] == 'g')
		return generation_field(r);
	if (!strcmp(r->ini.section, "cluster"))
		return cluster_field(r);
	return ini_set(&r->ini, collector_fields, &r->collector_seen, r);
}

static int parse_file(struct reader *r)
{
	struct ini *i = &r->ini;
	struct error why = {""};
	int rc;

	while ((rc = ini_next(i)) > 0)
		if ((rc = take_field(r)) < 0)
			return rc;
	if (rc < 0)
		return rc;
	if (!r->version)
		return ini_error(i, 0, -EINVAL,
				 "not a cluster file: [cluster] needs version");
	r->c->mirror = r->mirror;
	rc = cluster_make(r->c, &r->m, &why);
	if (rc < 0)
		return ini_error(i, 0, rc, "%s", why.text);
	return i->empty ? ini_error(i, i->empty, -EINVAL,
				    "a section without fields")
			: 0;
}

int cluster_parse(struct cluster *c, FILE *in, const char *name,
		  struct error *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	int rc = -ENOMEM;

	*c = (struct cluster){0};
	c->collector = calloc(CLUSTER_MAX, sizeof(c->collector[0]));
	c->generation = calloc(CLUSTER_GENERATIONS, sizeof(c->generation[0]));
	if (r && c->collector && c->generation) {
		r->c = c;
		r->ini = (struct ini){
			.in = in,
			.name = name,
			.strange = "not a line of a cluster file",
			.err = err,
		};
		rc = parse_file(r);
		free(r->m.listed);
	} else {
		error_set(err, rc, "%s", strerror(ENOMEM));
	}
	free(r);
	if (rc < 0)
		cluster_fini(c);
	return rc;
}

int cluster_read(struct cluster *c, const char *path, struct error *err)
{
	FILE *in = fopen(path, "re");
	int rc;

	if (!in)
		return error_set(err, -errno, "%s: %s", path, strerror(errno));
	rc = cluster_parse(c, in, path, err);
	fclose(in);
	return rc;
}

void cluster_fini(struct cluster *c)
{
	for (unsigned g = 0; g < c->generations; g++)
		free(c->generation[g].member);
	free(c->generation);
	free(c->collector);
	*c = (struct cluster){0};
}

unsigned cluster_owner(const struct cluster_generation *g, const uint8_t *key,
		       size_t len)
{
	return (unsigned)hash_mod(crc(CRC_COLLECTOR, key, len), g->n);
}
