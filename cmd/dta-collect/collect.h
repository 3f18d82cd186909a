/* SPDX-License-Identifier: BSD-2-Clause */
/* collect.h - dta-collect's options, and what is done by them. */
#ifndef DTA_COLLECT_COLLECT_H
#define DTA_COLLECT_COLLECT_H

#include <stdbool.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/live.h"
#include "rdma/responder.h"
#include "rdma/ticket.h"
#include "verbs/verbs.h"
#include "region/region.h"

struct opts {
	const char *region, *layout, *ticket, *read, *write, *snapshot;
	const char *restore, *verbs;
	const char *ip, *mac, *peer_ip, *peer_mac; /* read into want */
	bool create, remove, rotate, notify, quiet;
	bool readable;
	uint16_t cm_port;  /* 0: do not listen */
	uint64_t grace_ns; /* of an old epoch's R_Keys */
	uint64_t cores;	   /* of the responder; 0: one */
	struct region_options make;
	struct responder_options responder;
	struct cli_live live; /* -i and what goes with it */
	struct ticket want;   /* addresses and MTU, as given */
	enum row_format format;
};

static inline bool is_dash(const char *path)
{
	return path && !strcmp(path, "-");
}

/* Whether an option works on a region that exists. */
bool options_use_region(const struct opts *o);

/* Reads and checks the options; exits on a bad one. */
struct opts options_read(int argc, char **argv);

extern const struct cli cli;

/* Carries out the packets of -r or -i; exits on an error. */
void respond(struct opts *o, struct region *r);

/* Serves --verbs until a signal comes; exits on an error. */
void nic_run(const struct opts *o, struct region *r);

/* A row for each immediate, from the software responder, a device, or a
 * translator of another process. A region keeps the last REGION_IMMEDIATES;
 * those overwritten before they could be read are counted as missed. */
struct notify;

/* Reports immediates from now on. Without --notify it is NULL, which the other
 * functions take. */
struct notify *notify_open(const struct opts *o, struct region *r);
/* Writes rows of those that have come; never waits. */
void notify_print(struct notify *n);
/* Writes rows until a signal comes. Not for NULL. */
void notify_run(struct notify *n);
/* Prints the ledger. */
void notify_report(const struct notify *n);
/* Writes the remaining rows. */
void notify_close(struct notify *n);

/* The region's ticket, with the addresses given. The caller frees it. */
void ticket_for(struct ticket *t, const struct opts *o, const struct region *r);

/* Writes a ticket to a file, "-" is stdout: a file is replaced at once, so that
 * a translator reads the old one or the new one. Returns 0 or -errno. */
int ticket_put(const struct ticket *t, const char *path);

/* Whether ticket_put() could: 0 or -errno. NULL and "-" are fine. */
int ticket_can_put(const char *path);

#endif
