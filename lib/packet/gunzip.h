/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gunzip.h - gzip data (RFC 1952) unpacked as it comes; private to packet/.
 *
 * A file is one member or several in a row, zeros may follow (section 2.2).
 */
#ifndef PACKET_GUNZIP_H
#define PACKET_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "packet/walk.h"

enum {
	/* Compressed bytes asked of one read(); not less than what is read
	 * until it is known that they are. */
	GUNZIP_ROOM = WALK_BLOCK + PCAP_HEADER_LEN,
};

struct gunzip;

/* Begins with the first len bytes of a file, GUNZIP_ROOM at most. Returns 0 or
 * -ENOMEM. */
int gunzip_open(struct gunzip **out, const uint8_t *first, size_t len);

/*
 * Unpacks up to room bytes. Returns their number; 0 for want of what
 * gunzip_fed() brings; or -EBADMSG with f set, once all before the damage has
 * been returned.
 */
ssize_t gunzip_take(struct gunzip *g, uint8_t *to, size_t room,
		    struct fault *f);

/* Where the next GUNZIP_ROOM compressed bytes go, once gunzip_take() wants
 * them; then how many came. */
uint8_t *gunzip_room(struct gunzip *g);
void gunzip_fed(struct gunzip *g, size_t len);

/* Compressed bytes that were fed and not used yet. */
size_t gunzip_left(const struct gunzip *g);

/* Whether a file may end here: no member is cut. */
bool gunzip_may_end(const struct gunzip *g);

void gunzip_close(struct gunzip *g); /* NULL is fine */

#endif
