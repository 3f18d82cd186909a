/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tofino.c - the arithmetic of p4/tna, which runs on no host: done here as
 * the sources say it, and compared with lib/. The iCRC is two parts: of the
 * fields that the P4 programs hash, by the lists in their sources, and of the
 * packet without these. Numbers wrap as the registers do.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "hash/crc.h"
#include "p4_source.h"
#include "test.h"
#include "net/be.h"
#include "net/roce.h"

enum {
	FIELDS_MAX = 256, /* bytes */
	FORM_ADD = 2,	  /* TOFINO_FORM_* of headers.p4; test_p4 has them */
	FORM_IMM = 1,
};

static char translator[SOURCE_MAX], dart[SOURCE_MAX], rdma[SOURCE_MAX],
	label[SOURCE_MAX];
static struct rng rng;

/* The fields of a packet, in the order in which a hash takes them. */
struct hop_fields {
	uint8_t bytes[FIELDS_MAX];
	size_t n;
};

struct packet {
	uint32_t psn;
	uint64_t address;
	uint32_t imm;
	uint64_t add;
	uint8_t data[64];
};

static void put(struct hop_fields *f, uint64_t value, unsigned bytes)
{
	if (!TEST(f->n + bytes <= FIELDS_MAX))
		return;
	while (bytes--)
		f->bytes[f->n++] = (uint8_t)(value >> (8 * bytes));
}

static const struct {
	const char *name;
	int word; /* of the data; -1: none */
} words[] = {
	{"hdr.d0.v", 0},   {"hdr.d1.v", 1},	     {"hdr.d2.v", 2},
	{"hdr.d3.v", 3},   {"hdr.d4.v", 4},	     {"hdr.d5.v", 5},
	{"hdr.d6.v", 6},   {"hdr.d7.v", 7},	     {"hdr.d8.w0", 8},
	{"hdr.d8.w1", 9},  {"hdr.d8.w2", 10},	     {"hdr.d8.w3", 11},
	{"hdr.d8.w4", 12}, {"hdr.d8.w5", 13},	     {"hdr.d8.w6", 14},
	{"hdr.d8.w7", 15}, {"hdr.data.checksum", 0}, {"hdr.data.value", 1},
};

static void put_list(struct hop_fields *f, const char *source, const char *list,
		     unsigned form, const struct packet *p);

/* What a macro stands for, to the line's end; ##n is the form's. */
static void put_macro(struct hop_fields *f, const char *source,
		      const char *name, unsigned form, const struct packet *p)
{
	char define[96];
	const char *at;

	snprintf(define, sizeof(define), "#define %s ", name);
	at = strstr(source, define);
	if (!TEST(at != NULL))
		fprintf(stderr, "no %s\n", name);
	else
		put_list(f, source, at + strlen(define), form, p);
}

/* What is added is in the words 1 and 2. */
static uint32_t word_of(const struct packet *p, unsigned form, int word)
{
	if (form != FORM_ADD)
		return be32_load(p->data + 4 * word);
	return (uint32_t)(p->add >> (word == 1 ? 32 : 0));
}

static void put_field(struct hop_fields *f, const char *source,
		      const char *name, unsigned form, const struct packet *p)
{
	unsigned bits;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(name, words[i].name)) {
			put(f, word_of(p, form, words[i].word), 4);
			return;
		}
	if (!strcmp(name, "hdr.bth.psn"))
		put(f, p->psn, 3);
	else if (!strcmp(name, "hdr.place.address"))
		put(f, p->address, 8);
	else if (!strcmp(name, "hdr.imm.value"))
		put(f, p->imm, 4);
	else if (sscanf(name, "%uw0", &bits) == 1)
		put(f, 0, bits / 8);
	else
		put_macro(f, source, name, form, p);
}

/* "hdr.bth.psn, 64w0, DATA_##n }": up to the brace or the line's end. */
static void put_list(struct hop_fields *f, const char *source, const char *list,
		     unsigned form, const struct packet *p)
{
	char name[64];
	size_t n = 0;

	for (; n < sizeof(name) - 4; list++) {
		if (isalnum((unsigned char)*list) || *list == '_' ||
		    *list == '.') {
			name[n++] = *list;
			continue;
		}
		if (!strncmp(list, "##n", 3)) {
			n += (size_t)sprintf(name + n, "%u",
					     form & ~(unsigned)FORM_IMM);
			list += 2;
			continue;
		}
		name[n] = '\0';
		if (n)
			put_field(f, source, name, form, p);
		n = 0;
		if (!*list || *list == '\n' || *list == '}')
			return;
		if (*list == ' ' || *list == ',' || *list == '\t')
			continue;
		TEST(false);
		return;
	}
	TEST(false);
}

/* A CRC that begins and ends with 0, as crc.p4 asks for. */
static uint32_t linear(const struct hop_fields *f)
{
	static const uint8_t zeros[FIELDS_MAX];

	return crc(CRC_SLOT0, f->bytes, f->n) ^ crc(CRC_SLOT0, zeros, f->n);
}

/* The list of fields that the source hashes behind some words of it. */
static uint32_t hashed(const char *source, const char *behind, unsigned form,
		       const struct packet *p)
{
	struct hop_fields f = {.n = 0};
	const char *at = strstr(source, behind);

	at = at ? strchr(at + strlen(behind), '{') : NULL;
	if (!TEST(at != NULL))
		return 0;
	/* a list goes over lines */
	char list[512];
	size_t n = 0;

	while (*++at && *at != '}' && n < sizeof(list) - 2)
		list[n++] = *at == '\n' ? ' ' : *at;
	list[n++] = '}';
	list[n] = '\0';
	put_list(&f, source, list, form, p);
	return linear(&f);
}

static struct roce packet(unsigned form, const struct packet *p)
{
	unsigned len = form & ~(unsigned)FORM_IMM;
	struct roce r = {
		.version = 4,
		.src = {10, 1, 2, 3},
		.dst = {10, 0, 0, 51},
		.src_port = roce_src_port(0x1234),
		.opcode = form & FORM_IMM ? ROCE_RC_WRITE_ONLY_IMM
					  : ROCE_RC_WRITE_ONLY,
		.migreq = true,
		.pkey = 0xffff,
		.dest_qp = 0x1234,
		.rkey = 0x89abcdef,
		.psn = p->psn,
		.va = p->address,
		.imm = p->imm,
		.dma_len = len,
		.payload = p->data,
		.len = len,
	};

	if (form == FORM_ADD) {
		r.opcode = ROCE_RC_FETCH_ADD;
		r.swap_add = p->add;
		r.len = r.dma_len = 0;
	}
	return r;
}

static uint32_t icrc_of(unsigned form, const struct packet *p)
{
	struct roce r = packet(form, p);
	uint8_t frame[ROCE_FRAME_MAX];
	int len = roce_encode(frame, sizeof(frame), &r);

	if (!TEST(len > 0))
		return 0;
	return __builtin_bswap32(be32_load(frame + len - ROCE_ICRC_LEN));
}

static struct packet any_packet(void)
{
	struct packet p = {
		.psn = (uint32_t)rng_u64(&rng) & ROCE_PSN_MASK,
		.address = rng_u64(&rng) & ~UINT64_C(7),
		.imm = (uint32_t)rng_u64(&rng),
		.add = rng_u64(&rng),
	};

	for (size_t i = 0; i < sizeof(p.data); i++)
		p.data[i] = (uint8_t)rng_u64(&rng);
	return p;
}

static void check_form(const char *source, const char *behind, unsigned form)
{
	static const struct packet none;

	for (int i = 0; i < 200; i++) {
		struct packet p = any_packet();

		if (!TEST((icrc_of(form, &none) ^
			   hashed(source, behind, form, &p)) ==
			  icrc_of(form, &p))) {
			fprintf(stderr, "form %u: another iCRC\n", form);
			return;
		}
	}
}

static void test_icrc(void)
{
	static const unsigned forms[] = {4, 8, 16, 32, 64};
	static const unsigned imm_forms[] = {8, 16, 32};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		check_form(translator, "write_##n.get(", forms[i]);
	for (size_t i = 0; i < sizeof(imm_forms) / sizeof(imm_forms[0]); i++)
		check_form(translator, "write_imm_##n.get(",
			   imm_forms[i] | FORM_IMM);
	check_form(translator, "fetch_add.get(", FORM_ADD);
	check_form(dart, "write_8.get(", 8);
}

/* The PSN in the upper 24 bits; and how many a NAK passes over. */
static void test_psn(void)
{
	says(rdma, "next = next + 0x100;");
	says(rdma,
	     "hdr.bth.psn = next_psn.execute(hdr.bridge.lane[5:0])[31:8];");
	says(rdma, "meta.passed = meta.passed - hdr.bridge.psn;");
	says(rdma, "meta.passed = meta.passed >> 8;");
	for (int i = 0; i < 1000; i++) {
		uint32_t psn = (uint32_t)rng_u64(&rng) & ROCE_PSN_MASK;
		uint32_t back = (uint32_t)rng_below(&rng, 5000);
		uint32_t next = psn << 8;
		uint32_t nak = (psn - back) & ROCE_PSN_MASK;

		TEST(next >> 8 == psn);
		TEST((next - (nak << 8)) >> 8 == back);
		next += 0x100;
		TEST(next >> 8 == ((psn + 1) & ROCE_PSN_MASK));
	}
	TEST(((uint32_t)ROCE_PSN_MASK << 8) + 0x100 == 0);
}

/* A clock of 1024 a microsecond: microseconds, and nanoseconds of a latency. */
static void test_clock(void)
{
	says(label, "meta.now = now_of.get({ parsed.global_tstamp[41:10] });");
	says(label, "meta.latency_64th = meta.latency >> 6;");
	says(label, "meta.latency_128th = meta.latency >> 7;");
	for (int i = 0; i < 1000; i++) {
		uint32_t ns = (uint32_t)rng_below(&rng, 4000000000u);
		uint32_t x = (uint32_t)((uint64_t)ns * 1024 / 1000);
		int64_t off = (int64_t)(x - (x >> 6) - (x >> 7)) - ns;

		TEST(off >= -1 && off <= 2);
	}
}

/* IF_DUE(||), and, when the clock wrapped, IF_DUE(&&). */
static bool if_due(uint32_t *last, uint32_t now, uint32_t interval)
{
	uint32_t before = now - interval;
	uint32_t wrapped = interval > now ? interval - now : 0;
	bool due = wrapped ? *last <= before && *last > now
			   : *last <= before || *last > now;

	if (due)
		*last = now;
	return due;
}

/* Times of which the clock wraps between some of them. */
static uint32_t any_time(uint32_t now)
{
	switch (rng_below(&rng, 4)) {
	case 0:
		return (uint32_t)rng_u64(&rng);
	case 1:
		return now;
	case 2:
		return now - (uint32_t)rng_below(&rng, 4);
	default:
		return (uint32_t)rng_below(&rng, 4) - 2;
	}
}

static void check_due(uint32_t last, uint32_t now, uint32_t interval)
{
	bool due = (uint32_t)(now - last) >= interval;
	uint32_t reg = last;

	if (!TEST(if_due(&reg, now, interval) == due) ||
	    !TEST(reg == (due ? now : last)))
		fprintf(stderr, "last %u, now %u, interval %u\n", last, now,
			interval);
}

/* Paper 004: a label where now - last >= T. The register is compared with the
 * ends of what is too early. */
static void test_due(void)
{
	says(label, "if (last <= meta.before or_and last > meta.now) { ");
	says(label, "(marks) mark = IF_DUE(||);");
	says(label, "mark_wrapped =\n\t\tIF_DUE(&&);");
	says(label, "label_in_turn =\n\t\tIF_DUE(||);");
	says(label, "label_in_turn_wrapped = IF_DUE(&&);");
	says(label, "meta.before = meta.now - meta.period;");
	says(label, "meta.wrapped = meta.period |-| meta.now;");
	says(label, "meta.before = meta.now - meta.interval;");
	says(label, "meta.wrapped = meta.interval |-| meta.now;");
	says(label, "0: find_mark();\n\t\t\t_: find_mark_wrapped();");
	says(label, "(0, 1, _, _, 0): in_turn();\n"
		    "\t\t\t(0, 1, _, _, _): in_turn_wrapped();\n"
		    "\t\t\t(0, 0, 0, _, 0): in_turn();\n"
		    "\t\t\t(0, 0, 0, _, _): in_turn_wrapped();");
	for (int i = 0; i < 100000; i++) {
		uint32_t now = any_time(0);
		uint32_t last = any_time(now);
		uint32_t interval = any_time(now - last);

		check_due(last, now, interval);
	}
	/* idle for more than half of what the clock counts */
	check_due(0, 0xf0000000, 50000);
	check_due(0xf0000000, 0xe0000000, 50000);
}

/* Numbers from 1 on; behind the last one 1 again. */
static uint32_t next_number(uint32_t *next)
{
	uint32_t n = *next > 1 ? *next : 1;

	if (*next == 0)
		*next = 2;
	else
		*next = *next + 1;
	return n;
}

static void test_number(void)
{
	static const uint32_t first[] = {1, 2, 3},
			      last[] = {UINT32_MAX - 1, UINT32_MAX, 1, 2};
	uint32_t next = 0;

	says(label, "n = max(next, 1);\n"
		    "\t\t\tif (next == 0)\n"
		    "\t\t\t\tnext = 2;\n"
		    "\t\t\telse\n"
		    "\t\t\t\tnext = next + 1;");
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		TEST(next_number(&next) == first[i]);
	next = UINT32_MAX - 1;
	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++)
		TEST(next_number(&next) == last[i]);
}

int main(void)
{
	rng.state = 1;
	read_source(translator, "p4/tna/dta_translator/operation.p4");
	read_source(dart, "p4/tna/dart_reporter/dart_reporter.p4");
	read_source(rdma, "p4/tna/common/rdma.p4");
	read_source(label, "p4/tna/int_label/int_label.p4");
	test_icrc();
	test_psn();
	test_clock();
	test_due();
	test_number();
	return test_end();
}
