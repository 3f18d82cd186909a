#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""frames.py PCAP LOCAL REMOTE [ANSWERS]

Plays the switch of a guest: sends the frames of a capture to the Unix datagram
socket REMOTE, from LOCAL, and receives RoCEv2 answers there. With ANSWERS it
waits for so many, at most 20 seconds; then prints their opcodes and syndromes,
a line "COUNT OPCODE SYNDROME" for each run of equal ones.
"""
import os
import socket
import struct
import sys
import time


def frames(path):
    with open(path, "rb") as f:
        data = f.read()
    at = 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16:at + 16 + length]
        at += 16 + length


def answer(frame):
    """Opcode and syndrome of an IPv4 or IPv6 RoCEv2 answer, or None."""
    ip = 14
    if frame[12:14] == b"\x08\x00":
        udp = ip + 20
        is_udp = frame[ip + 9] == 17
    else:
        udp = ip + 40
        is_udp = frame[12:14] == b"\x86\xdd" and frame[ip + 6] == 17
    if not is_udp or frame[udp + 2:udp + 4] != struct.pack(">H", 4791):
        return None
    bth = udp + 8
    return frame[bth], frame[bth + 12]


def main():
    pcap, local, remote = map(os.path.abspath, sys.argv[1:4])
    wanted = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    # The paths of sockets must be short.
    os.chdir(os.path.dirname(local))
    local, remote = os.path.basename(local), os.path.basename(remote)
    if os.path.exists(local):
        os.unlink(local)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.bind(local)
    s.setblocking(False)
    got = []

    def take():
        try:
            while True:
                a = answer(s.recv(9000))
                if a:
                    got.append(a)
        except BlockingIOError:
            pass

    for f in frames(pcap):
        while True:
            try:
                s.sendto(f, remote)
                break
            except BlockingIOError:
                take()
                time.sleep(0.001)
        take()
    end = time.monotonic() + 60
    while len(got) < wanted and time.monotonic() < end:
        time.sleep(0.005)
        take()
    os.unlink(local)
    runs = []
    for a in got:
        if runs and runs[-1][1] == a:
            runs[-1][0] += 1
        else:
            runs.append([1, a])
    for n, (opcode, syndrome) in runs:
        print(n, f"0x{opcode:02x} 0x{syndrome:02x}")


main()
