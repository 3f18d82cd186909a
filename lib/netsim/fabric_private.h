/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric_private.h - what networks are built with. */
#ifndef NETSIM_FABRIC_PRIVATE_H
#define NETSIM_FABRIC_PRIVATE_H

#include "netsim/fabric.h"

/* Room for that many; 0 or -ENOMEM, with nothing held. */
int fabric_room(struct fabric *f, uint32_t nodes, uint32_t ports);

/* One more node; all switches before all hosts. */
struct fabric_node *fabric_node(struct fabric *f, enum fabric_tier tier,
				uint32_t id, unsigned ports, unsigned base);

/* A link, by nodes and places of their ports. */
void fabric_join(struct fabric *f, uint32_t a, unsigned a_port, uint32_t b,
		 unsigned b_port);

#endif
