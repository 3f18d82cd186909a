#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""terminal.py - what a command shows on a terminal of so many columns.

  terminal.py COLUMNS COMMAND...

stdout and stderr of the command are the terminal; stdin is ours. Prints what
comes, with plain line ends; the exit status is the command's.
"""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ,
            struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
child = subprocess.Popen(sys.argv[2:], stdout=theirs, stderr=theirs)
os.close(theirs)
held = b""
while True:
    try:
        some = os.read(ours, 65536)
    except OSError:  # EIO: nobody has it open any more
        break
    if not some:
        break
    shown = (held + some).replace(b"\r\n", b"\n")
    held = b"\r" if shown.endswith(b"\r") else b""
    sys.stdout.buffer.write(shown[:len(shown) - len(held)])
    sys.stdout.buffer.flush()
sys.stdout.buffer.write(held)
sys.stdout.buffer.flush()
sys.exit(child.wait())
