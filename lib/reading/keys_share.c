/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_share.c - the keys of a file, for threads that take them in turn. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "reading/keys_private.h"

enum {
	SHARE = 1 << 15, /* bytes that a thread takes at once */
};

int keys_share_open(struct keys *k, const struct targets *t)
{
	const struct keys_from none = {0};

	keys_open(k, &none, t);
	k->later = calloc(1, sizeof(*k->later));
	if (k->later && !lines_room(&k->lines))
		return 0;
	free(k->later);
	k->later = NULL;
	return -ENOMEM;
}

static void forget(struct keys_later *l)
{
	for (unsigned i = 0; i < l->n; i++)
		free(l->bad[i].text);
	*l = (struct keys_later){0};
}

void keys_share_close(struct keys *k)
{
	if (!k->later)
		return;
	forget(k->later);
	free(k->later);
	lines_close(&k->lines);
}

/* Whether the first line, or the first that is not empty, is still to be looked
 * at; a share has none of what says where keys are. */
static bool begin(struct keys *of)
{
	char line[LINE_MAX_LEN + 1], *head;
	size_t len;

	if (!of->lines.number && !of->from.column && !of->begun &&
	    lines_peek(&of->lines, line, sizeof(line))) {
		if (keys_is_head(line))
			of->from.column = "key";
		of->begun = true;
	}
	while (of->from.column && !of->csv_head &&
	       (head = lines_next(&of->lines, &len)))
		if (len)
			keys_find_column(of, head);
	return of->from.column ? of->csv_head : of->begun;
}

/* The next lines. */
static bool take(struct keys *of, struct keys *share)
{
	return begin(of) && lines_share(&of->lines, &share->lines, SHARE);
}

int keys_share(struct keys *of, struct keys *share, bool wait)
{
	int rc = 1;

	forget(share->later);
	share->malformed = share->good = 0;
	share->lines.at = share->lines.stop;
	share->lines.number = 0;
	while (rc > 0 && !take(of, share)) {
		if (!wait && lines_wait(&of->lines))
			return -EAGAIN;
		rc = cli_stop ? 0 : lines_more(&of->lines);
		if (rc == -EINTR)
			return -EAGAIN;
	}
	/* The first has the lines of the header, too. */
	share->lines.number = of->lines.number;
	of->lines.number = 0;
	share->from.file = of->from.file;
	share->from.column = of->from.column;
	share->csv_head = of->csv_head;
	share->csv_at = of->csv_at;
	share->later->error = rc < 0 ? rc : 0;
	return rc != 0;
}

bool keys_told(struct keys *of, const struct keys *share)
{
	const struct keys_later *l = share->later;
	bool other = !of->good && of->malformed + l->first_bad >= KEYS_SHOWN;

	for (unsigned i = 0; i < l->n && of->malformed + i < KEYS_SHOWN; i++)
		keys_warn(of, of->told + l->bad[i].number,
			  l->bad[i].text ? l->bad[i].text : "", &l->bad[i].why);
	of->malformed = other ? KEYS_SHOWN : of->malformed + share->malformed;
	of->good += other ? 0 : share->good;
	of->told += share->lines.number;
	return !other;
}

void keys_check(const struct keys *of, const struct keys *share)
{
	if (share->later->error)
		keys_fail(of, of->told, share->later->error);
}
