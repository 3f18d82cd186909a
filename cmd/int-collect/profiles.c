/* SPDX-License-Identifier: BSD-2-Clause */
#include "profiles.h"

#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "profile/profile.h"
#include "row/row.h"

static void read_file(struct int_profile *out, const struct opts *o)
{
	struct fault f = {0};
	int rc;

	if (!strcmp(o->profile, "-") && o->read && !strcmp(o->read, "-"))
		cli_refuse("--profile and --read cannot both be stdin");
	rc = profile_read(out, o->profile, &f);
	if (rc < 0)
		cli_refuse("--profile: %s%s", f.text,
			   rc == -ENOENT
				   ? ", and --list-profiles has none of that "
				     "name"
				   : "");
}

void profile_choose(struct int_profile *out, const struct opts *o)
{
	const struct int_profile *p = int_profile_named(o->profile);

	if (p)
		*out = *p;
	else
		read_file(out, o);
	if (o->report_port)
		out->report_port = (uint16_t)o->report_port;
	if (o->udp_port)
		out->udp_port = (uint16_t)o->udp_port;
}

enum {
	P_NAME,
	P_VERSION,
	P_DSCP,
	P_DSCP_MASK,
	P_UDP_PORT,
	P_VXLAN_GPE_PORT,
	P_GENEVE_PORT,
	P_GENEVE_CLASS,
	P_GRE_TYPE,
	P_REPORT_PORT,
};

static const struct row_field fields[] = {
	[P_NAME] = {"profile", ROW_STR, 12},
	[P_VERSION] = {"version", ROW_STR, 7},
	[P_DSCP] = {"dscp", ROW_U64, 4},
	[P_DSCP_MASK] = {"dscp_mask", ROW_U64, 9},
	[P_UDP_PORT] = {"udp_port", ROW_U64, 8},
	[P_VXLAN_GPE_PORT] = {"vxlan_gpe_port", ROW_U64, 14},
	[P_GENEVE_PORT] = {"geneve_port", ROW_U64, 11},
	[P_GENEVE_CLASS] = {"geneve_class", ROW_U64, 12},
	[P_GRE_TYPE] = {"gre_type", ROW_U64, 8},
	[P_REPORT_PORT] = {"report_port", ROW_U64, 11},
};

static const struct schema schema = {"profile", fields,
				     sizeof(fields) / sizeof(fields[0])};

/* What is 0 is not known by it: null. */
static void set(struct rows *r, unsigned field, uint64_t v)
{
	if (v)
		row_u64(r, field, v);
}

static int put(struct rows *r, const struct int_profile *p)
{
	row_str(r, P_NAME, p->name);
	row_str(r, P_VERSION, profile_versions[p->version]);
	if (p->dscp_mask) {
		row_u64(r, P_DSCP, p->dscp);
		row_u64(r, P_DSCP_MASK, p->dscp_mask);
	}
	set(r, P_UDP_PORT, p->udp_port);
	set(r, P_VXLAN_GPE_PORT, p->vxlan_gpe_port);
	set(r, P_GENEVE_PORT, p->geneve_port);
	set(r, P_GENEVE_CLASS, p->geneve_class);
	set(r, P_GRE_TYPE, p->gre_type);
	set(r, P_REPORT_PORT, p->report_port);
	return row_end(r);
}

int profiles_list(enum row_format fmt)
{
	struct rows *r = rows_print(stdout, fmt, &schema, true);
	const struct int_profile *p;
	int rc = 0;

	if (!r)
		cli_fail("out of memory");
	for (unsigned i = 0; !rc && (p = int_profile_at(i)); i++)
		rc = put(r, p);
	rows_close(r);
	return rc < 0 ? CLI_FAIL : CLI_OK;
}

int profile_show(const struct int_profile *p)
{
	return profile_write(p, stdout) < 0 ? CLI_FAIL : CLI_OK;
}
