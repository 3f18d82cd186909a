/* SPDX-License-Identifier: BSD-2-Clause */
/* write.c - profiles as files: profile.h. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profile/profile.h"
#include "profile/private.h"

static uint64_t number(const void *p, const struct field *k)
{
	const char *at = (const char *)p + k->at;
	uint16_t v16;
	uint64_t v;

	switch (k->width) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		memcpy(&v16, at, sizeof(v16));
		return v16;
	}
	memcpy(&v, at, sizeof(v));
	return v;
}

static const char *unit_of(uint32_t ns)
{
	for (const struct profile_unit *u = profile_units; u->text; u++)
		if (u->ns == ns)
			return u->text;
	return NULL;
}

static void write_source_words(const struct int_profile *p, FILE *out)
{
	bool any = false;

	for (unsigned i = 0; i < 16; i++) {
		if (!p->source_words[i])
			continue;
		fprintf(out, "%s%u:%u", any ? " " : "", i, p->source_words[i]);
		any = true;
	}
	fputs(any ? "\n" : "none\n", out);
}

/* Of the keys with a form of their own. */
static void write_other(const struct int_profile *p, const char *name,
			FILE *out)
{
	if (!strcmp(name, "name"))
		fprintf(out, "%s\n", p->name);
	else if (!strcmp(name, "source_words"))
		write_source_words(p, out);
	else if (!strcmp(name, "ioam_fraction"))
		fprintf(out, "%s\n",
			unit_of(p->ioam_fraction ? p->ioam_fraction : 1000));
	else if (p->dscp_mask)
		fprintf(out, "0x%02x/0x%02x\n", p->dscp,
			p->dscp_mask & INT_DSCP_MASK);
	else
		fputs("none\n", out);
}

static void write_key(const struct int_profile *p, const struct field *k,
		      FILE *out)
{
	uint64_t v;

	fprintf(out, "%s = ", k->name);
	if (k->form == FIELD_OTHER) {
		write_other(p, k->name, out);
		return;
	}
	v = number(p, k);
	if (k->form == FIELD_NAME)
		fprintf(out, "%s\n", k->names[v]);
	else if (strstr(k->name, "port") || !v)
		fprintf(out, "%" PRIu64 "\n", v);
	else
		fprintf(out, "0x%" PRIx64 "\n", v);
}

static void write_gap(unsigned bytes, bool *any, FILE *out)
{
	if (bytes)
		fprintf(out, "%s-:%u", *any ? " " : "", bytes);
	*any = *any || bytes;
}

static void write_word(unsigned bit, const struct int_word *w, FILE *out)
{
	unsigned at = 0;
	bool any = false;

	fprintf(out, "%u = ", bit);
	if (!w->len)
		fputs("reserved", out);
	for (unsigned i = 0; i < 2 && w->part[i].len; i++) {
		uint32_t scale = w->part[i].scale;

		write_gap(w->part[i].at - at, &any, out);
		fprintf(out, "%s%s:%u", any ? " " : "",
			profile_field_names[w->part[i].field], w->part[i].len);
		if (scale > 1 && unit_of(scale))
			fprintf(out, " %s", unit_of(scale));
		else if (scale > 1)
			fprintf(out, " x%u", scale);
		any = true;
		at = w->part[i].at + w->part[i].len;
	}
	write_gap(w->len - at, &any, out);
	fputs("\n", out);
}

int profile_write(const struct int_profile *p, FILE *out)
{
	const struct profile_words *s = profile_sections;

	fputs("[profile]\n", out);
	for (const struct field *k = profile_keys + 1; k->name; k++)
		write_key(p, k, out);
	/* those of any version are the specifications' */
	for (s += p->version == INT_ANY; s->section; s++) {
		const struct int_word *words = (const void *)((const char *)p +
							      s->at);

		fprintf(out, "\n[%s]\n", s->section);
		for (unsigned bit = 0; bit < s->bits; bit++)
			write_word(bit, &words[bit], out);
	}
	errno = 0;
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
