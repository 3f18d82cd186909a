/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * orders.h - what the controller has decided, to the switches (label/orders.h):
 * lines on stdout, into a command for each switch, or as datagrams to a socket
 * of each.
 */
#ifndef INT_LABEL_CTL_ORDERS_H
#define INT_LABEL_CTL_ORDERS_H

#include <sys/types.h>

#include "label/orders.h"

struct orders_options {
	enum label_command_form form;
	const char *exec; /* run by sh, lines on its stdin; LABEL_DEVICE says
			     which switch */
	const char *send; /* the path of a socket, {device} in it */
			  /* Neither: to stdout, each decision at once. */
};

struct orders;

/* Exits if there is no memory; so do the others. */
struct orders *orders_open(const struct orders_options *o);
void orders_take(struct orders *o, const struct label_decision *d);
/* Says what is due. Warns when a switch ceases to obey, and when it does
 * again. */
void orders_turn(struct orders *o);
/* Until all is told, or it has lasted too long, or a signal comes. 0, or -1:
 * not all was told, and that was said. */
int orders_end(struct orders *o);
const struct label_orders_ledger *orders_counters(const struct orders *o);
void orders_close(struct orders *o); /* NULL is fine */

/* --- orders_tell.c: lines to a switch ------------------------------------- */

/* Say what is in said: as say() of label/orders.h. */
int orders_print(const struct label_orders_switch *sw,
		 enum label_command_form form);
int orders_exec(struct label_orders_switch *sw, enum label_command_form form,
		const char *command);
int orders_send(const struct label_orders_switch *sw,
		enum label_command_form form, int fd, const char *path,
		unsigned *sent);

/* How the command has ended: as look(). */
int orders_reap(struct label_orders_switch *sw, char *why, size_t size);
/* Ends it, with all that it has begun. */
void orders_kill(struct label_orders_switch *sw);

/* A command for a device, by sh, with these as its input and output. 0 or
 * -errno.
 */
int orders_spawn(pid_t *pid, const char *command, uint32_t device, int in,
		 int out);

/* A line to a switch's socket. 0 or -errno. */
int orders_datagram(int fd, const char *path, uint32_t device,
		    const char *line);
int orders_socket(void); /* exits if it cannot */
void orders_socket_close(int fd);

#endif
