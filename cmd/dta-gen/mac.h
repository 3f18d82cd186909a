/* SPDX-License-Identifier: BSD-2-Clause */
/* mac.h - Ethernet addresses of neighbours. */
#ifndef DTA_GEN_MAC_H
#define DTA_GEN_MAC_H

#include <stdbool.h>
#include <stdint.h>

/* Of a neighbour behind an interface, if the kernel knows it. */
bool mac_of_neighbour(uint8_t out[6], const char *interface,
		      const uint8_t ip[4]);

#endif
