/* SPDX-License-Identifier: BSD-2-Clause */
/* mac.c - Ethernet addresses of neighbours. */
#include "mac.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Of the kernel's table of them: proc(5). */
bool mac_of_neighbour(uint8_t out[6], const char *interface,
		      const uint8_t ip[4])
{
	char address[TEXT_IP_MAX], at[64], mac[32], device[32], line[256];
	FILE *f = fopen("/proc/net/arp", "r");
	unsigned flags;
	bool found = false;

	if (!f)
		return false;
	text_of_ip(address, 4, ip);
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%63s %*s 0x%x %31s %*s %31s", at, &flags,
			       mac, device) == 4 &&
			flags & 2 && !strcmp(at, address) &&
			!strcmp(device, interface) && text_mac(out, mac);
	fclose(f);
	return found;
}
