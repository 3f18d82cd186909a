# SPDX-License-Identifier: BSD-2-Clause
# Programs that run on, and what dta-top says of them.

# begin LOG COMMAND...: in the background, without our pipes.
begin() {
	local log=$1

	shift
	"$@" >"$log" 2>&1 3>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
	BG_PIDS+=("$!")
}

# top [OPTIONS]: rows, soon.
top() { dta-top --once --every 300ms -o ndjson "$@"; }

# sees TABLE JQ: whether the rows of a table are such.
sees() { top -t "$1" 2>/dev/null | jq -se "$2" >/dev/null; }

# A program that is none: page.py PROGRAM REGION STAGE:COUNTER:ROLE:NS...
# writes its page again and again; the counter grows by one each so many ns, as
# long as the page says, so that its rate is known however busy the machine is.
# A role with a * behind it is of a counter that may fall.
# It is made of the layout in base/ledger_page.h, not of our code.
fake() {
	cat >page.py <<-'EOP'
		import fcntl, os, struct, sys, time
		program, region, counters = sys.argv[1], sys.argv[2], sys.argv[3:]
		pid = os.getpid()
		start = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19])
		name = "%s/dta-ledger-%d-%d" % (os.environ["DTA_LEDGERS"], pid, start)
		roles = ["in", "done", "loss", "harmless", "note"]
		head = struct.pack("=8sIIIIQ32s32s256s256s256s160x", b"DTALEDG\n",
		    0x01020304, 2, 16384, pid, start, program.encode(), b"9.9",
		    region.encode(), b"in",
		    os.environ.get("OUTPUT", "out").encode())
		assert len(head) == 1024
		f = os.open(name + ".new", os.O_RDWR | os.O_CREAT, 0o640)
		fcntl.flock(f, fcntl.LOCK_EX)
		os.pwrite(f, head + bytes(16384 - 1024), 0)
		began, sequence = time.monotonic_ns(), 0
		while True:
		    stages, rows, now = [], b"", time.monotonic_ns()
		    for c in counters:
		        stage, counter, role, ns = c.split(":")
		        if stage not in stages:
		            stages.append(stage)
		        rows += struct.pack("=32sHBB4xQ", counter.encode(),
		            stages.index(stage), roles.index(role.strip("*")), role[-1] == "*",
		            (now - began) // int(ns) if int(ns) else 0)
		    names = b"".join(struct.pack("32s32s", s.encode(), b"things")
		                     for s in stages)
		    body = struct.pack("=QII40x1024s", now, len(stages),
		                       len(counters), names) + rows
		    os.pwrite(f, struct.pack("=Q", sequence + 1), 1024)
		    os.pwrite(f, body, 1032)
		    sequence += 2
		    os.pwrite(f, struct.pack("=Q", sequence), 1024)
		    if sequence == 2:
		        os.rename(name + ".new", name)
		    time.sleep(0.02)
	EOP
	begin fake.log python3 page.py "$@"
}
