/* SPDX-License-Identifier: BSD-2-Clause */
/* live.c - which kind of source or sink a name and its options mean. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "live/private.h"

static const char unix_prefix[] = "unix:";

static bool is_unix(const char *name)
{
	return !strncmp(name, unix_prefix, sizeof(unix_prefix) - 1);
}

/* The path before (0) or behind (1) the comma of unix:LOCAL,REMOTE. */
static int unix_path(char *path, size_t size, const char *name, int which,
		     struct fault *f)
{
	static const char *const side[] = {"LOCAL", "REMOTE"};
	const char *from = name + sizeof(unix_prefix) - 1;
	const char *comma = strchr(from, ',');
	size_t len;

	if (!comma)
		return fault_set(f, -EINVAL, "%s: not unix:LOCAL,REMOTE", name);
	len = which ? strlen(comma + 1) : (size_t)(comma - from);
	if (which)
		from = comma + 1;
	if (!len)
		return fault_set(f, -EINVAL, "%s: %s is missing", name,
				 side[which]);
	if (len >= size)
		return fault_set(f, -ENAMETOOLONG,
				 "%s: %s is longer than a socket's path may "
				 "be, %zu bytes",
				 name, side[which], size - 1);
	snprintf(path, size, "%.*s", (int)len, from);
	return 0;
}

/* AF_XDP takes packets away from the host: only what is known not to be its
 * own business is taken unasked, and nothing that a filter divides further. */
static bool may_take(const struct live_options *o)
{
	return o->port[0] && !(o->filter && *o->filter);
}

int src_open_live(struct src **out, const char *name,
		  const struct live_options *o, struct fault *f)
{
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	struct iface i;
	int rc;

	if (is_unix(name)) {
		rc = unix_path(path, sizeof(path), name, 0, f);
		return rc ? rc : dgram_src_open(out, path, o, f);
	}
	if ((rc = iface_find(&i, name, f)))
		return rc;
	if (o->kind == LIVE_XDP)
		return xdp_src_open(out, &i, o, f);
	if (o->kind == LIVE_AUTO && may_take(o) && !xdp_src_open(out, &i, o, f))
		return 0;
	return ring_src_open(out, &i, o, f);
}

int snk_open_live(struct snk **out, const char *name, enum live_kind kind,
		  struct fault *f)
{
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	struct iface i;
	int rc;

	if (is_unix(name)) {
		rc = unix_path(path, sizeof(path), name, 1, f);
		return rc ? rc : dgram_snk_open(out, path, f);
	}
	if ((rc = iface_find(&i, name, f)))
		return rc;
	if (kind == LIVE_XDP)
		return xdp_snk_open(out, &i, f);
	if (kind == LIVE_AUTO && !xdp_snk_open(out, &i, f))
		return 0;
	return ring_snk_open(out, &i, f);
}

unsigned live_mtu(const char *name)
{
	struct iface i;

	return is_unix(name) || iface_find(&i, name, NULL) < 0 ? 0 : i.mtu;
}
