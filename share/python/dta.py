# SPDX-License-Identifier: BSD-2-Clause
"""The memory of direct telemetry collectors: libdta(3) for Python, by ctypes.

    import dta

    fabric = dta.open("fabric")               # a region
    flows = fabric["flows"]                   # a table, by name or id
    for a in flows.ask(["10.0.0.1:443>10.0.0.2:5501/tcp"]):
        print(a.key, a.answer, a.text)
    flows.ask(keys).frame()                   # of pandas
    flows.array()["value"]                    # of numpy, over the mapped memory
    flows.frame()                             # what is in it
    for entry in fabric["events"].list(3):    # what list 3 has; again: what is new
        print(entry.index, entry.text)
    dta.counters()                            # of programs that run

Options of open() are those of dta_set(3): dta.open(snapshot=["a.snap"],
epoch="2-", policy="unique"). A region stays open as long as anything of it is
in use: tables, lists, arrays; or to the end of a with statement, but for arrays.
Threads take turns at what one open() gave; a process of its own opens for itself.
What fails raises dta.Error, an OSError. numpy and pandas are needed by what
returns theirs, and by nothing else.
"""
import ctypes
import errno
import os
import sys
import threading
import weakref
from collections import namedtuple

__all__ = ["open", "counters", "version", "Error", "Source", "Table", "Answers",
           "Answer", "List", "Entry", "Counter"]

_FOUND = ("found", "not_found", "ambiguous", "unreadable")
_ALL = 2**64 - 1

Counter = namedtuple("Counter", "program release region input output stage unit "
                     "name role value pid level")
Answer = namedtuple("Answer", "key answer value text agreed matched copies valid "
                    "holes epoch source")
Entry = namedtuple("Entry", "index value text epoch")


class Error(OSError):
    """What a call of the library says."""


class _Dta(ctypes.c_void_p):
    """A struct dta, which is closed when nothing refers to it any more."""


class _Answer(ctypes.Structure):  # struct dta_answer
    _fields_ = [(name, ctypes.c_uint8) for name in (
        "found", "agreed", "matched", "copies", "valid", "hops", "holes",
        "unreadable")] + [("source", ctypes.c_uint32),
                          ("reserved", ctypes.c_uint32),
                          ("epoch", ctypes.c_uint64)]


class _Counter(ctypes.Structure):  # struct dta_counter
    _fields_ = [(name, ctypes.c_char_p) for name in Counter._fields[:9]] + [
        ("value", ctypes.c_uint64), ("pid", ctypes.c_uint32),
        ("level", ctypes.c_uint32)]


_EACH = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_Counter))
_p, _s, _u = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64
_i, _n, _z = ctypes.c_int, ctypes.c_uint32, ctypes.c_size_t
_lib = ctypes.CDLL("libdta.so.1")
for _name, _returns, _takes in (
        ("version", _s, ()), ("new", _p, ()), ("set", _i, (_p, _s, _s)),
        ("open", _i, (_p,)), ("close", None, (_p,)), ("error", _s, (_p,)),
        ("epochs", _i, (_p, _p, _p)), ("source", _s, (_p, _n)),
        ("tables", ctypes.c_uint, (_p,)), ("table", _p, (_p, ctypes.c_uint)),
        ("table_find", _p, (_p, _s)), ("table_number", _u, (_p, _s)),
        ("table_text", _s, (_p, _s)),
        ("table_part", _s, (_p, ctypes.c_uint, _p, _p, _p)),
        ("map", _p, (_p, _p, _u)), ("read", _i, (_p, _p, _u, _u, _p, _z)),
        ("key", _i, (_p, _p, _s, _p)), ("value_text", None, (_p, _p, _p, _z)),
        ("ask", ctypes.c_int64, (_p, _p, _p, _z, _p, _z, _p)),
        ("list_count", _i, (_p, _p, _u, _n, _p, _p)),
        ("list_read", ctypes.c_int64, (_p, _p, _u, _n, _p, _p, _z, _p)),
        ("counters", _i, (_s, _EACH, _p))):
    _call = getattr(_lib, "dta_" + _name)
    _call.restype, _call.argtypes = _returns, _takes


def version():
    return _lib.dta_version().decode()


def open(region=None, **options):
    """What is asked, by options of dta_set(3); snapshot may be several."""
    return Source(region=region, **options)


def counters(directory=None):
    """A Counter for each of every program that runs."""
    rows = []

    def each(_, c):
        c = c.contents
        rows.append(Counter(*(
            v.decode() if isinstance(v, bytes) else v
            for v in (getattr(c, name) for name in Counter._fields))))

    directory = directory or os.environ.get("DTA_LEDGERS")
    rc = _lib.dta_counters(directory and os.fsencode(directory), _EACH(each), None)
    if rc < 0:
        raise Error(-rc, os.strerror(-rc))
    return rows


class Source:
    """A region, snapshots, or a cluster: its tables by name or id."""

    def __init__(self, **options):
        self._lock = threading.Lock()  # which pickle and copy refuse, too
        self._open = _Dta(_lib.dta_new())
        if not self._open:
            raise MemoryError
        # Not at exit: what others do then may need an array.
        weakref.finalize(self._open, _lib.dta_close,
                         self._open.value).atexit = False
        for name, value in options.items():
            if value is None:
                continue
            for one in value if isinstance(value, (list, tuple)) else [value]:
                self.set(name, one)
        self._call(_lib.dta_open)
        self.tables = [_lib.dta_table_text(_lib.dta_table(self._d, i),
                                           b"name").decode()
                       for i in range(_lib.dta_tables(self._d))]

    def close(self):
        """Its tables and lists end with it; arrays over its memory stay."""
        self._open = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def _d(self):
        if self._open is None:
            raise Error(errno.EBADF, "closed")
        return self._open

    def _call(self, function, *takes):
        with self._lock:
            rc = function(self._d, *takes)
            if rc is None or rc < 0:
                raise Error(-rc if rc else errno.ENOENT,
                            _lib.dta_error(self._d).decode())
        return rc

    def set(self, option, value):
        """copies, policy or partial, from now on."""
        if isinstance(value, bool):
            value = "yes" if value else "no"
        self._call(_lib.dta_set, option.encode(), os.fsencode(str(value)))

    def __getitem__(self, name):
        return Table(self, self._call(_lib.dta_table_find, str(name).encode()))

    def __iter__(self):
        return (self[name] for name in self.tables)

    def __contains__(self, name):
        return str(name) in self.tables

    @property
    def epochs(self):
        """The oldest and the newest one."""
        oldest, newest = _u(), _u()
        self._call(_lib.dta_epochs, ctypes.byref(oldest), ctypes.byref(newest))
        return oldest.value, newest.value

    def _name(self, source):
        name = _lib.dta_source(self._d, source)
        return name and os.fsdecode(name)


class Table:
    """A table. id, copies, hops, units, lists, batch, stride, length, heads and
    key_len, value_len are its numbers; name, kind, key, hash, show its texts."""

    def __init__(self, source, t):
        self.source, self._at = source, t
        for name in ("id", "copies", "hops", "units", "lists", "batch", "stride",
                     "length", "heads"):
            setattr(self, name, _lib.dta_table_number(t, name.encode()))
        self.key_len = _lib.dta_table_number(t, b"key")
        self.value_len = _lib.dta_table_number(t, b"value")
        self._answer_len = _lib.dta_table_number(t, b"answer")
        for name in ("name", "kind", "key", "hash", "show"):
            setattr(self, name, _lib.dta_table_text(t, name.encode()).decode())

    @property
    def _t(self):
        return self.source._d and self._at

    def key_bytes(self, text):
        room = ctypes.create_string_buffer(self.key_len)
        self.source._call(_lib.dta_key, self._t, text.encode(), room)
        return room.raw

    def text(self, value):
        """A value or entry, bytes, as dta-query shows it."""
        value = memoryview(value).tobytes()
        if len(value) != self.value_len:
            raise ValueError("values of table %s have %d bytes"
                             % (self.name, self.value_len))
        room = ctypes.create_string_buffer(16384)
        _lib.dta_value_text(self._t, value, room, len(room))
        return room.value.decode()

    def ask(self, keys):
        """Answers to keys: texts, numbers, or their bytes, one by one; or their
        bytes all in one, which an array of uint8, S or V is, too."""
        names = None
        dtype = getattr(keys, "dtype", None)
        if getattr(dtype, "kind", "V") not in "SV" and dtype != "u1":
            keys = keys.tolist()  # of numpy or pandas: texts or numbers
        if not hasattr(keys, "__array_interface__") and not isinstance(
                keys, (bytes, bytearray, memoryview)):
            names = list(keys)
            keys = b"".join(
                bytes(k) if isinstance(k, (bytes, bytearray, memoryview))
                else self.key_bytes(str(k)) for k in names)
        view = memoryview(keys).cast("B")
        n = len(view) // self.key_len
        if n * self.key_len != len(view) or (names and n != len(names)):
            raise ValueError("table %s has keys of %d bytes"
                             % (self.name, self.key_len))
        answers = (_Answer * n)()
        values = ctypes.create_string_buffer(max(n * self._answer_len, 1))
        data = bytes(view) if view.readonly else (ctypes.c_char * len(
            view)).from_buffer(view)
        self.source._call(_lib.dta_ask, self._t, data, n, answers,
                          ctypes.sizeof(_Answer), values)
        return Answers(self, names, view, answers, values)

    def list(self, number, last=_ALL):
        """A cursor before the newest entries of a list: last of them, or all."""
        return List(self, number, last)

    def _parts(self):
        i, kind, at, length = 0, _s(), _z(), _z()
        while name := _lib.dta_table_part(
                self._t, i, ctypes.byref(kind), ctypes.byref(at),
                ctypes.byref(length)):
            yield name.decode(), kind.value.decode(), at.value, length.value
            i += 1

    def value_type(self):
        """The dtype of numpy of a value, or of an entry."""
        import numpy

        if self.kind == "postcard":
            return numpy.dtype((numpy.uint32, (self.hops,)))
        if self.kind == "keyinc":
            return numpy.dtype(numpy.uint64)
        names, types, offsets = [], [], []
        for name, kind, at, length in self._parts():
            bits = kind.strip("us")
            if kind == "text":
                kind = "S%d" % length
            elif bits.isdigit() and kind[-1] == "s":
                kind = (">u%d" % (int(bits) // 8), (length * 8 // int(bits),))
            elif bits.isdigit():
                kind = ">u%d" % (int(bits) // 8)
            else:
                kind = "V%d" % length
            names.append(name)
            types.append(kind)
            offsets.append(at)
        # The published system swaps the words of entries.
        if self.kind == "append" and self.hash == "dta0":
            return numpy.dtype("V%d" % self.value_len)
        if names == ["value"]:
            return numpy.dtype(types[0])
        return numpy.dtype({"names": names, "formats": types, "offsets": offsets,
                            "itemsize": self.value_len})

    def unit_type(self):
        """The dtype of a slot, chunk, counter or entry as it lies in memory
        (dta-region(5)). Hops of a chunk are hidden by the key's checksums."""
        import numpy

        if self.kind == "keyinc":
            return numpy.dtype(numpy.uint64)
        if self.kind == "postcard":
            fields = {"hop": ((">u4", (self.hops,)), 0)}
        elif self.kind == "append":
            fields = {"value": (self.value_type(), 0)}
        else:
            fields = {"sum": ("<u4" if self.hash == "dta0" else ">u4", 0),
                      "value": (self.value_type(), 4)}
        return numpy.dtype({
            "names": list(fields), "itemsize": self.stride,
            "formats": [f[0] for f in fields.values()],
            "offsets": [f[1] for f in fields.values()]})

    def _of_epoch(self, function, *takes):
        """None: there is no such epoch."""
        try:
            return self.source._call(function, self._t, *takes)
        except Error as e:
            if e.errno != errno.ENOENT:
                raise

    def _bytes(self, epoch):
        try:
            memory = (ctypes.c_ubyte * self.length).from_address(
                self.source._call(_lib.dta_map, self._t, epoch))
            memory.source = self.source._d  # stays open as long
        except Error:
            memory = bytearray(self.length)  # of a snapshot: a copy
            self.source._call(
                _lib.dta_read, self._t, epoch, 0,
                (ctypes.c_ubyte * self.length).from_buffer(memory), self.length)
        return memory

    def array(self, epoch=0):
        """The table in an epoch (0: the newest): slots, chunks, counters, or
        [list][place of a ring], as they lie in memory: a view of a region, which
        others write meanwhile, read only; a copy of a snapshot. After a rotation
        the same memory is another epoch's: copy() what is to stay."""
        import numpy

        a = numpy.frombuffer(self._bytes(epoch), self.unit_type(),
                             self.units * max(self.lists, 1))
        a.flags.writeable = False
        return a.reshape(self.lists, self.units) if self.lists else a

    def counts(self, epoch=0):
        """Of each list: entries ever written, as array()."""
        import numpy

        a = numpy.frombuffer(self._bytes(epoch), ">u8", self.lists, self.heads)
        a.flags.writeable = False
        return a

    def frame(self, epoch=0):
        """A DataFrame of pandas of what is in the table in an epoch (0: the
        newest): slots, chunks or counters that are not zero, by their numbers,
        as array(); of lists: what there is now, of all epochs."""
        pandas = _pandas()
        if self.lists:
            return pandas.concat({i: self.list(i).frame() for i in range(
                self.lists)}, names=["list"]).reset_index("list")
        a = self.array(epoch)
        used = a.view("u1").reshape(len(a), -1).any(axis=1).nonzero()[0]
        return pandas.DataFrame(_columns(a[used])).set_index(used)


def _pandas():
    try:
        import pandas
    except ImportError as e:
        raise ImportError("frame() needs the package pandas (of Debian: "
                          "python3-pandas)", name="pandas") from e
    return pandas


def _columns(values, lengths=None):
    """A Series of pandas for each part of an array of values; arrays in it are cut
    to their lengths."""
    columns = {}
    for name in values.dtype.names or ["value"]:
        column = values[name] if values.dtype.names else values
        if column.dtype.names:
            columns.update(_columns(column))
            continue
        kind = object
        if column.ndim > 1:
            column = [v[:n].tolist() for v, n in zip(
                column, [None] * len(column) if lengths is None else lengths)]
        elif column.dtype.kind == "u":
            column = column.astype(column.dtype.newbyteorder("="))
            kind = column.dtype.name.replace("u", "U").replace("i", "I")
        else:
            column = [v.tobytes() for v in column]
        columns[name] = _pandas().Series(column, dtype=kind)
    return columns


class Answers:
    """Answers in the order of keys: a sequence of Answer."""

    def __init__(self, table, names, keys, answers, values):
        self.table, self._names, self._keys = table, names, keys
        self._answers, self._values = answers, values

    def __len__(self):
        return len(self._answers)

    def __getitem__(self, i):
        i = range(len(self))[i]
        t, a = self.table, self._answers[i]
        key = self._names[i] if self._names else bytes(
            self._keys[i * t.key_len:(i + 1) * t.key_len])
        value, text = None, ""
        if a.found == 0:
            size = t._answer_len
            value = self._values[i * size:(i + 1) * size]
            if t.kind == "keyinc":
                value = int.from_bytes(value, sys.byteorder)
                text = str(value)
            elif t.kind == "postcard":
                value = tuple(memoryview(value).cast("I"))[:a.hops]
                text = ",".join("-" if a.holes >> h & 1 else str(v)
                                for h, v in enumerate(value))
            else:
                text = t.text(value)
        return Answer(key, _FOUND[a.found], value, text, a.agreed, a.matched,
                      a.copies, a.valid,
                      [h for h in range(a.hops) if a.holes >> h & 1],
                      a.epoch or None, t.source._name(a.source))

    def array(self):
        """Fields found, agreed, matched, copies, valid, hops, holes, unreadable,
        source, epoch of struct dta_answer, as an array of numpy."""
        import numpy

        return numpy.frombuffer(self._answers, numpy.dtype(_Answer), len(self))

    def values(self):
        """The values as an array of numpy: zero where nothing was found."""
        import numpy

        return numpy.frombuffer(self._values, self.table.value_type(), len(self))

    def frame(self):
        """A DataFrame of pandas, a column for each part of the value, which is
        NA where nothing was found."""
        pandas, a = _pandas(), self.array()
        columns = {} if self._names is None else {"key": self._names}
        columns["answer"] = pandas.Categorical.from_codes(a["found"], _FOUND)
        for name, column in _columns(self.values(), a["hops"] if (
                self.table.kind == "postcard") else None).items():
            columns[name] = column.where(a["found"] == 0, pandas.NA)
        for name in ("agreed", "matched", "copies", "epoch"):
            columns[name] = a[name]
        return pandas.DataFrame(columns)


class List:
    """A place in a list. Iteration gives what there is now; again, what is new.
    lost: entries that were overwritten before they were read. Epochs before the
    newest are looked at, too, as a writer may still be in one."""

    def __init__(self, table, number, last):
        self.table, self.number, self.lost = table, number, 0
        self._index = {}  # of the next entry, by epoch
        oldest, self._newest = table.source.epochs
        for epoch in range(self._newest, oldest - 1, -1):
            first, count = _u(), _u()
            if table._of_epoch(_lib.dta_list_count, epoch, number,
                               ctypes.byref(first), ctypes.byref(count)) is None:
                continue
            have = min(count.value - first.value, last)
            self._index[epoch] = 0 if last == _ALL else count.value - have
            last -= have if last != _ALL else 0

    def _epochs(self):
        oldest, newest = self.table.source.epochs
        before, self._newest = self._newest, max(self._newest, newest)
        if oldest > before + 1:
            raise Error(errno.ESTALE, f"epochs {before + 1} to {oldest - 1} went "
                        "by unread")
        self._index = {e: self._index.get(e, 0) for e in range(oldest, newest + 1)}
        return self._index

    def read(self, most=4096):
        """The next entries, of one epoch: index of the first, epoch, and their
        bytes; None: there are none yet."""
        t, room = self.table, ctypes.create_string_buffer(
            most * self.table.value_len)
        for epoch, index in self._epochs().items():
            lost, at, n = _u(1), _u(index), 0
            while not n and lost.value:
                lost.value = 0
                try:
                    n = t._of_epoch(_lib.dta_list_read, epoch, self.number,
                                    ctypes.byref(at), room, most,
                                    ctypes.byref(lost))
                finally:  # a damaged block raises, and is behind us then
                    self.lost += lost.value
                    self._index[epoch] = at.value
            if n:
                return at.value - n, epoch, room.raw[:n * t.value_len]
        return None

    def __iter__(self):
        size = self.table.value_len
        while block := self.read():
            index, epoch, data = block
            for i in range(len(data) // size):
                value = data[i * size:(i + 1) * size]
                yield Entry(index + i, value, self.table.text(value), epoch)

    def array(self):
        """What there is now, or is new, as an array of numpy."""
        import numpy

        blocks = iter(self.read, None)
        return numpy.frombuffer(b"".join(block[2] for block in blocks),
                                self.table.value_type())

    def frame(self):
        """The same as a DataFrame of pandas: index, epoch, and a column for each
        part of an entry."""
        pandas, size = _pandas(), self.table.value_len
        import numpy

        blocks = [(first, epoch, data, len(data) // size)
                  for first, epoch, data in iter(self.read, None)]
        values = numpy.frombuffer(b"".join(b[2] for b in blocks),
                                  self.table.value_type())
        return pandas.DataFrame({
            "index": numpy.fromiter((i for b in blocks for i in range(
                b[0], b[0] + b[3])), "u8"),
            "epoch": numpy.fromiter((b[1] for b in blocks for _ in range(b[3])),
                                    "u8"), **_columns(values)})
