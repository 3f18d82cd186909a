/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/typed.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

/* A value on its way in. */
struct typed {
	uint8_t *out;
	size_t n, cap;
	struct fault *f;
};

static int too_long(const struct typed *t)
{
	return fault_set(t->f, -EINVAL, "is more than the %zu bytes there are",
			 t->cap);
}

static int add(struct typed *t, const void *bytes, size_t n)
{
	if (n > t->cap - t->n)
		return too_long(t);
	memcpy(t->out + t->n, bytes, n);
	t->n += n;
	return 0;
}

static int add_number(struct typed *t, uint64_t v, unsigned width)
{
	uint8_t be[8];

	for (unsigned i = width; i-- > 0; v >>= 8)
		be[i] = (uint8_t)v;
	return add(t, be, width);
}

static int take_number(struct typed *t, unsigned width, const char *text)
{
	uint64_t max = UINT64_MAX >> (64 - 8 * width), v;

	if (text_number(&v, text, max))
		return add_number(t, v, width);
	if (text_number(&v, text, UINT64_MAX))
		return fault_set(t->f, -EINVAL, "is above %llu",
				 (unsigned long long)max);
	return fault_set(t->f, -EINVAL, "is no number from 0 to %llu",
			 (unsigned long long)max);
}

static int take_list(struct typed *t, unsigned width, const char *text)
{
	char one[24];
	int rc = 0;

	for (; *text && !rc; text += strspn(text, ", ")) {
		size_t n = strcspn(text, ", ");

		if (n >= sizeof(one))
			return fault_set(t->f, -EINVAL,
					 "is no list of numbers");
		memcpy(one, text, n);
		one[n] = '\0';
		text += n;
		rc = take_number(t, width, one);
	}
	return rc;
}

static int take_hex(struct typed *t, const char *text)
{
	size_t digits;

	if (text[0] == '0' && text[1] == 'x')
		text += 2;
	digits = strlen(text);
	if (digits / 2 > t->cap - t->n)
		return too_long(t);
	if (digits % 2 || !text_hex(t->out + t->n, text, digits / 2))
		return fault_set(t->f, -EINVAL,
				 "is no bytes in hexadecimal, two digits each");
	t->n += digits / 2;
	return 0;
}

static int take_text(struct typed *t, const char *text)
{
	int rc = 0;

	for (; *text && !rc; text++) {
		uint8_t c = (uint8_t)*text;

		if (c == '\\' && text[1] == '\\') {
			text++;
		} else if (c == '\\' && text[1] == 'x' &&
			   text_hex(&c, text + 2, 1)) {
			text += 3;
		}
		rc = add(t, &c, 1);
	}
	return rc;
}

static int take_key(struct typed *t, enum key_type type, const char *text)
{
	const char *plus = strchr(text, '+');
	size_t n = plus ? (size_t)(plus - text) : strlen(text);
	char bare[KEY_TEXT_MAX];
	uint8_t key[KEY_MAX];
	int rc;

	if (n >= sizeof(bare))
		return fault_set(t->f, -EINVAL, "is no %s key",
				 key_type_name(type));
	memcpy(bare, text, n);
	bare[n] = '\0';
	if (key_parse(key, type, key_type_len(type), bare) < 0)
		return fault_set(t->f, -EINVAL, "is no %s key",
				 key_type_name(type));
	rc = add(t, key, key_type_len(type));
	return rc || !plus ? rc : take_hex(t, plus + 1);
}

static int take(struct typed *t, const struct render *r, const char *text)
{
	if (!*text && r->as != RENDER_TEXT)
		return fault_set(t->f, -EINVAL, "is empty");
	switch (r->as) {
	case RENDER_NUMBER:
		return take_number(t, r->width, text);
	case RENDER_LIST:
		return take_list(t, r->width, text);
	case RENDER_TEXT:
		return take_text(t, text);
	case RENDER_KEY:
		return take_key(t, (enum key_type)r->key, text);
	default:
		return take_hex(t, text);
	}
}

int typed_read(const struct render *r, uint8_t *out, size_t len, size_t cap,
	       const char *text, struct fault *f)
{
	struct typed t = {.out = out, .cap = len ? len : cap, .f = f};
	int rc = take(&t, r, text);

	if (rc < 0)
		return rc;
	if (t.n < len && (r->as == RENDER_HEX || r->as == RENDER_KEY))
		return fault_set(f, -EINVAL, "is %zu bytes of %zu", t.n, len);
	if (len)
		memset(out + t.n, 0, len - t.n);
	return (int)(len ? len : t.n);
}
