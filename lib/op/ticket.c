/* SPDX-License-Identifier: BSD-2-Clause */
#include "op/ticket.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/text.h"
#include "base/zero.h"
#include "hash/family.h"
#include "store/layout.h"
#include "wire/key.h"
#include "wire/roce.h"

enum {
	QPN_FIRST = 0x11, /* 0 and 1 are management's (InfiniBand 3.5.1) */
};

/* Where the region's file begins in the virtual addresses of tickets. */
static const uint64_t address_base = UINT64_C(0x100000000000);

static void default_addresses(struct ticket *t)
{
	static const uint8_t mac[2][6] = {{2, 0, 0, 0, 0, 2},
					  {2, 0, 0, 0, 0, 1}};
	static const uint8_t ip[2][4] = {{10, 0, 0, 51}, {10, 0, 0, 101}};

	if (!t->version)
		t->version = 4;
	if (is_zero(t->mac, 6))
		memcpy(t->mac, mac[0], 6);
	if (is_zero(t->peer_mac, 6))
		memcpy(t->peer_mac, mac[1], 6);
	if (is_zero(t->ip, 16) && t->version == 4)
		memcpy(t->ip, ip[0], 4);
	if (is_zero(t->peer_ip, 16) && t->version == 4)
		memcpy(t->peer_ip, ip[1], 4);
	if (!t->mtu)
		t->mtu = TICKET_MTU;
}

static int take_heads(struct ticket_table *at, const struct region *r,
		      const struct table *t, uint64_t epoch)
{
	at->heads = calloc(t->lists, sizeof(*at->heads));
	if (!at->heads)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->lists; i++)
		at->heads[i] = region_list_count(r, t, epoch, i);
	return 0;
}

void ticket_place(struct ticket_table *at, const struct region *r,
		  unsigned table, uint64_t epoch)
{
	uint64_t salt = epoch * TABLE_MAX + table + 1;

	at->rkey = (uint32_t)rng_mix(salt);
	at->address = address_base +
		      region_offset(r, region_table(r, table), epoch);
}

static int describe(struct ticket *t, const struct region *r, unsigned i,
		    struct fault *f)
{
	const struct table *g = region_table(r, i);

	if (g->lists > TICKET_LISTS_MAX)
		return fault_set(
			f, -EINVAL,
			"table %s: %u lists; a ticket holds %d at most",
			g->name, g->lists, TICKET_LISTS_MAX);
	t->table[i] = *g;
	t->at[i] = (struct ticket_table){.qpn = QPN_FIRST + i};
	ticket_place(&t->at[i], r, i, t->epoch);
	if (g->kind == TABLE_APPEND &&
	    take_heads(&t->at[i], r, g, t->epoch) < 0)
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	return 0;
}

/* Whether a write's packets end within a unit of the table, bytes long. A slot
 * is a write; a batch is one of many entries; chunks fit every MTU. */
static bool is_cut(const struct table *t, unsigned mtu, unsigned *bytes)
{
	if (t->kind == TABLE_APPEND) {
		*bytes = t->stride;
		return t->batch * t->stride > mtu && mtu % t->stride;
	}
	*bytes = 4u + t->value_len;
	return t->kind == TABLE_KEYWRITE && *bytes > mtu;
}

int ticket_check_mtu(const struct table *tables, unsigned n, unsigned mtu,
		     struct fault *f)
{
	unsigned bytes;

	mtu = mtu ? mtu : TICKET_MTU;
	for (unsigned i = 0; i < n; i++) {
		const struct table *t = &tables[i];
		bool append = t->kind == TABLE_APPEND;

		if (t->qp == TABLE_QP_UC && is_cut(t, mtu, &bytes))
			return fault_set(
				f, -EINVAL,
				"table %s: qp: packets of %u bytes, the path "
				"MTU, cut %s of %u bytes, and on UC a lost one "
				"would leave halves of two values: say qp = "
				"rc, a smaller value%s, or a larger MTU "
				"(dta-collect --mtu)",
				t->name, mtu, append ? "entries" : "slots",
				bytes,
				append ? ", a smaller batch, stride = pow2"
				       : "");
	}
	return 0;
}

/* HOST:, or :. Returns its length. */
static size_t put_host(char out[TICKET_REGION])
{
	char host[TICKET_REGION - 1];

	if (gethostname(host, sizeof(host)) < 0)
		*host = '\0';
	host[sizeof(host) - 1] = '\0';
	return (size_t)snprintf(out, TICKET_REGION, "%s:", host);
}

/* What would not be read again as it is is left out. */
static void name_region(struct ticket *t, const char *path)
{
	static const char shm[] = "/dev/shm/";
	size_t skip = strncmp(path, shm, strlen(shm)) ? 0 : strlen(shm);
	size_t n = put_host(t->region);

	if (strpbrk(path, ";#\n") || n + strlen(path) >= TICKET_REGION)
		*t->region = '\0';
	else
		snprintf(t->region + n, TICKET_REGION - n, "%s", path + skip);
}

const char *ticket_region(const struct ticket *t)
{
	char host[TICKET_REGION];

	put_host(host);
	return strncmp(t->region, host, strlen(host))
		       ? NULL
		       : t->region + strlen(host);
}

int ticket_of_region(struct ticket *t, const struct region *r, struct fault *f)
{
	int rc;

	default_addresses(t);
	if (is_zero(t->ip, 16) || is_zero(t->peer_ip, 16))
		return fault_set(f, -EINVAL,
				 "IPv6 needs both addresses: the collector's "
				 "and the translator's");
	t->epoch = region_epoch(r);
	name_region(t, region_path(r));
	for (t->n = 0; t->n < region_tables(r); t->n++) {
		rc = describe(t, r, t->n, f);
		if (rc < 0) {
			ticket_fini(t); /* those before */
			return rc;
		}
	}
	return 0;
}

void ticket_fini(struct ticket *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		free(t->at[i].heads);
		t->at[i].heads = NULL;
	}
}

static void write_mac(FILE *out, const char *field, const uint8_t *m)
{
	char text[TEXT_MAC_MAX];

	fprintf(out, "%s = %s\n", field, text_of_mac(text, m));
}

static void write_ip(FILE *out, const char *field, const struct ticket *t,
		     const uint8_t *ip)
{
	char text[TEXT_IP_MAX];

	fprintf(out, "%s = %s\n", field, text_of_ip(text, t->version, ip));
}

/* What is told for people. A ; would be a comment, and is in no type. */
static void write_told(FILE *out, const struct table *g)
{
	char protocol[KEY_PROTOCOL_MAX];

	if (g->protocol)
		fprintf(out, "protocol = %s\n",
			key_protocol_text(protocol, g->protocol));
	if (*g->show && !strpbrk(g->show, ";#"))
		fprintf(out, "show = %s\n", g->show);
}

/* What a kind of table has beside the fields of all. */
static void write_kind(FILE *out, const struct table *g,
		       const struct ticket_table *at)
{
	static const char *const sequence[] = {"count", "strict", "off"};

	switch (g->kind) {
	case TABLE_KEYWRITE:
		fprintf(out, "value = %u\nslots = %" PRIu64 "\n", g->value_len,
			g->units);
		break;
	case TABLE_KEYINC:
		fprintf(out, "slots = %" PRIu64 "\n", g->units);
		break;
	case TABLE_POSTCARD:
		fprintf(out,
			"chunks = %" PRIu64 "\nhops = %u\nvalues = %u-%u\n"
			"cache = %u\n",
			g->units, g->hops, g->value_min, g->value_max,
			g->cache_rows);
		break;
	case TABLE_APPEND:
		fprintf(out,
			"value = %u\nring = %" PRIu64 "\nlists = %u\n"
			"batch = %u\nflush = %ums\n",
			g->value_len, g->units, g->lists, g->batch,
			g->flush_ms);
		for (uint32_t i = 0; at->heads && i < g->lists; i++)
			if (at->heads[i])
				fprintf(out, "head = %u:%" PRIu64 "\n", i,
					at->heads[i]);
		break;
	}
	write_told(out, g);
	fprintf(out, "sequence = %s\nimmediate = %s\nqp = %s\n",
		sequence[g->sequence], g->immediate ? "yes" : "no",
		g->qp == TABLE_QP_UC ? "uc" : "rc");
}

static void write_table(FILE *out, const struct table *g,
			const struct ticket_table *at)
{
	fprintf(out, "\n[table %s]\nkind = %s\nid = %u\n", g->name,
		table_kind_name(g->kind), g->id);
	if (g->kind != TABLE_APPEND) {
		if (g->key_type == KEY_HEX)
			fprintf(out, "key = hex:%u\n", g->key_len);
		else
			fprintf(out, "key = %s\n",
				key_type_name((enum key_type)g->key_type));
		fprintf(out, "copies = %u\n", g->copies);
	}
	if (g->kind != TABLE_KEYINC)
		fprintf(out, "stride = %u\n", g->stride);
	fprintf(out, "hash = %s\n",
		hash_family_name((enum hash_family)g->hash));
	write_kind(out, g, at);
	fprintf(out, "qpn = 0x%x\npsn = %u\n", at->qpn, at->psn);
	if (at->lasting)
		fprintf(out, "first_psn = %u\n", at->first_psn);
	fprintf(out,
		"rkey = 0x%08x\naddress = 0x%" PRIx64 "\nlength = %" PRIu64
		"\n",
		at->rkey, at->address, g->length);
}

int ticket_write(const struct ticket *t, FILE *out)
{
	fprintf(out,
		"; dta ticket: how to write into this collector's memory\n"
		"[collector]\nversion = %d\n",
		TICKET_VERSION);
	write_mac(out, "mac", t->mac);
	write_ip(out, "ip", t, t->ip);
	write_mac(out, "peer_mac", t->peer_mac);
	write_ip(out, "peer_ip", t, t->peer_ip);
	if (*t->region)
		fprintf(out, "region = %s\n", t->region);
	fprintf(out, "mtu = %u\nepoch = %" PRIu64 "\ntables = %u\n", t->mtu,
		t->epoch, t->n);
	if (t->atomics)
		fprintf(out, "atomics = %u\n", t->atomics);
	for (unsigned i = 0; i < t->n; i++)
		write_table(out, &t->table[i], &t->at[i]);
	errno = 0;
	if (fflush(out) != 0 || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
