# SPDX-License-Identifier: BSD-2-Clause
# plug.py INTERFACE LOCAL REMOTE: a guest's network card at an interface: frames
# that come there go to the Unix datagram socket REMOTE, what comes at LOCAL leaves
# by the interface. Ends on SIGTERM; says "plugged" when it is there.
import os
import select
import socket
import sys

ETH_P_ALL = 3
PACKET_OUTGOING = 4

name, local, remote = sys.argv[1:4]
os.chdir(os.path.dirname(local))  # the paths of sockets must be short
local, remote = os.path.basename(local), os.path.basename(remote)
card = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
card.bind(local)
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
wire.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE: lose none
wire.bind((name, 0))
print("plugged", flush=True)
while True:
    for s in select.select([wire, card], [], [])[0]:
        frame, sender = s.recvfrom(65536)
        if s is card:
            wire.send(frame)
        elif sender[2] != PACKET_OUTGOING:
            card.sendto(frame, remote)  # waits while the guest is busy
