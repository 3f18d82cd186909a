/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/keyfault.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

size_t keyfault_loosen(char *out, uint16_t *at, size_t room, const char *text)
{
	size_t n = 0;

	for (size_t i = 0; text[i]; i++) {
		if (text[i] == ' ' || text[i] == '\t' ||
		    (text[i] == '-' && text[i + 1] == '>'))
			continue;
		if (n + 1 >= room)
			return 0;
		at[n] = (uint16_t)i;
		out[n++] = (char)tolower((unsigned char)text[i]);
	}
	at[n] = (uint16_t)strlen(text);
	out[n] = '\0';
	return n;
}

/* A walk over a text, part by part: false where one is wrong. */
struct walk {
	const char *p;
	struct key_fault *f;
	const char *text, *said; /* from its beginning; the same as given */
};

static bool wrong(const struct walk *w, const char *fmt, size_t n)
	__attribute__((format(printf, 2, 0)));

/* fmt takes the n characters in hand. */
static bool wrong(const struct walk *w, const char *fmt, size_t n)
{
	w->f->part = w->p;
	snprintf(w->f->why, sizeof(w->f->why), fmt, (int)(n < 48 ? n : 48),
		 w->said + (w->p - w->text));
	return false;
}

static bool step(struct walk *w, char c, const char *missing)
{
	if (*w->p != c)
		return wrong(w, missing, 0);
	w->p++;
	return true;
}

static bool number(struct walk *w, uint64_t max, const char *none,
		   const char *above)
{
	size_t n = strspn(w->p, "0123456789");
	uint64_t v;

	if (!n)
		return wrong(w, none, strcspn(w->p, ":>/@"));
	if (!text_digits(&v, w->p, max))
		return wrong(w, above, n);
	if (n > 1 && *w->p == '0')
		return wrong(w, "%.*s: a zero in front", n);
	w->p += n;
	return true;
}

static bool ip4(struct walk *w)
{
	size_t n = strcspn(w->p, ":>/@");
	char text[TEXT_IP_MAX];
	uint8_t ip[16];

	snprintf(text, sizeof(text), "%.*s", (int)n, w->p);
	if (n >= sizeof(text) || text_ip(ip, text) != 4)
		return wrong(w,
			     n ? "%.*s is no IPv4 address"
			       : "%.*san IPv4 address is missing",
			     n);
	w->p += n;
	return true;
}

static bool ip6(struct walk *w, bool brackets)
{
	size_t n;
	char text[TEXT_IP_MAX];
	uint8_t ip[16];

	if (brackets && !step(w, '[', "%.*san IPv6 address in [] is missing"))
		return false;
	n = strcspn(w->p, "]>/@");
	snprintf(text, sizeof(text), "%.*s", (int)n, w->p);
	if (n >= sizeof(text) || text_ip(ip, text) != 6)
		return wrong(w, "%.*s is no IPv6 address", n);
	w->p += n;
	return !brackets || step(w, ']', "%.*sthe ] is missing");
}

static bool end_point(struct walk *w, bool six)
{
	return (six ? ip6(w, true) : ip4(w)) &&
	       step(w, ':', "%.*sthe port is missing") &&
	       number(w, UINT16_MAX, "%.*s is no port",
		      "port %.*s: above 65535");
}

/* Whether a flow may end with it. */
static bool is_protocol(const char *text)
{
	uint8_t key[KEY_MAX];
	char flow[KEY_TEXT_MAX];

	snprintf(flow, sizeof(flow), "1.1.1.1:1>1.1.1.1:1/%s", text);
	return !key_parse(key, KEY_FLOW4, KEY_FLOW4_LEN, flow);
}

static bool protocol(struct walk *w)
{
	if (!is_protocol(w->p))
		return number(w, UINT8_MAX,
			      "protocol %.*s: tcp, udp, icmp, icmp6, sctp, "
			      "gre, esp or a number",
			      "protocol %.*s: above 255");
	w->p += strlen(w->p);
	return true;
}

static bool flow(struct walk *w, bool six)
{
	if (!end_point(w, six))
		return false;
	w->f->shell = !*w->p; /* where > would stand */
	return step(w, '>', "%.*sthe > and the destination are missing") &&
	       end_point(w, six) &&
	       step(w, '/', "%.*sthe protocol is missing: /tcp?") &&
	       protocol(w);
}

static bool hop(struct walk *w, bool six)
{
	return number(w, UINT32_MAX, "%.*sthe switch's number is missing",
		      "switch %.*s: above 4294967295") &&
	       step(w, '@',
		    "%.*sthe @ behind the switch's number is missing") &&
	       flow(w, six);
}

static bool hex(struct walk *w, size_t len)
{
	size_t n;

	if (w->p[0] == '0' && w->p[1] == 'x')
		w->p += 2;
	n = strspn(w->p, "0123456789abcdef");
	if (n == 2 * len) {
		w->p += n;
		return true;
	}
	if (n < 2 * len)
		w->p += n;
	w->f->part = w->p;
	snprintf(w->f->why, sizeof(w->f->why),
		 "%zu digits, and the key has %zu", n, 2 * len);
	return false;
}

static bool u32(struct walk *w)
{
	uint64_t v;

	if (text_number(&v, w->p, UINT32_MAX)) {
		w->p += strlen(w->p);
		return true;
	}
	return number(w, UINT32_MAX, "%.*s is no number",
		      "%.*s: above 4294967295");
}

static bool walk(struct walk *w, enum key_type t, size_t len)
{
	switch (t) {
	case KEY_FLOW4:
	case KEY_FLOW6:
		return flow(w, t == KEY_FLOW6);
	case KEY_HOP4:
	case KEY_HOP6:
		return hop(w, t == KEY_HOP6);
	case KEY_SRC4:
		return ip4(w);
	case KEY_SRC6:
		return ip6(w, *w->p == '[');
	case KEY_U32:
		return u32(w);
	default:
		return hex(w, len);
	}
}

size_t keyfault_explain(struct key_fault *f, enum key_type t, size_t len,
			const char *text, const char *said)
{
	struct walk w = {text, f, text, said};

	*f = (struct key_fault){.part = text};
	if (walk(&w, t, len)) {
		if (*w.p)
			wrong(&w, "%.*s: what is that?", strlen(w.p));
		f->part = w.p;
	}
	return (size_t)(f->part - text);
}
