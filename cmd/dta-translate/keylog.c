/* SPDX-License-Identifier: BSD-2-Clause */
/* keylog.c - the keys of reports in a text file (run.h). */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash/bytes.h"
#include "net/key.h"
#include "net/net.h"

enum {
	RECENT_KEYS = 1 << 16,
};

struct recent_key {
	uint8_t table; /* the index of its table + 1; 0: empty */
	uint8_t key[KEY_MAX];
};

struct keylog {
	FILE *out;
	enum dta_format format;
	const struct table *tables;
	unsigned n; /* tables */
	int err;    /* the first error of out, -errno */
	struct recent_key recent[RECENT_KEYS]; /* by hash, to skip repeats */
};

struct keylog *keylog_open(const char *path, enum dta_format format,
			   const struct table *tables, unsigned n)
{
	struct keylog *k = cli_allocated(calloc(1, sizeof(*k)));

	k->out = strcmp(path, "-") ? fopen(path, "we") : stdout;
	if (!k->out)
		cli_fail("%s: %s", path, strerror(errno));
	k->format = format;
	k->tables = tables;
	k->n = n;
	return k;
}

/* The index of the table that a report is for; k->n: none with keys. */
static unsigned table_of(const struct keylog *k, const struct dta_report *r)
{
	for (unsigned i = 0; i < k->n; i++) {
		const struct table *t = &k->tables[i];

		if (t->kind == r->opcode && t->kind != TABLE_APPEND &&
		    t->key_len == r->key_len &&
		    (r->table == DTA_NO_TABLE || r->table == t->id))
			return i;
	}
	return k->n;
}

static void log_key(struct keylog *k, const struct dta_report *r)
{
	unsigned i = table_of(k, r);
	char text[KEY_TEXT_MAX + 1];
	struct recent_key *p;
	size_t len;

	if (i == k->n)
		return;
	p = &k->recent[hash_bytes(i, r->key, r->key_len) % RECENT_KEYS];
	if (p->table == i + 1 && !memcmp(p->key, r->key, r->key_len))
		return;
	p->table = (uint8_t)(i + 1);
	memcpy(p->key, r->key, r->key_len);
	len = key_format(text, (enum key_type)k->tables[i].key_type, r->key,
			 r->key_len);
	text[len++] = '\n';
	fwrite(text, 1, len, k->out);
}

void keylog_rx(struct keylog *k, const struct pkt *pkts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct dta_report r;
		struct net_udp u;

		if (!net_udp_decode(&u, pkts[i].data, pkts[i].len) &&
		    u.dst_port == DTA_PORT &&
		    !dta_decode(&r, k->format, u.payload, u.len))
			log_key(k, &r);
	}
}

void keylog_flush(struct keylog *k)
{
	errno = 0;
	if ((fflush(k->out) || ferror(k->out)) && !k->err)
		k->err = errno ? -errno : -EIO;
}

int keylog_close(struct keylog *k)
{
	int rc;

	if (!k)
		return 0;
	keylog_flush(k);
	rc = k->err;
	if (k->out != stdout && fclose(k->out) && !rc)
		rc = -errno;
	free(k);
	return rc;
}
