/* SPDX-License-Identifier: BSD-2-Clause */
/* read.c - profile files, read: nothing is believed unseen. */
#include "profile/profile.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/ini.h"
#include "base/text.h"
#include "profile/private.h"

const char *const profile_versions[INT_ANY + 2] = {
	[INT_V0_5] = "0.5", [INT_V1_0] = "1.0", [INT_V2_0] = "2.0",
	[INT_V2_1] = "2.1", [INT_ANY] = "any",	NULL,
};

static const char *const no_yes[] = {"no", "yes", NULL};

const struct profile_words profile_sections[] = {
	{"instructions", offsetof(struct int_profile, instruction), 16},
	{"report1", offsetof(struct int_profile, report1), TREPORT_V1_BITS},
	{"report2", offsetof(struct int_profile, report2), TREPORT_V2_BITS},
	{NULL, 0, 0},
};

static int set_like(const struct field *field, void *profile, const char *value,
		    struct fault *f)
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
	return fault_set(f, -EINVAL, "'%.60s' is none of%s", value, names);
}

static int set_name(const struct field *field, void *profile, const char *value,
		    struct fault *f)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	struct int_profile *p = profile;
	size_t len = strlen(value);

	(void)field;
	(void)f;
	if (!len || len >= sizeof(p->name) || strspn(value, letters) != len)
		return -EINVAL;
	memset(p->name, 0, sizeof(p->name));
	memcpy(p->name, value, len);
	return 0;
}

/* "0x17/0x3f", "none" */
static int set_dscp(const struct field *field, void *profile, const char *value,
		    struct fault *f)
{
	struct int_profile *p = profile;
	uint64_t dscp, mask = INT_DSCP_MASK;
	char text[8] = "";
	size_t len = strcspn(value, "/");

	(void)field;
	(void)f;
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
			    const char *value, struct fault *f)
{
	struct int_profile *p = profile;
	uint8_t words[16] = {0};
	uint64_t bit, n;

	(void)field;
	(void)f;
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
			const char *value, struct fault *f)
{
	(void)field;
	(void)f;
	for (const struct profile_unit *u = profile_units; u->text; u++)
		if (!strcmp(value, u->text)) {
			((struct int_profile *)profile)->ioam_fraction = u->ns;
			return 0;
		}
	return -EINVAL;
}

/* clang-format off */
#define NUMBER(member) FIELD_NUMBER, \
	sizeof(((struct int_profile *)0)->member), \
	offsetof(struct int_profile, member)
#define PORT(member) { #member, NUMBER(member), 0, UINT16_MAX, \
	.want = "a number up to 65535" }
#define YES(member) { #member, FIELD_NAME, sizeof(bool), \
	offsetof(struct int_profile, member), .names = no_yes }

const struct field profile_keys[] = {
	{ "like", FIELD_OTHER, .set = set_like },
	{ "name", FIELD_OTHER, .set = set_name,
	  .want = "a name: 1 to 31 of a-z A-Z 0-9 . _ -" },
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
	YES(any_ver),
	YES(behind_tcp_options),
	YES(tcp_sum_left),
	YES(report_length_wrong),
	{ NULL },
};
/* clang-format on */

struct reader {
	struct ini ini;
	struct int_profile p;
	uint64_t keys;
	uint64_t bits[3];      /* of profile_sections that were given */
	unsigned instructions; /* line of the first */
};

static int take_key(struct reader *r)
{
	const struct ini *i = &r->ini;

	if (!strcmp(i->key, "like") &&
	    (r->keys || r->bits[0] | r->bits[1] | r->bits[2]))
		return ini_fault(i, i->line, -EINVAL,
				 "like: what comes before it would be lost: "
				 "it must be the first");
	return ini_set(i, profile_keys, &r->keys, &r->p);
}

static int take_word(struct reader *r, unsigned section)
{
	const struct profile_words *s = &profile_sections[section];
	const struct ini *i = &r->ini;
	struct int_word *words = (void *)((char *)&r->p + s->at);
	struct fault why = {""};
	uint64_t bit;

	if (!text_u64(&bit, i->key, s->bits - 1u))
		return ini_fault(i, i->line, -EINVAL,
				 "'%.60s' is not a bit, 0 to %u", i->key,
				 s->bits - 1u);
	if (!field_once(&r->bits[section], (int)bit))
		return ini_fault(i, i->line, -EINVAL, "given twice: bit %u",
				 (unsigned)bit);
	if (!section && !r->instructions)
		r->instructions = i->line;
	if (profile_word_parse(&words[bit], i->value, &why) < 0)
		return ini_fault(i, i->line, -EINVAL, "%u: %s", (unsigned)bit,
				 why.text);
	return 0;
}

static int take(struct reader *r)
{
	const struct ini *i = &r->ini;

	if (!i->header)
		return ini_fault(i, i->line, -EINVAL,
				 "a field before the first [section]");
	if (!strcmp(i->section, "profile"))
		return take_key(r);
	for (unsigned k = 0; profile_sections[k].section; k++)
		if (!strcmp(i->section, profile_sections[k].section))
			return take_word(r, k);
	return ini_fault(i, i->header, -EINVAL, "no such section: '%.60s'",
			 i->section);
}

static int read_all(struct reader *r)
{
	struct ini *i = &r->ini;
	int rc;

	while ((rc = ini_next(i)) > 0)
		if ((rc = take(r)) < 0)
			return rc;
	if (rc < 0)
		return rc;
	if (i->empty)
		return ini_fault(i, i->empty, -EINVAL,
				 "a section without fields");
	/* int_profile_words() has the specifications' for each version */
	if (r->instructions && r->p.version == INT_ANY)
		return ini_fault(i, r->instructions, -EINVAL,
				 "instructions: version any has those of each "
				 "version; say version = 2.1, or like");
	return 0;
}

int profile_parse(struct int_profile *out, FILE *in, const char *name,
		  struct fault *f)
{
	struct reader r = {
		.ini = {.in = in,
			.name = name,
			.strange = "neither [section], field = value nor "
				   "; comment",
			.f = f},
		.p = *int_profile_at(0),
	};
	int rc = read_all(&r);

	*out = r.p;
	return rc;
}

int profile_read(struct int_profile *out, const char *path, struct fault *f)
{
	bool is_stdin = !strcmp(path, "-");
	FILE *in = is_stdin ? stdin : fopen(path, "re");
	int rc;

	if (!in)
		return fault_set(f, -errno, "%s: %s", path, strerror(errno));
	rc = profile_parse(out, in, is_stdin ? "standard input" : path, f);
	if (!is_stdin)
		fclose(in);
	return rc;
}
