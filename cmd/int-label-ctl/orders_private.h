/* SPDX-License-Identifier: BSD-2-Clause */
/* orders_private.h - what the orders*.c share. */
#ifndef INT_LABEL_CTL_ORDERS_PRIVATE_H
#define INT_LABEL_CTL_ORDERS_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "orders.h"

struct order {
	uint16_t port;
	uint8_t before, s; /* before: as the switch has it */
};

struct orders_list {
	struct order *at;
	unsigned n, room;
};

struct orders_switch {
	uint32_t device;
	bool used;
	struct orders_list waiting, said;
	pid_t pid;	  /* of the command that says it; 0: none */
	uint64_t wait_ns; /* since the last failure; 0: there was none */
	uint64_t next_ns; /* not before that, of clock_ns() */
};

/* Say what is in said. 0 or -errno; a command has a pid then. */
int orders_print(const struct orders_switch *sw, enum label_command_form form);
int orders_exec(struct orders_switch *sw, enum label_command_form form,
		const char *command);
/* *sent: the first of said that got there, if not all did. */
int orders_send(const struct orders_switch *sw, enum label_command_form form,
		int fd, const char *path, unsigned *sent);

/* A command, by sh, with these as its standard input and output. 0 or -errno.
 */
void orders_environment(uint32_t device); /* LABEL_DEVICE, for it */
int orders_spawn(pid_t *pid, const char *command, int in, int out);

/* How the command has ended: 1 well, -1 not, and why; 0: it has not. */
int orders_reap(struct orders_switch *sw, char *why, size_t size);

/* A line to a switch's socket. 0 or -errno. */
int orders_datagram(int fd, const char *path, uint32_t device,
		    const char *line);
int orders_socket(void); /* exits if it cannot */
void orders_socket_close(int fd);

#endif
