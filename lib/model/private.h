/* SPDX-License-Identifier: BSD-2-Clause */
/* private.h - what the models share. */
#ifndef MODEL_PRIVATE_H
#define MODEL_PRIVATE_H

/* A success rate at a load, which falls as the load grows. */
typedef double model_success(const void *ctx, double load);

/* The largest load with a success of want or more; infinite for want <= 0. */
double model_load_for(model_success *success, const void *ctx, double want);

#endif
