# SPDX-License-Identifier: BSD-2-Clause
# ask.py FRAME REASON NUMBER: of a report's frame, in hexadecimal, the same
# reporter's question.
import struct
import sys

import frame

f = bytes.fromhex(sys.argv[1])
reason, number = int(sys.argv[2]), int(sys.argv[3])
print(frame.with_payload(f, struct.pack('>BBBBHH', 0x1f, 0, 0, reason, 1, number)).hex())
