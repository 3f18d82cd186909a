/* SPDX-License-Identifier: BSD-2-Clause */
/* cluster.c - parses cluster files, which are untrusted input: the lines, then
 * the generations and their members. */
#include "cluster/cluster.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/ini.h"
#include "base/text.h"
#include "hash/crc.h"
#include "hash/family.h"

struct reader {
	struct ini ini;
	unsigned header; /* the line of the current section's [...] */
	struct cluster *c;
	uint64_t version, seen; /* seen: fields of the section, a bit each */
	bool mirror;
	uint64_t epoch[CLUSTER_GENERATIONS]; /* the field; 0: not given */
};

/* --- the whole file ------------------------------------------------------- */

/* The last membership of a collector before generation g. */
static struct cluster_member *last_membership(struct cluster *c, unsigned g,
					      uint16_t collector)
{
	while (g-- > 0)
		for (unsigned i = 0; i < c->generation[g].n; i++)
			if (c->generation[g].member[i].collector == collector)
				return &c->generation[g].member[i];
	return NULL;
}

/* Replaces the id by an index. A first epoch that was not given becomes the
 * generation's, or 1 for a new collector. */
static int finish_member(struct reader *r, unsigned g, struct cluster_member *m,
			 struct error *err)
{
	struct cluster *c = r->c;
	unsigned id = m->collector, at = 0;
	struct cluster_member *last;

	while (at < c->n && c->collector[at].id != id)
		at++;
	if (at == c->n)
		return error_set(err, -EINVAL, "there is no [collector %u]",
				 id);
	m->collector = (uint16_t)at;
	last = last_membership(c, g, m->collector);
	if (!m->from)
		m->from = last ? r->epoch[g] : 1;
	if (!m->from)
		return error_set(err, -EINVAL,
				 "since which epoch? It needs epoch = N");
	if (last && last->from >= m->from)
		return error_set(err, -EINVAL,
				 "collector %u was in a generation from epoch "
				 "%llu on; this one must begin later",
				 id, (unsigned long long)last->from);
	if (last)
		last->until = m->from;
	return 0;
}

static int finish_generation(struct reader *r, unsigned g, struct error *err)
{
	struct cluster_generation *to = &r->c->generation[g];
	int rc = 0;

	for (unsigned i = 0; i < to->n && !rc; i++)
		rc = finish_member(r, g, &to->member[i], err);
	return rc || to->n ? rc : error_set(err, -EINVAL, "no collectors");
}

static int check_collector(const struct cluster_collector *c, struct error *err)
{
	if (!*c->region && !*c->ticket && !*c->verbs)
		return error_set(err, -EINVAL,
				 "needs region or ticket, or verbs");
	if (*c->host && !*c->region)
		return error_set(err, -EINVAL,
				 "host: needs region, the name of it there");
	if (*c->verbs && *c->region && !*c->host)
		return error_set(err, -EINVAL,
				 "verbs: without host the region is on this "
				 "machine: name the host, or no region");
	return 0;
}

static int add_generation(struct cluster *c, uint32_t number)
{
	struct cluster_generation *g = &c->generation[c->generations];

	g->member = calloc(CLUSTER_MAX, sizeof(*g->member));
	if (!g->member)
		return -ENOMEM;
	g->number = number;
	c->generations++;
	return 0;
}

static void add_member(struct cluster_generation *g, uint16_t id,
		       uint64_t epoch)
{
	g->member[g->n++] = (struct cluster_member){id, epoch, UINT64_MAX};
}

static int finish_cluster(struct reader *r)
{
	struct error why = {""};
	struct cluster *c = r->c;
	int rc;

	if (!c->n) /* a section without fields is not seen */
		return ini_error(&r->ini, 0, -EINVAL,
				 "no collectors: a [collector ID] with region, "
				 "ticket or both is needed");
	for (unsigned i = 0; i < c->n; i++)
		if ((rc = check_collector(&c->collector[i], &why)) < 0)
			return ini_error(&r->ini, 0, rc, "[collector %u]: %s",
					 c->collector[i].id, why.text);
	if (!c->generations) { /* one of all collectors */
		if ((rc = add_generation(c, 1)) < 0)
			return ini_error(&r->ini, 0, rc, "%s", strerror(-rc));
		for (unsigned i = 0; i < c->n; i++)
			add_member(c->generation, c->collector[i].id, 0);
	}
	for (unsigned g = 0; g < c->generations; g++)
		if ((rc = finish_generation(r, g, &why)) < 0)
			return ini_error(&r->ini, 0, rc, "[generation %u]: %s",
					 c->generation[g].number, why.text);
	return 0;
}

/* --- its lines ------------------------------------------------------------ */

static int refuse_value(const struct reader *r, const char *what,
			const char *value)
{
	return ini_error(&r->ini, r->ini.line, -EINVAL, "%s: '%.100s'", what,
			 value);
}

static int set_text(const struct field *field, const struct reader *r,
		    const char *value, struct error *err)
{
	char *out = (char *)&r->c->collector[r->c->n - 1] + field->at;

	if (!*value || strlen(value) >= CLUSTER_TEXT)
		return error_set(err, -EINVAL, "empty or too long: '%s'",
				 value);
	memcpy(out, value, strlen(value) + 1);
	return 0;
}

/* Names go to other programs, and through a shell on another machine: nothing
 * that looks like an option, and no character that a shell would interpret. An
 * address (field->use), which no shell gets, may have the brackets of IPv6. */
static int set_name(const struct field *field, void *reader, const char *value,
		    struct error *err)
{
	static const char plain[] = "[]"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz"
				    "0123456789._/@:+-%=,";
	const char *allowed = field->use ? plain : plain + 2;

	if (*value == '-' || value[strspn(value, allowed)])
		return error_set(err, -EINVAL, "no plain name: '%s'", value);
	return set_text(field, reader, value, err);
}

/* A path as seen from the directory of the cluster file. */
static int set_ticket(const struct field *field, void *reader,
		      const char *value, struct error *err)
{
	struct reader *r = reader;
	const char *slash = strrchr(r->ini.name, '/');
	char path[2 * CLUSTER_TEXT];

	if (!*value || *value == '/' || !slash)
		return set_text(field, r, value, err);
	snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - r->ini.name),
		 r->ini.name, value);
	return set_text(field, r, path, err);
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
	{ "verbs", TEXT(verbs), .set = set_name, .use = 1 },
	{ "ticket", TEXT(ticket), .set = set_ticket },
	{ NULL },
};

/* parse_members() takes "collectors", which may be repeated. */
static const struct field generation_fields[] = {
	{ "epoch", FIELD_NUMBER, 8, 0, 1, UINT64_MAX,
	  .want = "a number from 1" },
	{ NULL },
};
/* clang-format on */

/* Adds the members id to last; epoch: their own first one, or 0. */
static int add_range(struct reader *r, uint64_t id, uint64_t last,
		     uint64_t epoch)
{
	struct cluster_generation *g = &r->c->generation[r->c->generations - 1];

	for (; id <= last; id++) {
		for (unsigned i = 0; i < g->n; i++)
			if (g->member[i].collector == id)
				return ini_error(&r->ini, r->ini.line, -EINVAL,
						 "twice collector %u",
						 (unsigned)id);
		if (g->n == CLUSTER_MAX)
			return refuse_value(r, "too many collectors",
					    r->ini.value);
		add_member(g, (uint16_t)id, epoch);
	}
	return 0;
}

/* "ID" or "ID-ID", perhaps followed by ":EPOCH", with blanks or commas between
 * them. */
static int parse_members(struct reader *r)
{
	static const char between[] = " \t,";
	const char *p = r->ini.value + strspn(r->ini.value, between);
	int rc = 0;

	while (*p && !rc) {
		uint64_t first, last, epoch = 0;

		p = text_digits(&first, p, UINT16_MAX);
		last = first;
		if (p && *p == '-')
			p = text_digits(&last, p + 1, UINT16_MAX);
		if (p && *p == ':') {
			p = text_digits(&epoch, p + 1, UINT64_MAX);
			p = epoch ? p : NULL;
		}
		if (!p || last < first || (*p && !strchr(between, *p)))
			return refuse_value(r,
					    "collectors: not a list of ids, "
					    "such as 0-3 7:5, epochs from 1",
					    r->ini.value);
		rc = add_range(r, first, last, epoch);
		p += strspn(p, between);
	}
	return rc;
}

static int cluster_field(struct reader *r)
{
	int rc = ini_set(&r->ini, cluster_fields, &r->seen, r);

	if (rc >= 0 && r->version && r->version != CLUSTER_VERSION)
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
	if (c->generations == CLUSTER_GENERATIONS ||
	    add_generation(c, (uint32_t)n) < 0)
		return refuse_value(r, "too many generations", text);
	return 0;
}

static int enter_section(struct reader *r)
{
	const char *section = r->ini.section;

	r->header = r->ini.header;
	r->seen = 0;
	if (!strncmp(section, "collector ", 10))
		return enter_collector(r, section + 10);
	if (!strncmp(section, "generation ", 11))
		return enter_generation(r, section + 11);
	return strcmp(section, "cluster")
		       ? refuse_value(r, "no such section", section)
		       : 0;
}

static int parse_field(struct reader *r)
{
	if (!r->ini.header)
		return refuse_value(r, "not in a section", r->ini.key);
	if (r->ini.header != r->header && enter_section(r) < 0)
		return -EINVAL;
	if (!strcmp(r->ini.section, "cluster"))
		return cluster_field(r);
	if (r->ini.section[0] == 'c')
		return ini_set(&r->ini, collector_fields, &r->seen, r);
	if (!strcmp(r->ini.key, "collectors"))
		return parse_members(r);
	return ini_set(&r->ini, generation_fields, &r->seen,
		       &r->epoch[r->c->generations - 1]);
}

static int parse_file(struct reader *r)
{
	struct ini *i = &r->ini;
	int rc;

	while ((rc = ini_next(i)) > 0)
		if ((rc = parse_field(r)) < 0)
			return rc;
	if (rc < 0)
		return rc;
	if (!r->version)
		return ini_error(i, 0, -EINVAL,
				 "not a cluster file: [cluster] needs version");
	r->c->mirror = r->mirror;
	rc = finish_cluster(r);
	return !rc && i->empty_section ? ini_error(i, i->empty_section, -EINVAL,
						   "a section without fields")
				       : rc;
}

int cluster_parse(struct cluster *c, FILE *in, const char *name,
		  struct error *err)
{
	struct reader r = {
		.ini = {.in = in,
			.name = name,
			.bad_line = "not a line of a cluster file",
			.err = err},
		.c = c,
	};
	int rc;

	*c = (struct cluster){
		.collector = calloc(CLUSTER_MAX, sizeof(c->collector[0])),
		.generation = calloc(CLUSTER_GENERATIONS,
				     sizeof(c->generation[0])),
	};
	rc = c->collector && c->generation
		     ? parse_file(&r)
		     : error_set(err, -ENOMEM, "%s", strerror(ENOMEM));
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
