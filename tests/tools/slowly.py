#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""slowly.py - what a program shows on a terminal while it works.

  slowly.py [-i FILE] [-w COLUMNS] RATE COMMAND ...

Runs the command with a terminal as its standard error. What it writes to its
standard output is taken RATE bytes a second and thrown away; or FILE is its
standard input, given at that rate. So it lasts as long as it is to last,
however fast the machine is. Prints what it drew, a line for each time, and the
exit status at last.
"""
import argparse
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

STEP = 0.01


def main():
    args = argparse.ArgumentParser(usage=__doc__)
    args.add_argument("-i", dest="file")
    args.add_argument("-w", dest="columns", type=int, default=80)
    args.add_argument("rate", type=int)
    args.add_argument("command", nargs=argparse.REMAINDER)
    args = args.parse_args()
    seen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ,
                struct.pack("4H", 24, args.columns, 0, 0))
    ours, theirs = os.pipe()
    if args.file:
        ours, theirs = theirs, ours
    child = subprocess.Popen(args.command, stderr=terminal,
                             stdin=theirs if args.file else None,
                             stdout=None if args.file else theirs)
    os.close(theirs)
    os.close(terminal)
    source = open(args.file, "rb") if args.file else None
    drawn = b""
    while True:
        if select.select([seen], [], [], STEP)[0]:
            try:
                drawn += os.read(seen, 65536)
            except OSError:  # the last one who had it open is gone
                break
            continue
        if ours is None:
            continue
        step = max(int(args.rate * STEP), 1)
        if source:
            some = source.read(step)
            os.write(ours, some)
        else:
            some = os.read(ours, step)
        if not some:
            os.close(ours)
            ours = None
    status = child.wait()
    for line in drawn.decode().replace("\r\n", "\n").split("\r"):
        if line:
            print(line.replace("\033[K", "$"))
    print("status", status)


if __name__ == "__main__":
    sys.exit(main())
