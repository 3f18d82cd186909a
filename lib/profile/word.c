/* SPDX-License-Identifier: BSD-2-Clause */
/* word.c - what a bit stands for, in text. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "profile/profile.h"
#include "profile/private.h"

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

const struct profile_unit profile_units[] = {
	{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"ntp", INT_SCALE_NTP},
	{NULL, 0},
};

enum {
	TOKEN_MAX = 40,
};

/* A word that is being read: so many parts, so many bytes. */
struct making {
	struct int_word word;
	unsigned parts, len;
};

static bool is_time(unsigned field)
{
	return field == INT_LATENCY || field == INT_INGRESS_TIME ||
	       field == INT_EGRESS_TIME || field == INT_TIME_FRACTION;
}

/* "us", "x80": of the part before it. Returns 0, -EINVAL, or -ENOENT: it is no
 * unit at all. */
static int take_unit(struct making *m, const char *text, struct fault *f)
{
	uint32_t *scale;
	uint64_t times = 0;
	unsigned field;

	for (const struct profile_unit *u = profile_units; u->text; u++)
		if (!strcmp(text, u->text))
			times = u->ns;
	if (!times && (text[0] != 'x' ||
		       !text_u64(&times, text + 1, UINT32_MAX - 1) || !times))
		return -ENOENT;
	if (!m->parts)
		return fault_set(f, -EINVAL, "%s: of no field", text);
	field = m->word.part[m->parts - 1].field;
	scale = &m->word.part[m->parts - 1].scale;
	if (*scale)
		return fault_set(f, -EINVAL, "%s: a second unit", text);
	if (text[0] != 'x' && !is_time(field))
		return fault_set(f, -EINVAL, "%s: %s is no time", text,
				 profile_field_names[field]);
	*scale = (uint32_t)times;
	return 0;
}

static int field_named(const char *name, size_t len)
{
	for (int i = 0; i < INT_FIELDS; i++)
		if (strlen(profile_field_names[i]) == len &&
		    !memcmp(profile_field_names[i], name, len))
			return i;
	return -1;
}

/* "queue:1", "-:2" */
static int take_part(struct making *m, const char *text, struct fault *f)
{
	const char *colon = strchr(text, ':');
	uint64_t len;
	int field = -1;

	if (!colon || !text_u64(&len, colon + 1, 8) || !len)
		return fault_set(f, -EINVAL,
				 "'%s' is not FIELD:BYTES, 1 to 8, nor a unit",
				 text);
	if (strncmp(text, "-:", 2) != 0) {
		field = field_named(text, (size_t)(colon - text));
		if (field < 0)
			return fault_set(f, -EINVAL, "no such field: '%.*s'",
					 (int)(colon - text), text);
		if (m->parts == 2)
			return fault_set(f, -EINVAL, "more than two fields");
		m->word.part[m->parts].field = (uint8_t)field;
		m->word.part[m->parts].at = (uint8_t)m->len;
		m->word.part[m->parts].len = (uint8_t)len;
		m->parts++;
	}
	m->len += (unsigned)len;
	if (m->len > 8)
		return fault_set(f, -EINVAL, "more than 8 bytes");
	return 0;
}

static int take_token(struct making *m, const char *text, struct fault *f)
{
	int rc = take_unit(m, text, f);

	return rc == -ENOENT ? take_part(m, text, f) : rc;
}

int profile_word_parse(struct int_word *out, const char *text, struct fault *f)
{
	static const char blanks[] = " \t";
	struct making m = {0};
	char token[TOKEN_MAX];
	size_t n;

	if (!strcmp(text, "reserved")) {
		*out = m.word;
		return 0;
	}
	for (text += strspn(text, blanks); *text;
	     text += strspn(text, blanks)) {
		n = strcspn(text, blanks);
		if (n >= sizeof(token))
			return fault_set(f, -EINVAL, "'%.60s' is no field",
					 text);
		memcpy(token, text, n);
		token[n] = '\0';
		if (take_token(&m, token, f) < 0)
			return -EINVAL;
		text += n;
	}
	if (m.len != 4 && m.len != 8)
		return fault_set(f, -EINVAL, "%u bytes; a word has 4 or 8",
				 m.len);
	m.word.len = (uint8_t)m.len;
	*out = m.word;
	return 0;
}
