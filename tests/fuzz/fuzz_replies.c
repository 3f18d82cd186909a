/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What another machine's dta-query says, or whoever answers in its place: the
 * first byte picks what was asked, the rest is its output. What is taken of it
 * lies within its table.
 */
#include "../unit/translate_road.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hash/crc.h"

#include "../../cmd/dta-query/lines.c"
#include "../../cmd/dta-query/remote.c"
#include "../../cmd/dta-query/remote_list.c"
#include "../../cmd/dta-query/replies.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	KEYS = 3, /* u32: 1, 2, 3 */
};

static const uint8_t *said;
static size_t said_len;

/* In ssh.c's place: all is said at once, and nobody listens. */
int ssh_start(struct ssh *s, const char *command, const char *host,
	      const char *const *words, struct fault *f)
{
	int fd = memfd_create("fuzz", 0);

	(void)command;
	(void)host;
	(void)words;
	(void)f;
	if (fd < 0 || write(fd, said, said_len) != (ssize_t)said_len ||
	    lseek(fd, 0, SEEK_SET) < 0 ||
	    lines_attach(&s->from, fd, "fuzz") < 0)
		abort();
	s->pid = 1;
	return 0;
}

int ssh_send(struct ssh *s, const char *text, size_t len)
{
	(void)s;
	(void)text;
	return len ? 0 : -EINVAL;
}

char *ssh_line(struct ssh *s)
{
	char *line;
	size_t len;

	while (!(line = lines_next(&s->from, &len)))
		if (lines_more(&s->from) <= 0)
			return NULL;
	if (strlen(line) > LINE_MAX_LEN)
		abort();
	return line;
}

int ssh_end(struct ssh *s)
{
	if (s->pid)
		lines_close(&s->from);
	s->pid = 0;
	return 0;
}

static void judge_reply(const struct table *t, const struct reply *r)
{
	if (r->answer > ANSWER_UNREADABLE || r->copies > HASH_COPIES ||
	    r->agreed > HASH_COPIES || r->matched > HASH_COPIES)
		abort();
	if (t->kind == TABLE_POSTCARD && r->answer == ANSWER_FOUND &&
	    (r->path.len > HASH_HOPS || r->path.answer != ANSWER_FOUND))
		abort();
}

static void ask(struct remote *r, const struct table *t)
{
	uint8_t bytes[KEYS][CRC_HEADROOM + 4] = {{0}};
	const uint8_t *key[KEYS];
	struct reply reply[KEYS] = {{0}}, *of[KEYS];
	struct query_rule rule = {0};
	struct fault f = {""};

	for (uint8_t i = 0; i < KEYS; i++) {
		bytes[i][CRC_HEADROOM + 3] = (uint8_t)(i + 1);
		key[i] = bytes[i] + CRC_HEADROOM;
		of[i] = &reply[i];
	}
	for (int again = 0; again < 2; again++) {
		if (remote_ask(r, t, &rule, 1, 9, key, KEYS, of, &f) < 0)
			return;
		for (unsigned i = 0; i < KEYS; i++)
			judge_reply(t, &reply[i]);
	}
}

static void list(struct remote *r, const struct table *t, bool count_only)
{
	struct opts o = {.count_only = count_only};
	const struct remote_row *row;
	struct fault f = {""};

	for (uint32_t i = 0; i < t->lists; i++) {
		int rc;

		while ((rc = remote_list_peek(r, &o, t, 1, 9, i, &row, &f)) >
		       0) {
			if (row->list != i)
				abort();
			remote_list_take(r);
		}
		if (rc < 0)
			return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct table tables[4];
	static struct cluster_collector c = {.host = "host", .region = "r"};
	struct remote *r;

	if (!size)
		return 0;
	said = data + 1;
	said_len = size - 1;
	tables[0] = test_table(TABLE_KEYWRITE, 1, 4, 4, 8, 64);
	tables[1] = test_table(TABLE_KEYINC, 2, 4, 8, 8, 64);
	tables[2] = test_postcards(3, 5, 32, 64, 4);
	tables[2].key_len = 4;
	tables[3] = test_lists(4, 4, 4, 3, 3, 1);
	for (unsigned i = 0; i < 3; i++)
		tables[i].key_type = KEY_U32;
	r = calloc(1, sizeof(*r));
	if (!r)
		abort();
	r->c = &c;
	if (data[0] % 8 < 3)
		ask(r, &tables[data[0] % 8]);
	else
		list(r, &tables[3], data[0] % 8 > 4);
	remote_close(r);
	return 0;
}
