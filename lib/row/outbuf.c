/* SPDX-License-Identifier: BSD-2-Clause */
#include "row/outbuf.h"

#include <ctype.h>
#include <math.h>
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"

enum {
	NUMBER_MAX = 32, /* longest number, bytes */
};

static const char digit_pairs[] =
	"00010203040506070809101112131415161718192021222324"
	"25262728293031323334353637383940414243444546474849"
	"50515253545556575859606162636465666768697071727374"
	"75767778798081828384858687888990919293949596979899";

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* Appends the buffer to the text, and a NUL. */
static int append_to_text(struct outbuf *o)
{
	size_t size = o->text_size ? o->text_size : OUTBUF_SIZE;
	char *more;

	while (size <= o->text_len + o->len)
		size *= 2;
	if (size > o->text_size) {
		if (!(more = realloc(o->text, size)))
			return -ENOMEM;
		o->text = more;
		o->text_size = size;
	}
	memcpy(o->text + o->text_len, o->buf, o->len);
	o->text_len += o->len;
	o->text[o->text_len] = '\0';
	return 0;
}

void outbuf_spill(struct outbuf *o)
{
	errno = 0;
	if (!o->out)
		o->err = o->err ? o->err : append_to_text(o);
	else if (o->len && !o->err &&
		 fwrite_unlocked(o->buf, 1, o->len, o->out) != o->len)
		o->err = errno ? -errno : -EIO;
	o->len = 0;
	o->spills++;
}

const char *outbuf_text(struct outbuf *o, size_t *len)
{
	if (!o->text_len && o->len < OUTBUF_SIZE && !o->out) {
		o->buf[o->len] = '\0';
		*len = o->len;
		return o->err ? NULL : o->buf;
	}
	outbuf_spill(o);
	*len = o->text_len;
	return o->err ? NULL : o->text;
}

char *outbuf_take(struct outbuf *o, size_t *len)
{
	char *text = NULL;

	outbuf_spill(o);
	if (!o->err) {
		text = o->text;
		*len = o->text_len;
		o->text = NULL;
		o->text_len = o->text_size = 0;
	}
	return text;
}

void outbuf_cut(struct outbuf *o, size_t len)
{
	if (len < o->text_len) {
		o->text_len = len;
		o->len = 0;
	} else if (len < outbuf_len(o)) {
		o->len = len - o->text_len;
	}
}

void outbuf_long(struct outbuf *o, const char *s, size_t n)
{
	while (n) {
		size_t part = n < OUTBUF_SIZE ? n : OUTBUF_SIZE;

		memcpy(outbuf_room(o, part), s, part);
		o->len += part;
		s += part;
		n -= part;
	}
}

void outbuf_word(struct outbuf *o, const char *s)
{
	outbuf_bytes(o, s, strlen(s));
}

static unsigned digits_of(uint64_t v)
{
	unsigned n = 1;

	for (; v >= 10000; v /= 10000)
		n += 4;
	return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

void outbuf_u64(struct outbuf *o, uint64_t v)
{
	unsigned n = digits_of(v);
	char *end = outbuf_room(o, n) + n;

	o->len += n;
	for (; v >= 100; v /= 100) {
		end -= 2;
		memcpy(end, digit_pairs + v % 100 * 2, 2);
	}
	if (v >= 10)
		memcpy(end - 2, digit_pairs + v * 2, 2);
	else
		end[-1] = (char)('0' + v);
}

void outbuf_i64(struct outbuf *o, int64_t v)
{
	if (v < 0)
		outbuf_char(o, '-');
	outbuf_u64(o, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void outbuf_time(struct outbuf *o, int64_t ns)
{
	uint64_t v = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	uint64_t rest = v % 1000000000;
	char digits[10] = ".000000000";

	if (ns < 0)
		outbuf_char(o, '-');
	outbuf_u64(o, v / 1000000000);
	for (unsigned i = 9; i; i--, rest /= 10)
		digits[i] = (char)('0' + rest % 10);
	outbuf_bytes(o, digits, sizeof(digits));
}

/* The decimal point of a locale, of whatever bytes, becomes a point again. */
void outbuf_f64(struct outbuf *o, double v)
{
	char text[NUMBER_MAX];
	bool point = false;
	/* All digits before the point: a mean of ns is exact to the ns. */
	bool whole = fabs(v) >= 1e6 && fabs(v) < 1e15;

	snprintf(text, sizeof(text), whole ? "%.0f" : "%.6g", v);
	for (const char *p = text; *p; p++) {
		if (isdigit((unsigned char)*p) || *p == '-' || *p == '+' ||
		    *p == 'e')
			outbuf_char(o, *p);
		else if (!point)
			outbuf_char(o, '.');
		point = !isdigit((unsigned char)*p);
	}
}

void outbuf_hex(struct outbuf *o, const void *data, size_t n)
{
	const uint8_t *p = data;

	while (n) {
		size_t part = n < OUTBUF_SIZE / 4 ? n : OUTBUF_SIZE / 4;

		text_put_hex(outbuf_room(o, 2 * part), p, part);
		o->len += 2 * part;
		p += part;
		n -= part;
	}
}

void outbuf_list(struct outbuf *o, const uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			outbuf_char(o, ',');
		outbuf_u64(o, v[i]);
	}
}

/* Length of the well-formed UTF-8 sequence at s (RFC 3629, section 4), with its
 * code point; 0 if there is none. Never looks past a NUL. */
static unsigned utf8(const unsigned char *s, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned n = s[0] < 0x80	     ? 1
		     : (s[0] & 0xe0) == 0xc0 ? 2
		     : (s[0] & 0xf0) == 0xe0 ? 3
		     : (s[0] & 0xf8) == 0xf0 ? 4
					     : 0;
	uint32_t v = n > 1 ? s[0] & (0x7fu >> n) : s[0];

	for (unsigned i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (s[i] & 0x3f);
	}
	if (!n || v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
		return 0;
	*cp = v;
	return n;
}

/* plain_end() looks at as many characters at once as a vector register has. */
enum {
	VECTOR = 16,
};

static inline bool any_special(const unsigned char *s)
{
	typedef signed char vector __attribute__((vector_size(VECTOR)));
	uint64_t half[2];
	vector w, bad;

	memcpy(&w, s, sizeof(w));
	/* below 0x21, and 0x80 and above, which are negative; and the others */
	bad = (w < 0x21) | (w == 0x7f) | (w == '"') | (w == ',') | (w == '\\');
	memcpy(half, &bad, sizeof(half));
	return half[0] | half[1];
}

/* Where the first character is that some format writes in another way: blanks,
 * quotes, commas, backslashes, all but printable ASCII. Few texts have one. */
static const unsigned char *plain_end(const unsigned char *s,
				      const unsigned char *end)
{
	static const bool special[256] = {
		[0 ... ' '] = true, ['"'] = true,	   [','] = true,
		['\\'] = true,	    [0x7f ... 255] = true,
	};

	while (end - s >= VECTOR && !any_special(s))
		s += VECTOR;
	while (!special[*s]) /* a NUL at the latest */
		s++;
	return s;
}

enum string_form {
	JSON, /* RFC 8259, section 7 */
	CSV,  /* RFC 4180 */
	/* For people: what could move a cursor, and a blank that would look
	 * like the end of a column, is \xNN. */
	COLUMN,
	LAST_COLUMN,
};

/* False: the character stands for itself. */
static bool put_escape(struct outbuf *o, enum string_form form, uint32_t cp)
{
	bool escape = cp < 0x20 || cp == 0x7f;
	char text[8];

	if (form == CSV && cp != '"')
		return false;
	if (form == CSV || (form == JSON && (cp == '"' || cp == '\\'))) {
		outbuf_char(o, form == CSV ? '"' : '\\');
		outbuf_char(o, (char)cp);
		return true;
	}
	if (form != JSON)
		escape = escape || (cp > 0x7f && cp < 0xa0) ||
			 (cp == ' ' && form == COLUMN);
	if (escape) {
		snprintf(text, sizeof(text),
			 form == JSON ? "\\u%04x" : "\\x%02x", cp);
		outbuf_word(o, text);
	}
	return escape;
}

static void put_string(struct outbuf *o, enum string_form form,
		       const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text, *end = s + len;
	const unsigned char *to;
	unsigned n;
	uint32_t cp;

	for (;; s += n ? n : 1) {
		to = plain_end(s, end);
		outbuf_bytes(o, (const char *)s, (size_t)(to - s));
		if (!*(s = to))
			return;
		n = utf8(s, &cp);
		if (n && put_escape(o, form, cp))
			continue;
		outbuf_bytes(o, n ? (const char *)s : replacement, n ? n : 3);
		o->hidden += n ? n - 1 : 2;
	}
}

/* Between quotes already written. */
void outbuf_json(struct outbuf *o, const char *text, size_t len)
{
	put_string(o, JSON, text, len);
}

void outbuf_plain(struct outbuf *o, const char *text, size_t len, bool last)
{
	if (!*text)
		outbuf_word(o, "\"\"");
	put_string(o, last ? LAST_COLUMN : COLUMN, text, len);
}

/* An empty string is "", so that null is not the same. */
void outbuf_csv(struct outbuf *o, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	bool quote = !len || plain_end(s, s + len) != s + len;

	if (quote)
		outbuf_char(o, '"');
	put_string(o, CSV, text, len);
	if (quote)
		outbuf_char(o, '"');
}

void outbuf_escaped(struct outbuf *o, const char *text, size_t len,
		    const char *special)
{
	const unsigned char *s = (const unsigned char *)text, *end = s + len;
	unsigned n;
	uint32_t cp;

	for (; s < end && *s; s += n ? n : 1) {
		n = utf8(s, &cp);
		if (!n) {
			outbuf_word(o, replacement);
		} else if (n == 1 && strchr(special, *s)) {
			outbuf_char(o, '\\');
			outbuf_char(o, *s == '\n' ? 'n' : (char)*s);
		} else {
			outbuf_bytes(o, (const char *)s, n);
		}
	}
}
