/* SPDX-License-Identifier: BSD-2-Clause */
/* show_label.c - labels of a packet: INT-label. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "label/paths.h"
#include "packets.h"
#include "wire/label.h"

enum {
	LABEL_TEXT = 112, /* of one, at most */
};

/* "7:1>2@1000us,latency=5,queue=0,number=3", the newest first. */
static void write_labels(char *out, size_t size, const struct label_view *v)
{
	struct label_item item;
	size_t len = 0;

	*out = '\0';
	for (unsigned i = 0; i < v->n; i++) {
		label_item_get(&item, v, i);
		len += (size_t)snprintf(
			out + len, size - len,
			"%s%" PRIu32 ":%u>%u@%" PRIu64 "us,latency=%" PRIu32
			",queue=%" PRIu32 ",number=%" PRIu32,
			i ? ";" : "", item.device, item.in, item.out,
			item.time_us, item.latency_ns, item.queue, item.number);
	}
}

/* The flow, its protocol by NH. */
static void show_flow(struct show *s, const struct label_view *v)
{
	uint8_t key[KEY_FLOW6_LEN];
	char text[KEY_TEXT_MAX];
	unsigned len = label_flow_key(key, v);

	if (!len)
		return;
	key_format(text, len == KEY_FLOW4_LEN ? KEY_FLOW4 : KEY_FLOW6, key,
		   len);
	show_str(s, SHOW_KEY, text);
}

static void show_ends(struct show *s, const struct label_view *v)
{
	bool six = v->layout == LABEL_IP6;
	char src[TEXT_IP_MAX], dst[TEXT_IP_MAX];

	if (!v->ip) {
		show_head(s, NULL, NULL, "int-label0");
		return;
	}
	text_of_ip(src, six ? 6 : 4,
		   v->ip + (six ? NET_IP6_AT_SRC : NET_IP4_AT_SRC));
	text_of_ip(dst, six ? 6 : 4,
		   v->ip + (six ? NET_IP6_AT_DST : NET_IP4_AT_DST));
	show_head(s, src, dst, "int-label");
}

/* It says that it carries labels, and they are not to be read. */
static bool show_unreadable(struct show *s, const struct pkt *p)
{
	show_head(s, NULL, NULL, "int-label");
	show_u64(s, SHOW_LENGTH, p->wire_len);
	show_str(s, SHOW_REASON, show_malformed);
	show_end(s);
	return true;
}

bool show_label(struct show *s, const struct pkt *p)
{
	static char text[UINT8_MAX * LABEL_TEXT];
	struct label_view v;
	int rc = label_find(&v, &label_format_default, p->data, p->len);

	if (rc)
		return rc == -EBADMSG && v.claims && show_unreadable(s, p);
	write_labels(text, sizeof(text), &v);
	show_ends(s, &v);
	show_str(s, SHOW_OPCODE, v.specific ? "specific" : "normal");
	show_flow(s, &v);
	show_u64(s, SHOW_PATH_LEN, v.n);
	show_u64(s, SHOW_LENGTH, p->wire_len);
	show_str(s, SHOW_LABELS, text);
	if (v.damaged) /* behind them: it is about all of the line */
		show_str(s, SHOW_REASON, show_wrong_checksum);
	show_end(s);
	return true;
}
