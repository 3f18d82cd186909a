/* SPDX-License-Identifier: BSD-2-Clause */
/* nic.h - dta-collect with RDMA devices as the target. */
#ifndef DTA_COLLECT_NIC_H
#define DTA_COLLECT_NIC_H

#include "options.h"

/* Serves --verbs until a signal comes; exits on an error. */
void nic_run(const struct opts *o, struct region *r);

#endif
