/* SPDX-License-Identifier: BSD-2-Clause */
/* The input is a layout file. A table that comes out of it stands its check. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "region/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct layout l;
	struct error err;
	char path[32];
	int fd = memfd_create("layout", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!layout_read(&l, path, &err)) {
		for (unsigned i = 0; i < l.n; i++)
			if (table_check(&l.table[i], &err) < 0 ||
			    table_finish(&l.table[i], &err) < 0)
				abort();
		layout_fini(&l);
	}
	close(fd);
	return 0;
}
