/* SPDX-License-Identifier: BSD-2-Clause */
/* Private data from strangers: what is taken encodes to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "verbs/verbs_cm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[VERBS_CM_PLACE_LEN];
	struct verbs_cm_ask a;
	struct verbs_cm_place p;

	if (!verbs_cm_ask_decode(&a, data, size)) {
		verbs_cm_ask_encode(bytes, &a);
		if (memcmp(bytes, data, VERBS_CM_ASK_LEN))
			abort();
	}
	for (uint16_t kind = VERBS_CM_TICKET; kind <= VERBS_CM_READ; kind++) {
		if (verbs_cm_place_decode(&p, kind, data, size) < 0)
			continue;
		verbs_cm_place_encode(bytes, &p);
		if (p.kind != kind || memcmp(bytes, data, 12) ||
		    memcmp(bytes + 16, data + 16, 16))
			abort();
	}
	if (verbs_cm_refusal_decode(data, size) > 0)
		abort();
	return 0;
}
