# SPDX-License-Identifier: BSD-2-Clause
"""roce.py - RoCEv2 frames made and read apart from the suite: the iCRC is
zlib's CRC-32 over what Annex A17 of InfiniBand says; captures; tickets; and a
switch that plays with a guest over Unix datagram sockets.
"""
import os
import re
import socket
import struct
import time
import zlib

RC_WRITE, RC_WRITE_IMM, RC_ADD = 0x0A, 0x0B, 0x14
UC_WRITE, UC_WRITE_IMM = 0x2A, 0x2B
ACK, ATOMIC_ACK = 0x11, 0x12
PORT = 4791


def icrc(ip_packet):
    """Of an IPv4 packet up to the iCRC."""
    p = bytearray(ip_packet)
    p[1] = p[8] = 0xFF                # TOS, TTL
    p[10:12] = p[26:28] = b"\xff\xff"  # the checksums
    p[32] = 0xFF                      # FECN, BECN, reserved
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(p)))


# A frame of a ConnectX-4 Lx.
_real = bytes.fromhex(
    "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a00120100"
    "0012b7002800008100ffff40000118000000000000000000000000000000000000000082"
    "fd002a")
assert icrc(_real[14:-4]) == _real[-4:]


def ip_sum(header):
    words = struct.unpack(f">{len(header) // 2}H", header)
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Ticket:
    """The fields of a ticket: t["ip"], t.tables["name"]["qpn"]."""

    def __init__(self, path):
        self.fields, self.tables = {}, {}
        into = self.fields
        with open(path, encoding="ascii") as f:
            for line in f:
                line = line.split(";")[0].strip()
                if line.startswith("[table "):
                    into = self.tables.setdefault(line[7:-1], {})
                elif "=" in line:
                    key, value = (x.strip() for x in line.split("=", 1))
                    number = re.fullmatch("0x[0-9a-f]+|[0-9]+", value)
                    into[key] = int(value, 0) if number else value

    def __getitem__(self, key):
        return self.fields[key]


def mac(text):
    return bytes(int(x, 16) for x in text.split(":"))


def frame(ticket, table, opcode, psn, offset=0, data=b"", **k):
    """
    A request to a table; psn counts from the ticket's. k bends any field:
    rkey, dlen, pad, qpn, pkey, tver, flags (SE, migreq, pad, TVer byte),
    resv6, resv7, ack, imm, operands, src, dst, src_mac, dst_mac, sport,
    dport, tos, ttl, frag, udp_sum, bad_icrc, tail, sum_off.
    """
    t = ticket.tables[table]
    va = (t["address"] + offset) & (2**64 - 1)
    atomic = opcode == RC_ADD
    rkey = k.get("rkey", t["rkey"])
    if atomic:
        ext = struct.pack(">QIQQ", va, rkey, *k["operands"])
        data = b""
    else:
        ext = struct.pack(">QII", va, rkey, k.get("dlen", len(data)))
    if opcode in (RC_WRITE_IMM, UC_WRITE_IMM):
        ext += struct.pack(">I", k.get("imm", 0))
    pad = k.get("pad", -len(data) & 3)
    body = ext + data + b"\0" * k.get("padding", pad)
    flags = k.get("se", 0) << 7 | k.get("migreq", 1) << 6 | pad << 4 | \
        k.get("tver", 0)
    bth = struct.pack(
        ">BBHII", opcode, flags, k.get("pkey", 0xFFFF),
        k.get("resv6", 0) << 24 | k.get("qpn", t["qpn"]),
        k.get("ack", 1) << 31 | k.get("resv7", 0) << 24 |
        (t["psn"] + psn) % 2**24)
    udp_len = 8 + len(bth) + len(body) + 4
    src = socket.inet_aton(k.get("src", ticket["peer_ip"]))
    dst = socket.inet_aton(k.get("dst", ticket["ip"]))
    udp = struct.pack(">HHHH", k.get("sport", 0xC0DE), k.get("dport", PORT),
                      udp_len, 0)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, k.get("tos", 0), 20 + udp_len,
                     k.get("ip_id", 0), k.get("frag", 0x4000),
                     k.get("ttl", 64), 17, 0, src, dst)
    ip = ip[:10] + struct.pack(">H", ip_sum(ip)) + ip[12:]
    sum_ = icrc(ip + udp + bth + body)
    if k.get("bad_icrc"):
        sum_ = bytes([sum_[0] ^ 1]) + sum_[1:]
    if k.get("udp_sum"):  # after the iCRC: that does not cover it
        pseudo = src + dst + struct.pack(">BBH", 0, 17, udp_len)
        text = pseudo + udp + bth + body + sum_
        udp = udp[:6] + struct.pack(
            ">H", ip_sum(text + b"\0" * (len(text) & 1)) or 0xFFFF)
    eth = mac(k.get("dst_mac", ticket["mac"])) + \
        mac(k.get("src_mac", ticket["peer_mac"])) + b"\x08\0"
    return eth + ip + udp + bth + body + sum_ + k.get("tail", b"")


class Answer:
    """opcode, qpn, psn, syndrome, msn, old (atomics) of an answer."""

    def __init__(self, f):
        bth = f[42:54]
        self.opcode = bth[0]
        self.qpn = struct.unpack(">I", bth[4:8])[0] & 0xFFFFFF
        self.psn = struct.unpack(">I", bth[8:12])[0] & 0xFFFFFF
        aeth = struct.unpack(">I", f[54:58])[0]
        self.syndrome, self.msn = aeth >> 24, aeth & 0xFFFFFF
        self.old = struct.unpack(">Q", f[58:66])[0] \
            if self.opcode == ATOMIC_ACK else None


def answer(f):
    """The answer in a frame, or None. Its iCRC must be right."""
    if f[12:14] != b"\x08\0" or f[14] != 0x45 or f[23] != 17 or \
            f[36:38] != struct.pack(">H", PORT) or \
            f[42] not in (ACK, ATOMIC_ACK):
        return None
    end = 14 + struct.unpack(">H", f[16:18])[0]
    if icrc(f[14:end - 4]) != f[end - 4:end]:
        raise ValueError("an answer with a wrong iCRC: " + f.hex())
    return Answer(f)


def write_pcap(path, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for x in frames:
            f.write(struct.pack("<IIII", 0, 0, len(x), len(x)) + x)


def read_pcap(path):
    with open(path, "rb") as f:
        data = f.read()
    nano, at = struct.unpack("<I", data[:4])[0], 24
    assert nano in (0xA1B2C3D4, 0xA1B23C4D), hex(nano)
    while at < len(data):
        n = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16:at + 16 + n]
        at += 16 + n


class Switch:
    """Sends to a guest's socket; keeps the answers that come."""

    def __init__(self, local, remote):
        # The paths of sockets must be short.
        os.chdir(os.path.dirname(local))
        self.local, self.remote = map(os.path.basename, (local, remote))
        if os.path.exists(self.local):
            os.unlink(self.local)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.local)
        self.socket.setblocking(False)
        self.answers = []

    def take(self):
        try:
            while True:
                a = answer(self.socket.recv(9000))
                if a:
                    self.answers.append(a)
        except BlockingIOError:
            pass

    def send(self, frames):
        for f in frames:
            while True:
                try:
                    self.socket.sendto(f, self.remote)
                    break
                except BlockingIOError:
                    self.take()
                    time.sleep(0.0005)
            self.take()

    def wait(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(0.002)
            self.take()
        return True

    def close(self):
        self.socket.close()
        os.unlink(self.local)
