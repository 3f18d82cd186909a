/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_target_device.c - devices, their ports and addresses. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/zero.h"
#include "packet/live.h"
#include "verbs/verbs_cm.h"
#include "verbs/verbs_target_private.h"

enum {
	GIDS_MAX = 512, /* of a device, read; mlx5 has 256 a port */
	LIST_MAX = 256, /* characters of a list in a message */
};

/* Adds " name" to a list that may be cut short. */
static void list_add(char *list, const char *name)
{
	size_t n = strlen(list);

	snprintf(list + n, LIST_MAX - n, " %s", name);
}

static int no_such_device(struct ibv_device **all, struct error *err)
{
	char list[LIST_MAX] = "";

	for (; all && *all; all++)
		list_add(list, ibv_get_device_name(*all));
	return error_set(err, -ENODEV,
			 *list ? "no such RDMA device; there are:%s"
			       : "no RDMA device: load the card's driver "
				 "(modprobe mlx5_ib), or make one in software: "
				 "modprobe rdma_rxe; rdma link add rxe0 type "
				 "rxe netdev eth0%s",
			 list);
}

/* Says what to do, since mostly rights or a module are missing. */
static int cannot_open(int rc, const struct ibv_device *d, struct error *err)
{
	char node[VERBS_TARGET_NAME_MAX + 16];

	snprintf(node, sizeof(node), "/dev/infiniband/%s", d->dev_name);
	/* The library's errno may be of a later try. */
	rc = access(node, R_OK | W_OK) < 0 ? -errno : rc;
	return error_set(err, rc,
			 "%s: %s: let this user open it (chmod 0666, as "
			 "rdma-core's udev rules do, or a group); if it is not "
			 "there, load the module ib_uverbs",
			 node, strerror(-rc));
}

static int open_named(struct verbs_target *v, struct error *err)
{
	struct ibv_device **all = ibv_get_device_list(NULL), **d = all;
	int rc = 0;

	if (v->o.confine)
		v->o.confine(v->o.ctx);
	while (d && *d && strcmp(ibv_get_device_name(*d), v->name) != 0)
		d++;
	errno = 0;
	if (!d || !*d)
		rc = no_such_device(all, err);
	else if (!(v->ctx = ibv_open_device(*d)))
		rc = cannot_open(errno ? -errno : -EIO, *d, err);
	if (all)
		ibv_free_device_list(all);
	return rc;
}

int verbs_device_open(struct verbs_target *v, struct error *err)
{
	int rc = open_named(v, err);

	if (rc < 0)
		return rc;
	errno = EIO;
	if (ibv_query_device(v->ctx, &v->attr) ||
	    !(v->pd = ibv_alloc_pd(v->ctx)) ||
	    !(v->channel = ibv_create_comp_channel(v->ctx)))
		rc = -errno;
	else if (!(rc = verbs_do_not_block(v->channel->fd)))
		rc = verbs_do_not_block(v->ctx->async_fd);
	return rc < 0 ? error_set(err, rc, "%s: %s", v->name, strerror(-rc))
		      : 0;
}

void verbs_device_close(const struct verbs_target *v)
{
	if (v->channel)
		ibv_destroy_comp_channel(v->channel);
	if (v->pd)
		ibv_dealloc_pd(v->pd);
	if (v->ctx)
		ibv_close_device(v->ctx);
}

bool verbs_device_leaving(const struct verbs_target *v)
{
	return access(v->ctx->device->dev_path, F_OK) < 0 && errno == ENOENT;
}

/* ::ffff:a.b.c.d is IPv4's form in a GID (IBTA vol. 1, annex A17). */
static union ibv_gid gid_of(uint8_t version, const uint8_t *ip)
{
	union ibv_gid g = {.raw = {[10] = 0xff, [11] = 0xff}};

	if (version == 6)
		memcpy(g.raw, ip, 16);
	else
		memcpy(g.raw + 12, ip, 4);
	return g;
}

static bool is_mapped(const union ibv_gid *g)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(g->raw, prefix, sizeof(prefix));
}

static bool is_link_local(const union ibv_gid *g)
{
	return g->raw[0] == 0xfe && (g->raw[1] & 0xc0) == 0x80;
}

static const char *gid_text(char out[TEXT_IP_MAX], const union ibv_gid *g)
{
	return is_mapped(g) ? text_of_ip(out, 4, g->raw + 12)
			    : text_of_ip(out, 6, g->raw);
}

/* Whether an address is what is asked for; link-local ones only for a peer that
 * has one, too. */
static bool is_suitable(const struct ibv_gid_entry *e,
			const struct verbs_target *v)
{
	const struct ticket *want = &v->want;
	union ibv_gid own = gid_of(want->version, want->ip);
	union ibv_gid peer = gid_of(want->version, want->peer_ip);

	if (e->gid_type != IBV_GID_TYPE_ROCE_V2 ||
	    is_mapped(&e->gid) != (want->version == 4))
		return false;
	if (!is_zero(want->ip, 16))
		return !memcmp(&own, &e->gid, sizeof(own));
	return is_link_local(&e->gid) == is_link_local(&peer);
}

static int no_address(const struct verbs_target *v,
		      const struct ibv_gid_entry *all, ssize_t n,
		      struct error *err)
{
	char list[LIST_MAX] = "", text[TEXT_IP_MAX];

	for (ssize_t i = 0; i < n; i++)
		if (all[i].gid_type == IBV_GID_TYPE_ROCE_V2)
			list_add(list, gid_text(text, &all[i].gid));
	snprintf(text, sizeof(text), "of IPv%u", v->want.version);
	if (!is_zero(v->want.ip, 16))
		text_of_ip(text, v->want.version, v->want.ip);
	return error_set(err, -EADDRNOTAVAIL,
			 *list ? "%s: no RoCEv2 address %s; it has:%s"
			       : "%s: no RoCEv2 address %s: give its interface "
				 "an IP address, and set it up%s",
			 v->name, text, list);
}

static int set_port(struct verbs_target *v, const struct ibv_gid_entry *e,
		    struct error *err)
{
	struct ibv_port_attr attr;
	struct live_address own;
	int rc = -ibv_query_port(v->ctx, (uint8_t)e->port_num, &attr);
	unsigned most;

	if (rc < 0)
		return error_set(err, rc, "%s: port %u: %s", v->name,
				 e->port_num, strerror(-rc));
	v->port = (struct verbs_port){
		.gid = e->gid,
		.index = e->gid_index,
		.ifindex = e->ndev_ifindex,
		.number = (uint8_t)e->port_num,
	};
	if (if_indextoname(v->port.ifindex, v->port.netdev)) {
		live_address(&own, v->port.netdev);
		memcpy(v->port.mac, own.mac, sizeof(own.mac));
	}
	most = 128u << attr.active_mtu;
	v->mtu = most < TICKET_MTU ? most : TICKET_MTU;
	if (v->want.mtu)
		v->mtu = v->want.mtu;
	if (v->mtu > most)
		return error_set(err, -EMSGSIZE,
				 "%s: an MTU of %u needs larger frames: port "
				 "%u of %s does %u",
				 v->name, v->mtu, e->port_num, v->port.netdev,
				 most);
	return 0;
}

/* The first suitable address, or NULL. The caller frees *all, the *n that the
 * device has; *n is -errno if they cannot be read. */
static const struct ibv_gid_entry *find_address(const struct verbs_target *v,
						struct ibv_gid_entry **all,
						ssize_t *n)
{
	*all = calloc(GIDS_MAX, sizeof(**all));
	*n = -ENOMEM;
	if (*all)
		*n = ibv_query_gid_table(v->ctx, *all, GIDS_MAX, 0);
	for (ssize_t i = 0; i < *n; i++)
		if (is_suitable(&(*all)[i], v))
			return &(*all)[i];
	return NULL;
}

int verbs_port_find(struct verbs_target *v, struct error *err)
{
	struct ibv_gid_entry *all;
	ssize_t n;
	const struct ibv_gid_entry *found = find_address(v, &all, &n);
	int rc;

	if (n < 0)
		rc = error_set(err, (int)n, "%s: addresses: %s", v->name,
			       strerror((int)-n));
	else
		rc = found ? set_port(v, found, err)
			   : no_address(v, all, n, err);
	free(all);
	return rc;
}

/* Queue pairs are tied to the GID index that their address had. */
int verbs_port_check(struct verbs_target *v, struct error *err)
{
	const struct verbs_port *p = &v->port;
	const struct ibv_gid_entry *found;
	struct ibv_gid_entry *all;
	char text[TEXT_IP_MAX];
	bool same;
	ssize_t n;

	memcpy(v->want.ip, p->gid.raw + (v->want.version == 4 ? 12 : 0),
	       v->want.version == 4 ? 4 : 16);
	found = find_address(v, &all, &n);
	same = found && found->gid_index == p->index &&
	       found->port_num == p->number;
	free(all);
	if (same)
		return 0;
	return error_set(err, -EADDRNOTAVAIL,
			 "%s: address %s is gone, or in another place; start "
			 "again when it is back: what is stored stays",
			 v->name, gid_text(text, &p->gid));
}

struct ibv_ah_attr verbs_peer(const struct verbs_target *v)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = v->port.number,
		.grh =
			{
				.dgid = gid_of(v->want.version,
					       v->want.peer_ip),
				.sgid_index = (uint8_t)v->port.index,
				.hop_limit = 64,
			},
	};
}
