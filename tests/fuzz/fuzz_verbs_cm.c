/* SPDX-License-Identifier: BSD-2-Clause */
/* Private data from strangers: what is taken encodes to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "verbs/verbs_cm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[VERBS_CM_LEN];
	struct verbs_cm m;

	if (verbs_cm_decode(&m, data, size) < 0)
		return 0;
	verbs_cm_encode(bytes, &m);
	if (memcmp(bytes, data, sizeof(bytes)))
		abort();
	return 0;
}
