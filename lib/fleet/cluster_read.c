/* SPDX-License-Identifier: BSD-2-Clause */
/* Cluster files are read as strangers' files: nothing is believed unseen. */
#include "fleet/cluster_private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct cluster *c;
	FILE *in;
	const char *name;
	int line;
	int error, error_line; /* the first bad line */
	struct fault why;
	char section[64];
	bool version, steer, mirror; /* seen */
	struct cluster_members m;
	size_t room;
};

/* What inih's handlers return: 1 good, 0 bad. */
static int bad(struct reader *r, int err, const char *what, const char *value)
{
	if (!r->error) {
		r->error = fault_set(&r->why, err, "%s: '%.100s'", what, value);
		r->error_line = r->line;
	}
	return 0;
}

static int bad_value(struct reader *r, const char *name, const char *value,
		     const char *want)
{
	if (!r->error) {
		r->error = fault_set(&r->why, -EINVAL, "%s: '%.100s' is not %s",
				     name, value, want);
		r->error_line = r->line;
	}
	return 0;
}

/* Decimal digits up to the end; returns what follows, NULL: none there. */
static const char *digits(const char *text, uint64_t max, uint64_t *out)
{
	size_t len = strspn(text, "0123456789");
	char *end;

	if (!len)
		return NULL;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno || *out > max ? NULL : end;
}

static bool number(const char *text, uint64_t max, uint64_t *out)
{
	const char *end = digits(text, max, out);

	return end && !*end;
}

static int yes_no(struct reader *r, const char *name, const char *value,
		  const char *yes, const char *no, bool *seen, bool *out)
{
	char want[32];

	if (*seen)
		return bad(r, -EINVAL, "given twice", name);
	*seen = true;
	*out = !strcmp(value, yes);
	if (*out || !strcmp(value, no))
		return 1;
	snprintf(want, sizeof(want), "%s or %s", no, yes);
	return bad_value(r, name, value, want);
}

static int cluster_field(struct reader *r, const char *name, const char *value)
{
	uint64_t n = 0;

	if (!strcmp(name, "steer"))
		return yes_no(r, name, value, "address", "hash", &r->steer,
			      &r->c->by_address);
	if (!strcmp(name, "mirror"))
		return yes_no(r, name, value, "yes", "no", &r->mirror,
			      &r->c->mirror);
	if (strcmp(name, "version") != 0)
		return bad(r, -EINVAL, "no such field", name);
	if (!number(value, UINT32_MAX, &n))
		return bad(r, -EINVAL, name, value);
	if (n != CLUSTER_VERSION)
		return bad(r, -EPROTONOSUPPORT,
			   "a cluster file of another version", value);
	r->version = true;
	return 1;
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

static int take_text(struct reader *r, char *out, const char *name,
		     const char *value)
{
	if (*out)
		return bad(r, -EINVAL, "given twice", name);
	if (!*value || strlen(value) >= CLUSTER_TEXT)
		return bad(r, -EINVAL, name, value);
	memcpy(out, value, strlen(value) + 1);
	return 1;
}

/* A path as seen from the directory of the cluster file. */
static int take_path(struct reader *r, char *out, const char *value)
{
	const char *slash = strrchr(r->name, '/');
	char path[2 * CLUSTER_TEXT];

	if (!*value || *value == '/' || !slash)
		return take_text(r, out, "ticket", value);
	if (snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - r->name),
		     r->name, value) >= CLUSTER_TEXT)
		return bad(r, -ENAMETOOLONG, "ticket", value);
	return take_text(r, out, "ticket", path);
}

static int take_address(struct reader *r, struct cluster_collector *to,
			const char *value)
{
	if (to->version)
		return bad(r, -EINVAL, "given twice", "address");
	to->version = strchr(value, ':') ? 6 : 4;
	if (inet_pton(to->version == 6 ? AF_INET6 : AF_INET, value, to->ip) !=
	    1)
		return bad_value(r, "address", value, "an IP address");
	return 1;
}

static int collector_field(struct reader *r, const char *name,
			   const char *value)
{
	struct cluster_collector *to = &r->c->collector[r->c->n - 1];

	if (!strcmp(name, "region"))
		return is_plain(value) ? take_text(r, to->region, name, value)
				       : bad(r, -EINVAL,
					     "region: no plain name", value);
	if (!strcmp(name, "host"))
		return is_plain(value)
			       ? take_text(r, to->host, name, value)
			       : bad(r, -EINVAL, "host: no plain name", value);
	if (!strcmp(name, "verbs"))
		return is_address(value)
			       ? take_text(r, to->verbs, name, value)
			       : bad(r, -EINVAL, "verbs: no address", value);
	if (!strcmp(name, "ticket"))
		return take_path(r, to->ticket, value);
	if (!strcmp(name, "address"))
		return take_address(r, to, value);
	return bad(r, -EINVAL, "no such field", name);
}

static bool keep(struct reader *r, const struct cluster_listed *l)
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

		p = digits(p, UINT16_MAX, &first);
		last = first;
		if (p && *p == '-')
			p = digits(p + 1, UINT16_MAX, &last);
		if (p && *p == ':' &&
		    (!(p = digits(p + 1, UINT64_MAX, &epoch)) || !epoch))
			return bad_value(r, "collectors", value,
					 "ids with an :EPOCH from 1");
		if (!p || last < first || (*p && !strchr(" \t,", *p)))
			return bad_value(r, "collectors", value,
					 "a list of ids, such as 0-3 7");
		l = (struct cluster_listed){
			.generation = r->c->generations - 1,
			.first = (uint16_t)first,
			.last = (uint16_t)last,
			.epoch = epoch,
		};
		if (!keep(r, &l))
			return bad(r, -ENOMEM, strerror(ENOMEM), value);
		p += strspn(p, " \t,");
	}
	return 1;
}

static int generation_field(struct reader *r, const char *name,
			    const char *value)
{
	uint64_t *epoch = &r->m.epoch[r->c->generations - 1];

	if (!strcmp(name, "collectors"))
		return take_members(r, value);
	if (strcmp(name, "epoch") != 0)
		return bad(r, -EINVAL, "no such field", name);
	if (*epoch)
		return bad(r, -EINVAL, "given twice", name);
	return number(value, UINT64_MAX, epoch) && *epoch
		       ? 1
		       : bad_value(r, name, value, "a number from 1");
}

static int enter_collector(struct reader *r, const char *text)
{
	struct cluster *c = r->c;
	uint64_t id;

	if (!number(text, UINT16_MAX, &id))
		return bad(r, -EINVAL, "no collector's id", text);
	for (unsigned i = 0; i < c->n; i++)
		if (c->collector[i].id == id)
			return bad(r, -EINVAL, "twice the same collector",
				   text);
	if (c->n == CLUSTER_MAX)
		return bad(r, -EINVAL, "too many collectors", text);
	c->collector[c->n++].id = (uint16_t)id;
	return 1;
}

static int enter_generation(struct reader *r, const char *text)
{
	struct cluster *c = r->c;
	uint64_t n;

	if (!number(text, UINT32_MAX, &n))
		return bad(r, -EINVAL, "no generation's number", text);
	if (c->generations && c->generation[c->generations - 1].number >= n)
		return bad(r, -EINVAL, "generations come in their order", text);
	if (c->generations == CLUSTER_GENERATIONS)
		return bad(r, -EINVAL, "too many generations", text);
	c->generation[c->generations++].number = (uint32_t)n;
	return 1;
}

static int enter_section(struct reader *r, const char *section)
{
	if (strlen(section) >= sizeof(r->section))
		return bad(r, -EINVAL, "section name too long", section);
	snprintf(r->section, sizeof(r->section), "%s", section);
	if (!strncmp(section, "collector ", 10))
		return enter_collector(r, section + 10);
	if (!strncmp(section, "generation ", 11))
		return enter_generation(r, section + 11);
	return !strcmp(section, "cluster")
		       ? 1
		       : bad(r, -EINVAL, "no such section", section);
}

static int on_field(void *user, const char *section, const char *name,
		    const char *value)
{
	struct reader *r = user;

	if (r->error)
		return 0;
	if (!*section)
		return bad(r, -EINVAL, "not in a section", name);
	if (strcmp(section, r->section) != 0 && !enter_section(r, section))
		return 0;
	if (*section == 'g')
		return generation_field(r, name, value);
	return strcmp(section, "cluster") ? collector_field(r, name, value)
					  : cluster_field(r, name, value);
}

/* inih's fgets(), which counts as inih does and cuts no line in two. */
static char *on_line(char *text, int size, void *user)
{
	struct reader *r = user;

	if (r->error || !fgets(text, size, r->in))
		return NULL;
	r->line++;
	if (!strchr(text, '\n') && !feof(r->in)) {
		r->error = fault_set(&r->why, -EINVAL,
				     "the line is too long or binary");
		return NULL;
	}
	return text;
}

static int parse(struct reader *r, struct fault *f)
{
	struct fault why = {""};
	int line = ini_parse_stream(on_line, r, on_field, r), rc;

	if (ferror(r->in))
		return fault_set(f, -EIO, "%s: cannot be read", r->name);
	if (r->error)
		return fault_set(f, r->error, "%.200s:%d: %.280s", r->name,
				 r->error_line, r->why.text);
	if (line)
		return fault_set(f, -EINVAL,
				 "%.200s:%d: not a line of a cluster file",
				 r->name, line);
	rc = !r->version ? fault_set(&why, -EINVAL,
				     "not a cluster file: [cluster] needs "
				     "version")
			 : cluster_make(r->c, &r->m, &why);
	return rc < 0 ? fault_set(f, rc, "%.200s: %.280s", r->name, why.text)
		      : 0;
}

int cluster_parse(struct cluster *c, FILE *in, const char *name,
		  struct fault *f)
{
	struct reader *r = calloc(1, sizeof(*r));
	int rc = -ENOMEM;

	*c = (struct cluster){0};
	c->collector = calloc(CLUSTER_MAX, sizeof(c->collector[0]));
	c->generation = calloc(CLUSTER_GENERATIONS, sizeof(c->generation[0]));
	if (r && c->collector && c->generation) {
		r->c = c;
		r->in = in;
		r->name = name;
		rc = parse(r, f);
		free(r->m.listed);
	} else {
		fault_set(f, rc, "%s", strerror(ENOMEM));
	}
	free(r);
	if (rc < 0)
		cluster_fini(c);
	return rc;
}

int cluster_read(struct cluster *c, const char *path, struct fault *f)
{
	FILE *in = fopen(path, "re");
	int rc;

	if (!in)
		return fault_set(f, -errno, "%s: %s", path, strerror(errno));
	rc = cluster_parse(c, in, path, f);
	fclose(in);
	return rc;
}
