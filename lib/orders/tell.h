/* SPDX-License-Identifier: BSD-2-Clause */
/* tell.h - lines to a switch: into a command, or as datagrams to a socket. */
#ifndef ORDERS_TELL_H
#define ORDERS_TELL_H

#include <sys/types.h>

#include "orders/orders.h"

/* Say what is in said: as say() of orders.h. command: run by sh, lines on its
 * stdin, with that environment and LABEL_DEVICE; its output goes to stderr. */
int orders_exec(struct label_orders_switch *sw, enum label_command_form form,
		const char *command, char *const *environment);
int orders_send(const struct label_orders_switch *sw,
		enum label_command_form form, int fd, const char *path,
		unsigned *sent);

/* How the command has ended: as look(). */
int orders_reap(struct label_orders_switch *sw, char *why, size_t size);
/* Ends it, with all that it has begun. */
void orders_kill(struct label_orders_switch *sw);

/* A line to a switch's socket, {device} in its path. 0 or -errno. */
int orders_datagram(int fd, const char *path, uint32_t device,
		    const char *line);
/* For these. Or -errno. */
int orders_socket_open(void);

#endif
