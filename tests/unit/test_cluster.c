/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cluster files: what is read, and that nothing else is taken. Owners by the
 * polynomial of dta(7), HASHING, bit by bit.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"
#include "test.h"

static int parse(struct cluster *c, const char *text, size_t len,
		 struct error *err)
{
	char *copy = malloc(len + 1);
	FILE *in;
	int rc;

	memcpy(copy, text, len);
	copy[len] = '\0';
	in = len ? fmemopen(copy, len, "r") : fopen("/dev/null", "r");
	rc = cluster_parse(c, in, "dir/c.ini", err);
	fclose(in);
	free(copy);
	return rc;
}

static const char good[] = "[cluster]\n"
			   "version = 1\n"
			   "mirror = yes\n"
			   "[collector 0]\n"
			   "region = /a\n"
			   "[collector 7]\n"
			   "region = b\n"
			   "ticket = b.ini\n"
			   "host = user@box-7\n"
			   "[collector 8]\n"
			   "ticket = /t/c.ini\n"
			   "[generation 1]\n"
			   "collectors = 0 7\n"
			   "[generation 4]\n"
			   "collectors = 7-8\n"
			   "collectors = 0:9\n"
			   "epoch = 5\n";

static void whole(void)
{
	struct cluster c;
	struct error err = {""};

	if (!TEST(parse(&c, good, strlen(good), &err) == 0)) {
		fprintf(stderr, "%s\n", err.text);
		return;
	}
	TEST(c.n == 3 && c.generations == 2 && c.mirror);
	TEST(c.collector[1].id == 7 && !strcmp(c.collector[1].region, "b"));
	TEST(!strcmp(c.collector[1].ticket, "dir/b.ini"));
	TEST(!strcmp(c.collector[2].ticket, "/t/c.ini"));
	TEST(!strcmp(c.collector[1].host, "user@box-7"));
	/* Epochs: a generation's last is the first of the next. */
	TEST(c.generation[0].n == 2 && c.generation[1].n == 3);
	TEST(c.generation[0].member[0].from == 1 &&
	     c.generation[0].member[0].until == 9);
	TEST(c.generation[0].member[1].from == 1 &&
	     c.generation[0].member[1].until == 5);
	TEST(c.generation[1].number == 4);
	TEST(c.generation[1].member[0].collector == 1 &&
	     c.generation[1].member[0].from == 5 &&
	     c.generation[1].member[0].until == UINT64_MAX);
	TEST(c.generation[1].member[1].collector == 2 &&
	     c.generation[1].member[1].from == 1); /* a newcomer */
	TEST(c.generation[1].member[2].collector == 0 &&
	     c.generation[1].member[2].from == 9);
	TEST(cluster_newest(&c) == &c.generation[1]);
	cluster_fini(&c);
}

static void short_form(void)
{
	static const char text[] = "[cluster]\nversion = 1\n"
				   "[collector 5]\nregion = a\n"
				   "[collector 3]\nregion = b\n";
	struct cluster c;
	struct error err = {""};

	TEST(parse(&c, text, strlen(text), &err) == 0);
	TEST(c.generations == 1 && c.generation[0].n == 2 && !c.mirror);
	TEST(c.generation[0].member[0].collector == 0 &&
	     c.generation[0].member[1].collector == 1);
	cluster_fini(&c);
}

static uint32_t crc_of(uint32_t poly, const uint8_t *p, size_t len)
{
	uint32_t rev = 0, sum = 0xffffffff;

	for (int i = 0; i < 32; i++)
		rev |= (poly >> i & 1) << (31 - i);
	for (size_t i = 0; i < len; i++) {
		sum ^= p[i];
		for (int b = 0; b < 8; b++)
			sum = sum & 1 ? sum >> 1 ^ rev : sum >> 1;
	}
	return ~sum;
}

static void owners(void)
{
	struct cluster_generation g = {.n = 1};
	uint8_t key[13];

	for (g.n = 1; g.n < 9; g.n++)
		for (unsigned i = 0; i < 100; i++) {
			for (unsigned b = 0; b < sizeof(key); b++)
				key[b] = (uint8_t)(i * 31 + b * g.n);
			TEST(cluster_owner(&g, key, sizeof(key)) ==
			     crc_of(0x8C2BFECF, key, sizeof(key)) % g.n);
		}
}

/* Every prefix is refused, or is a whole file itself: it ends behind a line,
 * and every collector that generations name is there. Nothing crashes, nothing
 * is left to free (the sanitizers look). */
static void prefixes(void)
{
	for (size_t len = 0; len < strlen(good); len++) {
		struct cluster c;
		struct error err = {""};
		int rc = parse(&c, good, len, &err);

		TEST(rc <= 0);
		if (rc < 0)
			TEST(err.text[0] && !c.collector && !c.generation);
		if (len <= strlen("[cluster]\nversion = 1\n"
				  "mirror = yes\n[collector 0]\nregion = "))
			TEST(rc < 0);
		if (rc == 0) {
			TEST(c.n && c.generations &&
			     cluster_newest(&c)->n <= c.n);
			cluster_fini(&c);
		}
	}
}

static const char head[] = "[cluster]\nversion = 1\n";
static const struct {
	const char *text, *why;
	int rc;
} bad[] = {
	{"[collector 0]\nregion = a\n", "needs version", -EINVAL},
	{"[cluster]\nversion = 2\n",
	 "c.ini:2: a cluster file of "
	 "another version: '2'",
	 -EPROTONOSUPPORT},
	{"H", "no collectors", -EINVAL},
	{"H[collector 0]\n", "a [collector ID] with region, ticket", -EINVAL},
	{"H[collector x]\nregion = a\n", "id: 'x'", -EINVAL},
	{"H[collector 70000]\nregion = a\n", "id: '70000'", -EINVAL},
	{"H[collector 0]\nregion = a\n[collector 1]\nregion = b\n"
	 "[collector 0]\nhost = c\n",
	 "twice the same collector: '0'", -EINVAL},
	{"H[collector 0]\nhost = a\n", "region or ticket", -EINVAL},
	{"H[collector 0]\nticket = t\nhost = h\n", "needs region", -EINVAL},
	{"H[collector 0]\nregion = a\nhost = -oProxyCommand=x\n",
	 "host: no plain name", -EINVAL},
	{"H[collector 0]\nregion = a\nverbs = 10.0.0.51\n",
	 "verbs: without host the region is on this machine", -EINVAL},
	{"H[collector 0]\nverbs = 10.0.0.51;x\n", "verbs: no plain name",
	 -EINVAL},
	{"H[collector 0]\nregion = a\nhost = a b\n", "host: no plain name",
	 -EINVAL},
	{"H[collector 0]\nregion = a$(x)\n", "region: no plain name", -EINVAL},
	{"H[collector 0]\nregion = a[bc]\n", "region: no plain name", -EINVAL},
	{"H[collector 0]\nregion = a\nhost = [a-z]\n", "host: no plain name",
	 -EINVAL},
	{"H[collector 0]\nregion = a\nregion = b\n", "given twice", -EINVAL},
	{"H[collector 0]\nregion = a\ncolour = b\n", "no such field", -EINVAL},
	{"H[fleet]\nregion = a\n", "no such section", -EINVAL},
	{"Hsteer = address\n", "no such field: 'steer'", -EINVAL},
	{"H[collector 0]\nregion = a\n[generation 1]\n"
	 "collectors = 0 1\n",
	 "there is no [collector 1]", -EINVAL},
	{"H[collector 0]\nregion = a\n[generation 1]\n"
	 "collectors = 0 0\n",
	 "twice collector 0", -EINVAL},
	{"H[collector 0]\nregion = a\n[generation 1]\nepoch = 1\n",
	 "[generation 1]: no collectors", -EINVAL},
	{"H[collector 0]\nregion = a\n[generation 1]\ncollectors = 0\n"
	 "[generation 2]\ncollectors = 0\n",
	 "[generation 2]: since which epoch", -EINVAL},
	{"H[collector 0]\nregion = a\n[generation 1]\ncollectors = "
	 "0:7\n[generation 2]\ncollectors = 0\nepoch = 7\n",
	 "must begin later", -EINVAL},
	{"H[collector 0]\nregion = a\n[generation 2]\ncollectors = 0\n"
	 "[generation 1]\ncollectors = 0\n",
	 "in their order", -EINVAL},
	{"H[collector 0]\nregion = a\n[generation 1]\ncollectors = "
	 "0x\n",
	 "collectors: not a list", -EINVAL},
	{"H[collector 0]\nregion = a\n[generation 1]\ncollectors = "
	 "3-1\n",
	 "from 1: '3-1'", -EINVAL},
	{"H[collector 0]\nregion = a\n[generation 1]\ncollectors = "
	 "0:0\n",
	 "epochs from 1: '0:0'", -EINVAL},
	{"version = 1\n", "not in a section", -EINVAL},
	{"H\001\002\n", "not a line", -EINVAL},
	{"Hversion = 1\n", "c.ini:3: given twice: 'version'", -EINVAL},
	{"H[collector 0]\nregion = a\n[collector 0]\nhost = h\n",
	 "twice the same collector: '0'", -EINVAL},
	{"H[collector 0]\nregion = a\n[collector 1]\n",
	 "c.ini:5: a section without fields", -EINVAL},
	{"H[collector 0]\nregion = a\n[generation 1]\ncollectors = 0\n"
	 "epoch = 1\nepoch = 2\n",
	 "c.ini:8: given twice: 'epoch'", -EINVAL},
};

static void refusals(void)
{
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		bool short_head = bad[i].text[0] == 'H';
		char text[512];
		struct cluster c;
		struct error err = {""};
		int rc;

		snprintf(text, sizeof(text), "%s%s", short_head ? head : "",
			 bad[i].text + short_head);
		rc = parse(&c, text, strlen(text), &err);
		if (!TEST(rc == bad[i].rc) ||
		    !TEST(strstr(err.text, bad[i].why) != NULL))
			fprintf(stderr, "case %u: %d, \"%s\"\n", i, rc,
				err.text);
		if (rc == 0)
			cluster_fini(&c);
	}
}

static void too_many(void)
{
	size_t room = 1 << 16, at = 0;
	char *text = malloc(room);
	struct cluster c;
	struct error err = {""};

	at = (size_t)snprintf(text, room, "[cluster]\nversion = 1\n");
	for (unsigned i = 0; i <= CLUSTER_MAX; i++) {
		if (i == CLUSTER_MAX) {
			TEST(parse(&c, text, at, &err) == 0 &&
			     c.n == CLUSTER_MAX);
			cluster_fini(&c);
		}
		at += (size_t)snprintf(text + at, room - at,
				       "[collector %u]\nregion = r%u\n", i, i);
	}
	TEST(parse(&c, text, at, &err) == -EINVAL);
	TEST(strstr(err.text, "too many collectors") != NULL);
	free(text);
}

int main(void)
{
	whole();
	short_form();
	owners();
	prefixes();
	refusals();
	too_many();
	return test_end();
}
