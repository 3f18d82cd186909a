/* SPDX-License-Identifier: BSD-2-Clause */
/* mac.c - Ethernet addresses, by text, by neighbour. */
#include "mac.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

bool mac_parse(uint8_t out[6], const char *text)
{
	unsigned b[6];
	int n = 0;

	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2],
		   &b[3], &b[4], &b[5], &n) != 6 ||
	    text[n] || strspn(text, "0123456789abcdefABCDEF:") != (size_t)n)
		return false;
	for (int i = 0; i < 6; i++)
		out[i] = (uint8_t)b[i];
	return true;
}

/* Of the kernel's table of them: proc(5). */
bool mac_of_neighbour(uint8_t out[6], const char *interface,
		      const uint8_t ip[4])
{
	char address[INET_ADDRSTRLEN], at[64], mac[32], device[32], line[256];
	FILE *f = fopen("/proc/net/arp", "r");
	unsigned flags;
	bool found = false;

	if (!f)
		return false;
	inet_ntop(AF_INET, ip, address, sizeof(address));
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%63s %*s 0x%x %31s %*s %31s", at, &flags,
			       mac, device) == 4 &&
			flags & 2 && !strcmp(at, address) &&
			!strcmp(device, interface) && mac_parse(out, mac);
	fclose(f);
	return found;
}
