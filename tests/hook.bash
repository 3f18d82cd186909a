# SPDX-License-Identifier: BSD-2-Clause
# For tests of confinement: hook makes hook.so, to be preloaded.

# What a flaw would let others do in the process, at SIGUSR2.
hook() {
	cc -shared -fPIC -o hook.so -x c - <<-'E'
		#include <errno.h>
		#include <fcntl.h>
		#include <signal.h>
		#include <stdio.h>
		#include <unistd.h>

		static void try(int sig)
		{
			char *argv[] = {"true", NULL};

			if (open("/etc/passwd", O_RDONLY) < 0)
				dprintf(2, "open: %d\n", errno);
			if (open("written", O_WRONLY | O_CREAT, 0600) < 0)
				dprintf(2, "create: %d\n", errno);
			execv("/bin/true", argv);
			dprintf(2, "exec: %d\nasked\n", errno);
		}

		__attribute__((constructor)) static void begin(void)
		{
			signal(SIGUSR2, try);
		}
	E
}
