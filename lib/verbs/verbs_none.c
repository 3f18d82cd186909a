/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_none.c - a build without libibverbs and librdmacm: all calls say so. */
#include <errno.h>

#include "verbs/verbs.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int not_built(struct error *err)
{
	return error_set(err, -ENOTSUP,
			 "--verbs: built without libibverbs; install "
			 "libibverbs-dev librdmacm-dev, and make again");
}

const struct ledger verbs_target_ledger = {.stage = "verbs"};

int verbs_target_open(struct verbs_target **out, struct region *r,
		      const struct verbs_target_options *o, struct error *err)
{
	return not_built(err);
}

int verbs_target_listen(struct verbs_target *v, uint16_t port,
			struct error *err)
{
	return not_built(err);
}

unsigned verbs_target_fds(const struct verbs_target *v, struct pollfd *fds)
{
	return 0;
}

int verbs_target_work(struct verbs_target *v, struct error *err)
{
	return not_built(err);
}

void verbs_target_renew(struct verbs_target *v)
{
}

const struct ticket *verbs_target_ticket(const struct verbs_target *v)
{
	return NULL;
}

const struct verbs_target_ledger *
verbs_target_counters(const struct verbs_target *v)
{
	return NULL;
}

void verbs_target_close(struct verbs_target *v)
{
}

const struct ledger verbs_transport_ledger = {.stage = "transport"};

int verbs_transport_open(struct transport **out, const char *address,
			 const struct verbs_transport_options *o,
			 struct error *err)
{
	return not_built(err);
}

int verbs_memory(struct memory **out, const char *address,
		 const atomic_int *stop, struct error *err)
{
	return not_built(err);
}
