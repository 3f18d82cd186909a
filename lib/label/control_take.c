/* SPDX-License-Identifier: BSD-2-Clause */
/* control_take.c - frames, and the labels in them. */
#include <errno.h>

#include "label/control_private.h"
#include "label/links.h"

/* A packet whose label of an earlier hop is that of a record, and the next one
 * an item. */
static int learn_way(struct label_control *c, struct label_record *r,
		     const struct label_item *item)
{
	int rc;

	if (!label_link_joins(r, item))
		return 0;
	rc = label_link_saw(r, item->device, item->out);
	c->ctr.crowded += rc == -ENOSPC;
	return rc == -ENOMEM ? rc : 0;
}

/* before: the place of the label under it, of an earlier hop; becomes this
 * one's. */
static int take_item(struct label_control *c, const struct label_item *item,
		     uint32_t *before)
{
	uint32_t place, ports = label_db_ports(c->db);
	int rc = label_db_take(c->db, item, c->now_ns, &place);

	if (rc >= 0 && *before < ports &&
	    learn_way(c, label_db_at(c->db, *before), item) < 0)
		return -ENOMEM;
	*before = place;
	if (rc != LABEL_TAKEN && rc != LABEL_BEGUN)
		return rc < 0 ? rc : 0;
	if (label_db_ports(c->db) > ports)
		c->with_s[0]++; /* a port more */
	else if (rc == LABEL_BEGUN)
		control_reset(c, place);
	control_heard(c, place);
	return c->err;
}

/* Hops that follow each other are the ends of a link. */
static void learn_links(struct label_control *c, const struct label_path *p)
{
	for (unsigned i = 0; i + 1 < p->n; i++) {
		const struct label_item *hop = &p->hop[i];
		struct label_record *r = label_db_find(c->db, hop->device,
						       hop->out);

		if (!r)
			continue;
		r->has_next = true;
		r->next_device = hop[1].device;
		r->next_in = hop[1].in;
	}
}

static void take_path(struct label_control *c, const struct label_view *v)
{
	const struct label_path *path;

	c->ctr.specific++;
	path = label_paths_take(c->paths, v, c->now_ns);
	if (path)
		learn_links(c, path);
	if (path && c->o.calls.path)
		c->o.calls.path(c->o.calls.ctx, path);
}

static int take_labels(struct label_control *c, const struct label_view *v)
{
	struct label_item item[UINT8_MAX];
	uint32_t before = UINT32_MAX;
	int rc = 0;

	c->ctr.labelled++;
	c->sum.packets++;
	for (unsigned i = 0; i < v->n; i++)
		label_item_get(&item[i], v, i);
	label_db_expect(c->db, item, v->n);
	for (unsigned i = v->n; i-- > 0 && !rc;) /* oldest first */
		rc = take_item(c, &item[i], &before);
	if (v->specific && !rc)
		take_path(c, v);
	return rc;
}

int control_take(struct label_control *c, const uint8_t *frame, size_t len,
		 uint64_t now_ns)
{
	struct label_view v;
	int rc = label_find(&v, &c->o.format, frame, len);

	c->ctr.frames++;
	if (!rc && !v.damaged && !c->begun)
		control_begin(c, now_ns);
	label_control_tick(c, now_ns);
	if (!rc && !v.damaged)
		return take_labels(c, &v);
	if (!rc)
		c->ctr.checksum++;
	else if (rc == -EBADMSG)
		c->ctr.malformed++;
	else
		c->ctr.plain++;
	return c->err;
}
