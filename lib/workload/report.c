/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c - the run of a workload, and reports in fewer words. */
#include <stdlib.h>

#include "workload/private.h"

int workload_start(struct workload_run *g)
{
	return g->w->start ? g->w->start(g) : 0;
}

void workload_end(struct workload_run *g)
{
	if (g->w->end)
		g->w->end(g);
}

void workload_fini(struct workload_run *g)
{
	flowtab_close(g->flows);
	free(g->state);
	g->flows = NULL;
	g->state = NULL;
}

void work_keywrite(struct workload_run *g, bool v6, const void *key,
		   size_t key_len, const void *value, size_t len,
		   unsigned reporter, uint64_t ts_ns)
{
	struct dta_report r = {
		.opcode = DTA_KEYWRITE,
		.key = key,
		.key_len = (uint16_t)key_len,
		.data = value,
		.data_len = (uint16_t)len,
	};

	work_report(g, &r, v6, reporter, ts_ns);
}

void work_append(struct workload_run *g, bool v6, uint32_t list,
		 const void *entry, size_t len, unsigned reporter,
		 uint64_t ts_ns)
{
	uint32_t list_be = htobe32(list);
	struct dta_report r = {
		.opcode = DTA_APPEND,
		.key = (uint8_t *)&list_be,
		.key_len = 4,
		.data = entry,
		.data_len = (uint16_t)len,
	};

	work_report(g, &r, v6, reporter, ts_ns);
}

void work_keyinc(struct workload_run *g, bool v6, const void *key,
		 size_t key_len, uint64_t addend, unsigned reporter,
		 uint64_t ts_ns)
{
	uint64_t addend_be = htobe64(addend);
	struct dta_report r = {
		.opcode = DTA_KEYINC,
		.key = key,
		.key_len = (uint16_t)key_len,
		.data = (uint8_t *)&addend_be,
		.data_len = 8,
	};

	work_report(g, &r, v6, reporter, ts_ns);
}

void work_postcard(struct workload_run *g, bool v6, const void *key,
		   size_t key_len, unsigned hop, unsigned path_len,
		   uint32_t value, unsigned reporter, uint64_t ts_ns)
{
	uint32_t value_be = htobe32(value);
	struct dta_report r = {
		.opcode = DTA_POSTCARD,
		.hop = (uint8_t)hop,
		.path_len = g->o.no_path_len ? 0 : (uint8_t)path_len,
		.key = key,
		.key_len = (uint16_t)key_len,
		.data = (uint8_t *)&value_be,
		.data_len = 4,
	};

	work_report(g, &r, v6, reporter, ts_ns);
}
