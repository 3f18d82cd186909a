/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_target_private.h - private to this room: what the parts of a target
 * know of each other.
 *
 *	verbs_target.c         the target: opening, work, ticket, closing
 *	verbs_target_device.c  devices, ports, addresses
 *	verbs_target_memory.c  tables as memory regions, by epoch
 *	verbs_target_pair.c    queue pairs
 *	verbs_target_ticket.c  tickets
 *	verbs_target_event.c   completions, asynchronous events
 *	verbs_target_cm.c      hosts, through librdmacm
 *
 * Public functions of those parts are named after them, without "target".
 */
#ifndef VERBS_VERBS_TARGET_PRIVATE_H
#define VERBS_VERBS_TARGET_PRIVATE_H

#include <infiniband/verbs.h>

#include "verbs/verbs_target.h"

/* Where a device is reached: one of its RoCEv2 addresses. */
struct verbs_port {
	union ibv_gid gid;
	uint32_t index, ifindex;
	uint8_t number; /* from 1 */
	uint8_t mac[6];
	char netdev[32];
};

/* All tables of one epoch. */
struct verbs_memory {
	uint64_t epoch;
	unsigned n;
	struct ibv_mr *mr[TABLE_MAX];
};

enum {
	VERBS_RKEYS = 8, /* R_Keys of a table that are remembered */
};

/* The last R_Keys of each table, the newest at (next - 1) % VERBS_RKEYS. */
struct verbs_rkeys {
	unsigned next[TABLE_MAX];
	uint32_t rkey[TABLE_MAX][VERBS_RKEYS];
};

/* A queue pair, and its completions. */
struct verbs_pair {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	unsigned table;
	unsigned receives; /* posted, of depth */
	unsigned depth;
	uint32_t first_psn;
	bool remake;  /* dead, or about to be: to be made again */
	bool warned;  /* of that */
	bool probing; /* the one send there may be is under way */
};

struct verbs_cm;

struct verbs_target {
	struct region *region;
	struct writer *seat;
	struct verbs_target_options o;
	char name[VERBS_TARGET_NAME_MAX];
	struct ticket want; /* addresses and MTU, as asked for */
	struct verbs_target_ledger ctr;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_device_attr attr;
	struct verbs_port port;
	uint64_t ticked_ms; /* when the tick last came */
	unsigned mtu;	    /* bytes */
	bool down;	    /* the port; queue pairs outlive it */
	bool lost;	    /* the device failed, or is going away */
	bool readdressed;   /* a port's addresses have changed */
	bool renew;	    /* make all queue pairs anew */
	bool stale;	    /* the ticket is not what is */
	bool warned;	    /* of what still fails */
	bool neighbour;	    /* the peer was one when we opened */
	uint64_t remake_ms; /* not before: it has failed */
	/* Epochs: the current one, and the one before, till old_until_ms. */
	struct verbs_memory now, old;
	struct verbs_rkeys given; /* to translators */
	uint64_t old_until_ms;
	struct ibv_mr *readable; /* the region, for readers, or NULL */
	struct verbs_pair pair[TABLE_MAX];
	struct ticket *ticket; /* NULL: there are no queue pairs */
	struct verbs_cm *cm;
};

/*
 * The ticket for a peer: queue pairs as they are, or, of tables that have none,
 * numbers that nobody listens to. The caller frees it.
 */
int verbs_ticket_make(struct verbs_target *v, struct ticket *t,
		      struct fault *f);

/* Opens the device of v->name: context, attributes, protection domain. */
int verbs_device_open(struct verbs_target *v, struct fault *f);
void verbs_device_close(const struct verbs_target *v); /* half open, too */
/* Finds the port, address and MTU that v->want means. */
int verbs_port_find(struct verbs_target *v, struct fault *f);
/* Whether the port still has that address, in that place. */
int verbs_port_check(const struct verbs_target *v, struct fault *f);
/*
 * Whether it is going away. Drivers that cannot take it from its users (rxe)
 * tell nobody, and wait until all have closed it.
 */
bool verbs_device_leaving(const struct verbs_target *v);
enum ibv_mtu verbs_mtu_of(unsigned bytes);

/* Registers all tables of an epoch. */
int verbs_memory_make(struct verbs_memory *m, struct verbs_target *v,
		      uint64_t epoch, struct fault *f);
/* Revokes them: nothing can be written through them once it returns. */
void verbs_memory_drop(struct verbs_memory *m);
/* Registers the region for readers. */
int verbs_memory_share(struct verbs_target *v, struct fault *f);
void verbs_memory_unshare(struct verbs_target *v);
bool verbs_has_atomics(const struct verbs_target *v);

/* Makes p for a table and its peer, ready to receive. */
int verbs_pair_make(struct verbs_pair *p, struct verbs_target *v,
		    unsigned table, struct fault *f);
/* A reset queue pair of p->table with its completions; receives 0: enough. */
int verbs_pair_create(struct verbs_pair *p, const struct verbs_target *v,
		      enum ibv_qp_type type, unsigned receives,
		      struct fault *f);
int verbs_pair_post(struct verbs_pair *p);
void verbs_pair_drop(struct verbs_pair *p);
bool verbs_pair_is_dead(const struct verbs_pair *p);
uint32_t verbs_pair_psn(const struct verbs_pair *p); /* the expected one */
/* Atomics of a queue pair whose answers the device remembers. */
uint8_t verbs_pair_atomics(const struct verbs_target *v);
/* The rights that a table gives on its memory and queue pair. */
int verbs_access(const struct verbs_target *v, const struct table *t);
struct ibv_ah_attr verbs_peer(const struct verbs_target *v);
/* Whether the kernel knows the peer's Ethernet address; if so, sets it. */
bool verbs_peer_known(const struct verbs_target *v, uint8_t mac[6]);

/* All that the device has to say. */
void verbs_events_take(struct verbs_target *v);

/* Tells the caller what happened; the device's name comes first. */
void verbs_warn(struct verbs_target *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same of a failure, once until all is well again. */
void verbs_warn_once(struct verbs_target *v, const struct fault *f);

/* Hosts. */
int verbs_cm_open(struct verbs_target *v, uint16_t port, struct fault *f);
int verbs_cm_fd(const struct verbs_target *v); /* -1: none */
void verbs_cm_work(struct verbs_target *v);
/* An epoch has passed: hosts must ask again. */
void verbs_cm_disconnect(struct verbs_target *v);
void verbs_cm_close(struct verbs_target *v);

#endif
