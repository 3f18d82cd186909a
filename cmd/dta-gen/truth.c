/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * truth.c - the truth: one CSV row per report, in the order of the reports, so
 * that answers can be checked against it (dta-query verify reads it).
 *
 *     table,kind,key,hop,path_len,copies,value
 *     1,keywrite,10.0.0.1:443>10.0.0.2:5501/tcp,0,0,0,0000002a
 *
 * The value of keywrite and append is the bytes in hexadecimal, that of
 * keyinc and postcard a decimal number. No field ever needs quoting.
 */
#include "truth.h"

#include <errno.h>

#include "base/text.h"

enum {
	ROW_MAX = 64 + KEY_TEXT_MAX + 2 * 1024,
};

void truth_header(FILE *f)
{
	fputs("table,kind,key,hop,path_len,copies,value\n", f);
}

int truth_close(FILE *f, int err)
{
	if (f && (f == stdout ? fflush(f) : fclose(f)) && !err)
		err = -errno;
	return err;
}

static char *put_text(char *p, const char *s)
{
	while (*s)
		*p++ = *s++;
	return p;
}

static char *put_dec(char *p, uint64_t v)
{
	char digits[20];
	unsigned n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		*p++ = digits[--n];
	return p;
}

/* A big-endian number of up to 8 bytes. */
static uint64_t number(const uint8_t *p, size_t len)
{
	uint64_t v = 0;

	while (len--)
		v = v << 8 | *p++;
	return v;
}

void truth_row(struct gen *g, const struct dta_report *r, enum key_type type)
{
	char row[ROW_MAX], *p = row;

	p = put_dec(p, r->table);
	*p++ = ',';
	p = put_text(p, dta_opcode_name(r->opcode));
	*p++ = ',';
	p += key_format(p, type, r->key, r->key_len);
	*p++ = ',';
	p = put_dec(p, r->hop);
	*p++ = ',';
	p = put_dec(p, r->path_len);
	*p++ = ',';
	p = put_dec(p, r->copies);
	*p++ = ',';
	if (r->opcode == DTA_KEYINC || r->opcode == DTA_POSTCARD)
		p = put_dec(p, number(r->data, r->data_len));
	else
		p = text_put_hex(p, r->data, r->data_len);
	*p++ = '\n';
	errno = 0;
	if (fwrite(row, (size_t)(p - row), 1, g->truth) == 1)
		return;
	g->truth_err = errno ? -errno : -EIO;
	g->done = true; /* reports without their truth are worth nothing */
}
