/* SPDX-License-Identifier: BSD-2-Clause */
/* Classic pcap: draft-ietf-opsawg-pcap. */
#include <errno.h>
#include <pcap/pcap.h>

#include "packet/walk.h"

enum {
	MAGIC_MICRO = 0xa1b2c3d4,
	MAGIC_NANO = 0xa1b23c4d,
	LINK_MASK = 0x03ffffff, /* above: length of the frame check sequence */
};

/*
 * A link type in a file is not always libpcap's DLT of that number. Only
 * libpcap knows which; it tells by opening a capture of that type.
 */
static const char *link_name(uint32_t link)
{
	struct pcap_file_header h = {
		.magic = (bpf_u_int32)MAGIC_MICRO,
		.version_major = 2,
		.version_minor = 4,
		.snaplen = PKT_MAX,
		.linktype = link,
	};
	FILE *file = fmemopen(&h, sizeof(h), "rb");
	char text[PCAP_ERRBUF_SIZE];
	const char *name = NULL;
	pcap_t *p;

	if (!file)
		return NULL;
	if ((p = pcap_fopen_offline(file, text))) {
		name = pcap_datalink_val_to_name(pcap_datalink(p));
		pcap_close(p); /* and file */
	} else {
		fclose(file);
	}
	return name;
}

int walk_bad_link(struct fault *f, uint32_t link)
{
	const char *name = link_name(link);

	if (name && !strncmp(name, "LINUX_SLL", 9)) /* tcpdump -i any */
		return fault_set(f, -ENOTSUP,
				 "link type %s: only Ethernet is read; capture "
				 "on one interface, not on any",
				 name);
	if (name)
		return fault_set(f, -ENOTSUP,
				 "link type %s: only Ethernet is read", name);
	return fault_set(f, -ENOTSUP, "link type %u: only Ethernet is read",
			 (unsigned)link);
}

int pcap_walk_open(struct pcap_walk *w, const uint8_t *h, struct fault *f)
{
	uint32_t magic = walk_u32(h, false), link;
	unsigned major, minor;

	w->swap = magic == __builtin_bswap32(MAGIC_MICRO) ||
		  magic == __builtin_bswap32(MAGIC_NANO);
	w->nano = walk_u32(h, w->swap) == MAGIC_NANO;
	major = walk_u16(h + 4, w->swap);
	minor = walk_u16(h + 6, w->swap);
	link = walk_u32(h + 20, w->swap) & LINK_MASK;
	if (major != 2 || minor != 4)
		return fault_set(f, -ENOTSUP,
				 "pcap version %u.%u: only 2.4 is read; "
				 "editcap -F pcap converts it",
				 major, minor);
	return link == WALK_ETHERNET ? 0 : walk_bad_link(f, link);
}

/* Inlined for each byte order, so that the loop tests neither. */
static inline int walk(struct walk_window *win, struct pkt *pkts, int max,
		       bool swap, uint32_t unit_ns, struct fault *f)
{
	const uint8_t *p = win->p, *end = p + win->len;
	uint32_t cap, wire;
	int n;

	for (n = 0; n < max && end - p >= PCAP_RECORD_LEN; n++) {
		cap = walk_u32(p + 8, swap);
		wire = walk_u32(p + 12, swap);
		if (cap > PKT_MAX || cap > end - p - PCAP_RECORD_LEN)
			break;
		pkts[n] = (struct pkt){
			.data = p + PCAP_RECORD_LEN,
			.len = cap,
			.wire_len = wire > cap ? wire : cap,
			.ts_ns = walk_u32(p, swap) * (uint64_t)1000000000 +
				 walk_u32(p + 4, swap) * (uint64_t)unit_ns,
		};
		p += PCAP_RECORD_LEN + cap;
	}
	win->used = (size_t)(p - win->p);
	if (!n && end - p >= PCAP_RECORD_LEN) {
		cap = walk_u32(p + 8, swap);
		if (cap > PKT_MAX)
			return fault_set(f, -EBADMSG,
					 "impossible length: %u bytes",
					 (unsigned)cap);
	}
	return n;
}

int pcap_walk(struct pcap_walk *w, struct walk_window *win, struct pkt *pkts,
	      int max, struct fault *f)
{
	uint32_t unit_ns = w->nano ? 1 : 1000;

	return w->swap ? walk(win, pkts, max, true, unit_ns, f)
		       : walk(win, pkts, max, false, unit_ns, f);
}
