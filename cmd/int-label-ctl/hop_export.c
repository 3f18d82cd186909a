/* SPDX-License-Identifier: BSD-2-Clause */
/* hop_export.c - labels that end at the last hop, to the controller. */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "hop.h"
#include "wire/net.h"

/* Not connected: or whoever does not listen there, and yet reads along, would
 * have every second datagram refused by his host's ICMP. */
static int socket_of(struct hop_export *e, const struct addrinfo *a)
{
	int fd = socket(a->ai_family,
			a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(&e->to, a->ai_addr, a->ai_addrlen);
	e->to_len = a->ai_addrlen;
	return fd;
}

static int open_collector(struct hop_export *e, const struct hop_options *o)
{
	struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *found;
	char host[256], text[8];
	const char *port;
	int rc, fd;

	if (!text_host(host, sizeof(host), &port, o->collector))
		cli_refuse("--collector: '%s' is not ADDRESS or ADDRESS:PORT",
			   o->collector);
	if (!port) {
		snprintf(text, sizeof(text), "%u", o->hop.format.export_port);
		port = text;
	}
	if ((rc = getaddrinfo(host, port, &hints, &found)))
		cli_fail("--collector: %s: %s", o->collector, gai_strerror(rc));
	fd = socket_of(e, found);
	if (fd < 0)
		cli_fail("--collector: %s: %s", o->collector, strerror(errno));
	freeaddrinfo(found);
	return fd;
}

void hop_export_open(struct hop_export *e, const struct hop_options *o)
{
	struct fault f = {0};

	*e = (struct hop_export){.fd = -1, .name = o->export};
	if (o->export && cli_snk_open(&e->file, o->export, &f) < 0)
		cli_fault(o->export, &f);
	if (o->collector)
		e->fd = open_collector(e, o);
}

void hop_export_put(struct hop_export *e, const uint8_t *frame, size_t len,
		    uint64_t ts_ns)
{
	struct pkt p = {frame, (uint32_t)len, (uint32_t)len, ts_ns};
	struct cur c = cur_of(frame, len);
	const uint8_t *at;
	int rc;

	if (e->file && (rc = snk_tx(e->file, &p, 1)) && !e->err)
		e->err = rc;
	/* A collector that is not there yet is no reason to end. */
	if (e->fd >= 0 && net_eth_skip(&c, &at) >= 0 &&
	    sendto(e->fd, c.p, cur_left(&c), 0, (struct sockaddr *)&e->to,
		   e->to_len) < 0)
		e->unsent++;
}

void hop_export_flush(struct hop_export *e)
{
	int rc = e->file ? snk_flush(e->file) : 0;

	if (!e->err)
		e->err = rc;
}

int hop_export_close(struct hop_export *e)
{
	int rc = e->file ? snk_close(e->file) : 0;

	if (e->fd >= 0)
		close(e->fd);
	if (e->unsent)
		cli_warn("--collector: %" PRIu64 " datagrams were not taken",
			 e->unsent);
	if (e->err || rc)
		cli_warn("%s: %s", e->name, strerror(e->err ? -e->err : -rc));
	return e->err ? e->err : rc;
}
