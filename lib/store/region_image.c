/* SPDX-License-Identifier: BSD-2-Clause */
/* region_image.c - what is known of a region that is on another machine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "store/region_file.h"

enum {
	STATE_LEN = offsetof(struct region_state, notified),
};

/* Room for the whole file; all but what is in front of the tables stays out of
 * reach. */
static int make_room(struct region *r)
{
	void *p = mmap(NULL, r->h.file_size, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	r->map = p;
	r->state = (struct region_state *)(r->map + REGION_STATE_AT);
	r->seat = (struct region_seat *)(r->map + REGION_SEATS_AT);
	if (mprotect(p, r->h.set_at, PROT_READ | PROT_WRITE) < 0)
		return -errno;
	return 0;
}

int region_renew(struct region *r, region_fetch *fetch, void *ctx)
{
	struct region_state s;
	int rc = fetch(ctx, REGION_STATE_AT, &s, STATE_LEN);

	if (rc < 0)
		return rc;
	r->state->epoch = s.epoch;
	r->state->oldest = s.oldest;
	return s.epoch ? 0 : -EBADMSG;
}

static int load(struct region *r, uint64_t size, region_fetch *fetch, void *ctx,
		struct fault *f)
{
	int rc = size < sizeof(r->h) ? -EBADMSG
				     : fetch(ctx, 0, &r->h, sizeof(r->h));

	if (rc < 0)
		return fault_set(f, rc, "%s", strerror(-rc));
	rc = region_check(&r->h, size, f);
	if (rc < 0)
		return rc;
	rc = make_room(r);
	if (!rc && r->h.values_len)
		rc = fetch(ctx, r->h.values_at, r->map + r->h.values_at,
			   r->h.values_len);
	if (!rc)
		rc = region_renew(r, fetch, ctx);
	if (rc < 0)
		return fault_set(f, rc, "%s", strerror(-rc));
	return region_check_values(&r->h, r->map + r->h.values_at, f);
}

int region_image(struct region **out, const char *name, uint64_t size,
		 region_fetch *fetch, void *ctx, struct fault *f)
{
	struct region *r = region_new();
	struct fault why = {""};
	int rc;

	if (!r || !(r->path = strdup(name))) {
		region_close(r);
		return fault_set(f, -ENOMEM, "%s", strerror(ENOMEM));
	}
	rc = load(r, size, fetch, ctx, &why);
	if (rc < 0) {
		region_close(r);
		return fault_set(f, rc, "%s: %.400s", name, why.text);
	}
	*out = r;
	return 0;
}
