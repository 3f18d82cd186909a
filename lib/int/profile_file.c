/* SPDX-License-Identifier: BSD-2-Clause */
/* profile_file.c - reads profile files, and checks each value. */
#include "int/int_profile.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/ini.h"
#include "base/text.h"
#include "net/proto.h"

const char *const profile_field_names[INT_FIELDS + 1] = {
	[INT_NODE] = "node",
	[INT_INGRESS] = "ingress",
	[INT_EGRESS] = "egress",
	[INT_LATENCY] = "latency",
	[INT_QUEUE] = "queue",
	[INT_OCCUPANCY] = "occupancy",
	[INT_INGRESS_TIME] = "ingress_time",
	[INT_EGRESS_TIME] = "egress_time",
	[INT_INGRESS2] = "ingress2",
	[INT_EGRESS2] = "egress2",
	[INT_UTILIZATION] = "utilization",
	[INT_BUFFER] = "buffer",
	[INT_BUFFER_OCCUPANCY] = "buffer_occupancy",
	[INT_CONGESTION] = "congestion",
	[INT_DROP_REASON] = "drop_reason",
	[INT_HOP_LIMIT] = "hop_limit",
	[INT_NAMESPACE_DATA] = "namespace_data",
	[INT_TIME_SECONDS] = "time_seconds",
	[INT_TIME_FRACTION] = "time_fraction",
};

/* A unit of time as a scale (struct int_part); 0: it is none. */
static uint32_t unit_scale(const char *text)
{
	return !strcmp(text, "ns")    ? 1
	       : !strcmp(text, "us")  ? 1000
	       : !strcmp(text, "ms")  ? 1000000
	       : !strcmp(text, "ntp") ? INT_SCALE_NTP
				      : 0;
}

/* "queue:1 occupancy:3 us", "-:4 x80" or "reserved" to a word. 0, or -EINVAL
 * and why. */
static int parse_word_text(struct int_word *out, const char *text,
			   struct error *err)
{
	char copy[256], *rest = copy, *token, *colon;
	struct int_word word = {0};
	unsigned parts = 0, len = 0;

	*out = word;
	if (!strcmp(text, "reserved"))
		return 0;
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return error_set(err, -EINVAL, "is too long");
	while ((token = strsep(&rest, " \t"))) {
		uint64_t n, times = unit_scale(token);
		unsigned field = 0;

		if (!*token)
			continue;
		if (!times && token[0] == 'x' &&
		    !text_u64(&times, token + 1, UINT32_MAX - 1))
			times = 0;
		if (times) { /* of the part before it */
			if (!parts || word.part[parts - 1].scale)
				return error_set(err, -EINVAL,
						 "%s: of no field, or its "
						 "second unit",
						 token);
			field = word.part[parts - 1].field;
			if (token[0] != 'x' && field != INT_LATENCY &&
			    field != INT_INGRESS_TIME &&
			    field != INT_EGRESS_TIME &&
			    field != INT_TIME_FRACTION)
				return error_set(err, -EINVAL,
						 "%s: %s is no time", token,
						 profile_field_names[field]);
			word.part[parts - 1].scale = (uint32_t)times;
			continue;
		}
		colon = strchr(token, ':');
		if (!colon || !text_u64(&n, colon + 1, 8) || !n)
			return error_set(
				err, -EINVAL,
				"'%s' is not FIELD:BYTES, 1 to 8, nor a unit",
				token);
		*colon = '\0';
		if (strcmp(token, "-") != 0) {
			while (field < INT_FIELDS &&
			       strcmp(profile_field_names[field], token) != 0)
				field++;
			if (field == INT_FIELDS)
				return error_set(err, -EINVAL,
						 "no such field: '%s'", token);
			if (parts == 2)
				return error_set(err, -EINVAL,
						 "more than two fields");
			word.part[parts].field = (uint8_t)field;
			word.part[parts].at = (uint8_t)len;
			word.part[parts++].len = (uint8_t)n;
		}
		len += (unsigned)n;
	}
	if (len != 4 && len != 8)
		return error_set(err, -EINVAL, "%u bytes; a word has 4 or 8",
				 len);
	word.len = (uint8_t)len;
	*out = word;
	return 0;
}

const char *const profile_versions[INT_ANY + 2] = {
	[INT_V0_5] = "0.5", [INT_V1_0] = "1.0", [INT_V2_0] = "2.0",
	[INT_V2_1] = "2.1", [INT_ANY] = "any",	NULL,
};

static const char *const no_yes[] = {"no", "yes", NULL};

/* The sections of words; section NULL: the end. */
static const struct profile_words {
	const char *section;
	uint16_t at; /* in struct int_profile */
	uint8_t bits;
} profile_sections[] = {
	{"instructions", offsetof(struct int_profile, instruction), 16},
	{"report1", offsetof(struct int_profile, report1), TREPORT_V1_BITS},
	{"report2", offsetof(struct int_profile, report2), TREPORT_V2_BITS},
	{NULL, 0, 0},
};

static int set_like(const struct field *field, void *profile, const char *value,
		    struct error *err)
{
	const struct int_profile *p = int_profile_named(value);
	char names[160] = "";
	size_t len = 0;

	(void)field;
	if (p) {
		*(struct int_profile *)profile = *p;
		return 0;
	}
	for (unsigned i = 0; (p = int_profile_at(i)) && len < sizeof(names);
	     i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, " %s",
					p->name);
	return error_set(err, -EINVAL, "'%.60s' is none of%s", value, names);
}

static int set_name(const struct field *field, void *profile, const char *value,
		    struct error *err)
{
	struct int_profile *p = profile;
	(void)field;
	(void)err;
	return *value && snprintf(p->name, sizeof(p->name), "%s", value) <
				       (int)sizeof(p->name)
		       ? 0
		       : -EINVAL;
}

/* "0x17/0x3f", "none" */
static int set_dscp(const struct field *field, void *profile, const char *value,
		    struct error *err)
{
	struct int_profile *p = profile;
	uint64_t dscp, mask = INT_DSCP_MASK;
	char text[8] = "";
	size_t len = strcspn(value, "/");

	(void)field;
	(void)err;
	if (!strcmp(value, "none")) {
		p->dscp = p->dscp_mask = 0;
		return 0;
	}
	if (len >= sizeof(text))
		return -EINVAL;
	memcpy(text, value, len);
	if (!text_number(&dscp, text, INT_DSCP_MASK) ||
	    (value[len] && !text_number(&mask, value + len + 1, INT_DSCP_MASK)))
		return -EINVAL;
	if (dscp & ~mask)
		return -EINVAL;
	p->dscp = (uint8_t)dscp;
	p->dscp_mask = mask ? (uint8_t)mask : INT_DSCP_ANY;
	return 0;
}

/* "0:2 3:1", "none" */
static int set_source_words(const struct field *field, void *profile,
			    const char *value, struct error *err)
{
	struct int_profile *p = profile;
	uint8_t words[16] = {0};
	uint64_t bit, n;

	(void)field;
	(void)err;
	if (!strcmp(value, "none"))
		value = "";
	for (value += strspn(value, " "); *value; value += strspn(value, " ")) {
		value = text_digits(&bit, value, 15);
		if (!value || *value != ':')
			return -EINVAL;
		value = text_digits(&n, value + 1, UINT8_MAX);
		if (!value || (*value && *value != ' ') || words[bit])
			return -EINVAL;
		words[bit] = (uint8_t)n;
	}
	memcpy(p->source_words, words, sizeof(words));
	return 0;
}

static int set_fraction(const struct field *field, void *profile,
			const char *value, struct error *err)
{
	uint32_t scale = unit_scale(value);

	(void)field;
	(void)err;
	if (scale)
		((struct int_profile *)profile)->ioam_fraction = scale;
	return scale ? 0 : -EINVAL;
}

/* clang-format off */
#define NUMBER(member) FIELD_NUMBER, \
	sizeof(((struct int_profile *)0)->member), \
	offsetof(struct int_profile, member)
#define PORT(member) { #member, NUMBER(member), 0, UINT16_MAX, \
	.want = "a number up to 65535" }
#define FLAG(member) { #member, FIELD_NAME, sizeof(bool), \
	offsetof(struct int_profile, member), .names = no_yes }

/* The keys of [profile]. */
static const struct field profile_keys[] = {
	{ "like", FIELD_OTHER, .set = set_like },
	{ "name", FIELD_OTHER, .set = set_name,
	  .want = "a name of 1 to 31 bytes" },
	{ "version", FIELD_NAME, 1, offsetof(struct int_profile, version),
	  .names = profile_versions },
	{ "dscp", FIELD_OTHER, .set = set_dscp,
	  .want = "none or VALUE/MASK of 6 bits" },
	PORT(udp_port),
	{ "marker", NUMBER(marker), 0, UINT64_MAX, .want = "a number" },
	PORT(vxlan_gpe_port),
	{ "vxlan_gpe_next", NUMBER(vxlan_gpe_next), 0, UINT8_MAX,
	  .want = "a number up to 255" },
	PORT(geneve_port),
	PORT(geneve_class),
	PORT(gre_type),
	PORT(report_port),
	PORT(domain),
	{ "source_words", FIELD_OTHER, .set = set_source_words,
	  .want = "none or BIT:WORDS..., each bit once" },
	{ "ioam_fraction", FIELD_OTHER, .set = set_fraction,
	  .want = "ns, us, ms or ntp" },
	FLAG(any_ver),
	FLAG(behind_tcp_options),
	FLAG(tcp_sum_left),
	FLAG(report_length_wrong),
	{ NULL },
};
/* clang-format on */

struct reader {
	struct ini ini;
	struct int_profile p;
	uint64_t keys;	       /* of [profile] that were given, a bit each */
	uint64_t bits[3];      /* the same, of profile_sections */
	unsigned instructions; /* line of the first, or 0 */
};

static int parse_key(struct reader *r)
{
	const struct ini *i = &r->ini;

	if (!strcmp(i->key, "like") &&
	    (r->keys || r->bits[0] | r->bits[1] | r->bits[2]))
		return ini_error(i, i->line, -EINVAL,
				 "like: what comes before it would be lost: "
				 "it must be the first");
	return ini_set(i, profile_keys, &r->keys, &r->p);
}

static int parse_word(struct reader *r, unsigned section)
{
	const struct profile_words *s = &profile_sections[section];
	const struct ini *i = &r->ini;
	struct int_word *words = (void *)((char *)&r->p + s->at);
	struct error why = {""};
	uint64_t bit;

	if (!text_u64(&bit, i->key, s->bits - 1u))
		return ini_error(i, i->line, -EINVAL,
				 "'%.60s' is not a bit, 0 to %u", i->key,
				 s->bits - 1u);
	if (!field_once(&r->bits[section], (int)bit))
		return ini_error(i, i->line, -EINVAL, "given twice: bit %u",
				 (unsigned)bit);
	if (!section && !r->instructions)
		r->instructions = i->line;
	if (parse_word_text(&words[bit], i->value, &why) < 0)
		return ini_error(i, i->line, -EINVAL, "%u: %s", (unsigned)bit,
				 why.text);
	return 0;
}

static int parse_line(struct reader *r)
{
	const struct ini *i = &r->ini;

	if (!i->header)
		return ini_error(i, i->line, -EINVAL,
				 "a field before the first [section]");
	if (!strcmp(i->section, "profile"))
		return parse_key(r);
	for (unsigned k = 0; profile_sections[k].section; k++)
		if (!strcmp(i->section, profile_sections[k].section))
			return parse_word(r, k);
	return ini_error(i, i->header, -EINVAL, "no such section: '%.60s'",
			 i->section);
}

static int read_all(struct reader *r)
{
	struct ini *i = &r->ini;
	int rc;

	while ((rc = ini_next(i)) > 0)
		if ((rc = parse_line(r)) < 0)
			return rc;
	if (rc < 0)
		return rc;
	if (i->empty_section)
		return ini_error(i, i->empty_section, -EINVAL,
				 "a section without fields");
	/* For these int_profile_words() takes the specifications' words. */
	if (r->instructions && r->p.version == INT_ANY)
		return ini_error(i, r->instructions, -EINVAL,
				 "instructions: version any has those of each "
				 "version; say version = 2.1, or like");
	return 0;
}

int profile_parse(struct int_profile *out, FILE *in, const char *name,
		  struct error *err)
{
	struct reader r = {
		.ini = {.in = in,
			.name = name,
			.bad_line = "neither [section], field = value nor "
				    "; comment",
			.err = err},
		.p = *int_profile_at(0),
	};
	int rc = read_all(&r);

	*out = r.p;
	return rc;
}

int profile_read(struct int_profile *out, const char *path, struct error *err)
{
	bool is_stdin = !strcmp(path, "-");
	FILE *in = is_stdin ? stdin : fopen(path, "re");
	int rc;

	if (!in)
		return error_set(err, -errno, "%s: %s", path, strerror(errno));
	rc = profile_parse(out, in, is_stdin ? "standard input" : path, err);
	if (!is_stdin)
		fclose(in);
	return rc;
}
