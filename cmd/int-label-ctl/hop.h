/* SPDX-License-Identifier: BSD-2-Clause */
/* hop.h - int-label-ctl label: a device on the way, and what its files share.
 */
#ifndef INT_LABEL_CTL_HOP_H
#define INT_LABEL_CTL_HOP_H

#include <sys/socket.h>

#include "cli/live.h"
#include "label/hop.h"

/* Its two sides: packets come in at one and leave at the other. Its ports are
 * numbered so, from 1. */
enum hop_side {
	HOP_IN,
	HOP_OUT,
	HOP_SIDES,
};

struct hop_options {
	const char *read, *write; /* one way, through captures */
	struct cli_live live;	  /* both ways, between interfaces */
	const char *to;
	struct label_hop_options hop;
	struct label_router router[LABEL_ROUTERS_MAX];
	uint64_t interval_ns, rest_ns;
	bool has_device;
	unsigned edge; /* 1 << enum hop_side: a host is there */
	const char *export, *collector, *control;
	enum row_format format;
	bool quiet;
};

extern const struct cli hop_cli;

/* Whether labels that end here are told. */
static inline bool hop_exports(const struct hop_options *o)
{
	return o->export || o->collector;
}

void hop_options_read(struct hop_options *o, int argc, char **argv);

/* --- hop_export.c: labels that were taken out ----------------------------- */

struct hop_export {
	const char *name;
	struct snk *file; /* a capture, or */
	int fd;		  /* a UDP socket, or -1 */
	struct sockaddr_storage to;
	socklen_t to_len;
	uint64_t unsent; /* nobody took them */
	int err;	 /* of the file, the first */
};

/* Exits if it cannot. */
void hop_export_open(struct hop_export *e, const struct hop_options *o);
/* As label_hop_pass() exports it. */
void hop_export_put(struct hop_export *e, const uint8_t *frame, size_t len,
		    uint64_t ts_ns);
void hop_export_flush(struct hop_export *e);
/* 0 or -errno. */
int hop_export_close(struct hop_export *e);

/* --- hop_control.c: lines of commands to this device ---------------------- */

struct hop_control {
	const char *path;
	int fd;	     /* -1: none */
	bool socket; /* datagrams; else lines of a FIFO or stdin */
	char line[512];
	size_t used;
	bool skip; /* the rest of a line that is too long */
	uint64_t taken, refused;
};

/* quiet: does not say that a socket was made. */
void hop_control_open(struct hop_control *c, const char *path, bool quiet);
/* Before the first packet of a capture that is a file, whose time is not that
 * of who writes lines to stdin: all of these, to their end. */
void hop_control_begin(struct hop_control *c, struct label_hop *h,
		       const char *capture);
/* Obeys what is there. */
void hop_control_look(struct hop_control *c, struct label_hop *h);
void hop_control_close(struct hop_control *c);

#endif
