/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/key.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "net/be.h"

static const struct {
	const char *name;
	uint8_t len;
	uint8_t address; /* bytes of each of a flow's addresses; 0: no flow */
	uint8_t hop;	 /* bytes in front of the flow */
} types[] = {
	[KEY_HEX] = {"hex", 0},
	[KEY_FLOW4] = {"flow4", KEY_FLOW4_LEN, KEY_IP4_LEN},
	[KEY_FLOW6] = {"flow6", KEY_FLOW6_LEN, KEY_IP6_LEN},
	[KEY_HOP4] = {"hop4", KEY_HOP_ID + KEY_FLOW4_LEN, KEY_IP4_LEN,
		      KEY_HOP_ID},
	[KEY_HOP6] = {"hop6", KEY_HOP_ID + KEY_FLOW6_LEN, KEY_IP6_LEN,
		      KEY_HOP_ID},
	[KEY_SRC4] = {"src4", KEY_IP4_LEN},
	[KEY_SRC6] = {"src6", KEY_IP6_LEN},
	[KEY_U32] = {"u32", 4},
};

enum {
	KEY_PROTOCOLS = 7,
};

/* IANA's protocol numbers; those that switches report, the usual ones first. */
static const struct {
	char name[KEY_PROTOCOL_MAX]; /* zeros to the end: copied whole */
	uint8_t len, number;
} key_protocols[KEY_PROTOCOLS] = {
	{"tcp", 3, NET_PROTO_TCP},   {"udp", 3, NET_PROTO_UDP},
	{"icmp", 4, NET_PROTO_ICMP}, {"icmp6", 5, NET_PROTO_ICMP6},
	{"sctp", 4, NET_PROTO_SCTP}, {"gre", 3, NET_PROTO_GRE},
	{"esp", 3, NET_PROTO_ESP},
};

const char *key_type_name(enum key_type t)
{
	return (unsigned)t < KEY_TYPES ? types[t].name : NULL;
}

int key_type_of(const char *name)
{
	for (int i = 0; i < KEY_TYPES; i++)
		if (!strcmp(name, types[i].name))
			return i;
	return -1;
}

size_t key_type_len(enum key_type t)
{
	return (unsigned)t < KEY_TYPES ? types[t].len : 0;
}

/* Parsing. Each take_x() reads one thing at s->p and steps over it; or returns
 * false, and s->p is where that thing should begin, s->want its description. A
 * number has no sign, no blank and no leading zero. */
struct cursor {
	const char *p;
	const char *want;
};

static bool take_char(struct cursor *s, char c, const char *want)
{
	s->want = want;
	if (*s->p != c)
		return false;
	s->p++;
	return true;
}

static inline unsigned digit_at(const char *p)
{
	return (unsigned)(unsigned char)*p - '0'; /* above 9: none */
}

static inline bool take_number(struct cursor *s, uint32_t max, uint32_t *out,
			       const char *want)
{
	const char *p = s->p;
	unsigned digit = digit_at(p);
	uint64_t v = digit;

	s->want = want;
	if (digit > 9)
		return false;
	while ((digit = digit_at(++p)) <= 9)
		if (!v || (v = v * 10 + digit) > max)
			return false;
	if (v > max)
		return false;
	*out = (uint32_t)v;
	s->p = p;
	return true;
}

/* Exactly len bytes. */
static bool take_hex(struct cursor *s, uint8_t *out, size_t len)
{
	const char *end = text_hex(out, s->p, len);

	s->want = "two hexadecimal digits for each byte of the key";
	if (end)
		s->p = end;
	return end;
}

/* Decimal, or 0x and one to eight hexadecimal digits. */
static bool take_u32(struct cursor *s, uint8_t *out, const char *want)
{
	const char *p = s->p;
	uint32_t v = 0;
	int digit, n = 0;

	if (p[0] == '0' && p[1] == 'x') {
		s->want = want;
		for (p += 2; (digit = text_hex_digit(*p)) >= 0; p++) {
			v = v << 4 | (uint32_t)digit;
			if (++n > 8)
				return false;
		}
		if (!n)
			return false;
		s->p = p;
	} else if (!take_number(s, UINT32_MAX, &v, want)) {
		return false;
	}
	be32_store(out, v);
	return true;
}

/* Branches on the second digit only: whether there is a third is random, and a
 * branch on it would be predicted wrong. */
static inline bool take_octet(const char **s, uint8_t *out)
{
	const char *p = *s;
	unsigned v = digit_at(p), next, third;

	if (v > 9)
		return false;
	if ((next = digit_at(++p)) <= 9) {
		third = digit_at(++p);
		if (!v)
			return false;
		v = v * 10 + next;
		p += third <= 9;
		v = third <= 9 ? v * 10 + third : v;
	}
	*out = (uint8_t)v;
	*s = p;
	return v <= UINT8_MAX;
}

static bool take_ip4(struct cursor *s, uint8_t *out)
{
	const char *p = s->p;

	s->want = "an IPv4 address";
	if (!take_octet(&p, out) || *p++ != '.' || !take_octet(&p, out + 1) ||
	    *p++ != '.' || !take_octet(&p, out + 2) || *p++ != '.' ||
	    !take_octet(&p, out + 3))
		return false;
	s->p = p;
	return true;
}

static const char want_ip6[] = "an IPv6 address";

static bool take_ip6(struct cursor *s, uint8_t *out)
{
	char text[TEXT_IP_MAX];
	size_t n = strspn(s->p, "0123456789abcdefABCDEF:.");

	s->want = want_ip6;
	if (n >= sizeof(text))
		return false;
	memcpy(text, s->p, n);
	text[n] = '\0';
	if (text_ip(out, text) != 6)
		return false;
	s->p += n;
	return true;
}

static bool take_address(struct cursor *s, uint8_t *out, size_t len)
{
	if (len == KEY_IP4_LEN)
		return take_ip4(s, out);
	return take_char(s, '[', "an IPv6 address in []") && take_ip6(s, out) &&
	       take_char(s, ']', "a ]");
}

static bool take_port(struct cursor *s, uint8_t *out)
{
	uint32_t v;

	if (!take_char(s, ':', "a : and the port") ||
	    !take_number(s, UINT16_MAX, &v, "a port from 0 to 65535"))
		return false;
	be16_store(out, (uint16_t)v);
	return true;
}

static bool take_protocol(struct cursor *s, uint8_t *out)
{
	uint32_t v;

	for (int i = 0; i < KEY_PROTOCOLS; i++) {
		if (*s->p == key_protocols[i].name[0] &&
		    !strcmp(s->p, key_protocols[i].name)) {
			s->p += strlen(s->p);
			*out = key_protocols[i].number;
			return true;
		}
	}
	if (!take_number(s, UINT8_MAX, &v,
			 "a protocol: tcp, udp, icmp, icmp6, sctp, gre, esp or "
			 "a number from 0 to 255"))
		return false;
	*out = (uint8_t)v;
	return true;
}

bool key_has_protocol(enum key_type t)
{
	return types[t].address;
}

int key_protocol_of(const char *text)
{
	struct cursor s = {.p = text};
	uint8_t number;

	return take_protocol(&s, &number) && !*s.p ? number : -1;
}

static bool take_flow(struct cursor *s, uint8_t *out, size_t address)
{
	uint8_t *ports = out + 2 * address;

	return take_address(s, out, address) && take_port(s, ports) &&
	       take_char(s, '>', "a > and the destination") &&
	       take_address(s, out + address, address) &&
	       take_port(s, ports + 2) &&
	       take_char(s, '/', "a / and the protocol, like /tcp") &&
	       take_protocol(s, ports + 4);
}

static bool take_key(struct cursor *s, enum key_type t, uint8_t *out,
		     size_t len)
{
	if (types[t].hop &&
	    (!take_u32(s, out, "the switch's number") ||
	     !take_char(s, '@', "an @ behind the switch's number")))
		return false;
	if (types[t].address)
		return take_flow(s, out + types[t].hop, types[t].address);
	switch (t) {
	case KEY_SRC4:
		return take_ip4(s, out);
	case KEY_SRC6:
		return *s->p == '[' ? take_address(s, out, KEY_IP6_LEN)
				    : take_ip6(s, out);
	case KEY_U32:
		return take_u32(s, out, "a number from 0 to 4294967295");
	default:
		return take_hex(s, out, len);
	}
}

/* 0x and exactly the key's bytes: text of any type but u32. */
static bool is_hex(const char *text, enum key_type t, size_t len)
{
	return t != KEY_U32 && text[0] == '0' && text[1] == 'x' &&
	       strspn(text + 2, "0123456789abcdefABCDEF") == 2 * len &&
	       !text[2 + 2 * len];
}

int key_parse_at(uint8_t *out, enum key_type t, size_t len, const char *text,
		 struct key_error *err)
{
	struct cursor s = {text, "a key of the table's length"};
	uint8_t key[KEY_MAX];

	if ((unsigned)t < KEY_TYPES && len && len <= KEY_MAX &&
	    (!types[t].len || types[t].len == len)) {
		if (is_hex(text, t, len)) {
			t = KEY_HEX;
			s.p += 2;
		}
		if (take_key(&s, t, key, len)) {
			if (!*s.p) {
				memcpy(out, key, len);
				return 0;
			}
			s.want = "the end";
		}
	}
	if (err)
		*err = (struct key_error){
			.at = (size_t)(s.p - text),
			.len = strcspn(s.p,
				       s.want == want_ip6 ? "]>/@" : ":>/@"),
			.want = s.want,
		};
	return -EINVAL;
}

/*
 * Formatting. Each put_x() writes at p and returns where it ended. It may write
 * up to seven bytes further, which the next one overwrites: a number's digits
 * are put together in a word, first digit lowest, its leading zeros are shifted
 * out, and the word is stored whole. No branch depends on the number.
 */
static void put_word(char *p, uint64_t word)
{
	word = htole64(word);
	memcpy(p, &word, sizeof(word));
}

/* With a dot behind it, not counted. */
static char *put_octet(char *p, unsigned v)
{
	unsigned n = 1 + (v > 9) + (v > 99);
	uint32_t word = v / 100 | v / 10 % 10 << 8 | v % 10 << 16;

	put_word(p, (word | 0x2e303030) >> 8 * (3 - n));
	return p + n;
}

static char *put_port(char *p, unsigned v)
{
	unsigned n = 1 + (v > 9) + (v > 99) + (v > 999) + (v > 9999);
	unsigned high = v / 1000, low = v % 1000;
	uint64_t word = high / 10 | high % 10 << 8 | low / 100 << 16 |
			low / 10 % 10 << 24 | (uint64_t)(low % 10) << 32;

	*p++ = ':';
	put_word(p, (word | 0x3030303030) >> 8 * (5 - n));
	return p + n;
}

static char *put_number(char *p, uint32_t v)
{
	for (uint32_t unit = 1000000000; unit > 1; unit /= 10) {
		*p = (char)('0' + v / unit % 10);
		p += v >= unit;
	}
	*p = (char)('0' + v % 10);
	return p + 1;
}

static char *put_ip4(char *p, const uint8_t *a)
{
	for (int i = 0; i < KEY_IP4_LEN; i++)
		p = put_octet(p, a[i]) + 1;
	return p - 1;
}

static char *put_ip6(char *p, const uint8_t *a)
{
	text_of_ip(p, 6, a);
	return p + strlen(p);
}

static char *put_address(char *p, const uint8_t *a, size_t len)
{
	if (len == KEY_IP4_LEN)
		return put_ip4(p, a);
	*p++ = '[';
	p = put_ip6(p, a);
	*p++ = ']';
	return p;
}

static char *put_protocol(char *p, uint8_t number)
{
	*p++ = '/';
	for (int i = 0; i < KEY_PROTOCOLS; i++) {
		if (key_protocols[i].number == number) {
			memcpy(p, key_protocols[i].name,
			       sizeof(key_protocols[i].name));
			return p + key_protocols[i].len;
		}
	}
	return put_octet(p, number);
}

static char *put_flow(char *p, const uint8_t *key, size_t address)
{
	const uint8_t *ports = key + 2 * address;

	p = put_port(put_address(p, key, address), be16_load(ports));
	*p++ = '>';
	p = put_port(put_address(p, key + address, address),
		     be16_load(ports + 2));
	return put_protocol(p, ports[4]);
}

const char *key_protocol_text(char buf[KEY_PROTOCOL_MAX], uint8_t protocol)
{
	char text[32]; /* a /, and put_protocol() writes whole words */
	size_t n = (size_t)(put_protocol(text, protocol) - text) - 1;

	memcpy(buf, text + 1, n);
	buf[n] = '\0';
	return buf;
}

static char *put_key(char *p, enum key_type t, const uint8_t *key, size_t len)
{
	if (types[t].hop) {
		p = put_number(p, be32_load(key));
		*p++ = '@';
	}
	if (types[t].address)
		return put_flow(p, key + types[t].hop, types[t].address);
	switch (t) {
	case KEY_SRC4:
		return put_ip4(p, key);
	case KEY_SRC6:
		return put_ip6(p, key);
	case KEY_U32:
		return put_number(p, be32_load(key));
	default:
		return text_put_hex(p, key, len);
	}
}

size_t key_format(char *buf, enum key_type t, const uint8_t *key, size_t len)
{
	char *p = buf;

	if (len > KEY_MAX)
		len = KEY_MAX;
	if ((unsigned)t >= KEY_TYPES || (types[t].len && types[t].len != len)) {
		*p++ = '0'; /* not a key of that type */
		*p++ = 'x';
		t = KEY_HEX;
	}
	p = put_key(p, t, key, len);
	*p = '\0';
	return (size_t)(p - buf);
}

bool key_reverse(uint8_t *out, enum key_type t, const uint8_t *key)
{
	size_t hop = types[t].hop, len = types[t].address;
	const uint8_t *ports = key + hop + 2 * len;

	if (!len)
		return false;
	memcpy(out, key, hop);
	memcpy(out + hop, key + hop + len, len);
	memcpy(out + hop + len, key + hop, len);
	out += hop + 2 * len;
	memcpy(out, ports + 2, 2);
	memcpy(out + 2, ports, 2);
	out[4] = ports[4];
	return true;
}

size_t key_of_packet(uint8_t *out, const struct net_packet *p)
{
	size_t address = p->version == 4 ? KEY_IP4_LEN : KEY_IP6_LEN;
	uint8_t *ports = out + 2 * address;

	memcpy(out, p->src, address);
	memcpy(out + address, p->dst, address);
	be16_store(ports, p->src_port);
	be16_store(ports + 2, p->dst_port);
	ports[4] = p->protocol;
	return 2 * address + KEY_FLOW_REST;
}
