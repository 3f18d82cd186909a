#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# sweep.sh: removes the regions, and folders of pages, of tests and benchmarks that were killed.
#
# Their names begin with dta-test-PID-, of the process that removes them when it
# is done. What belongs to a process that lives stays, whatever checkout it is
# from: tests may run in several at the same time.
shopt -s nullglob
for f in /dev/shm/{,.}dta-test-* /dev/hugepages/{,.}dta-test-*; do
	pid=${f##*dta-test-}
	[[ $pid =~ ^([1-9][0-9]*)- ]] || continue
	[ -e "/proc/${BASH_REMATCH[1]}" ] || rm -rf "$f"
done
