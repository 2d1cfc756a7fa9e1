# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Rows of plain events, compiled: what `kineto_scan` reads of one list of events in, columns of numbers out."""

from cpython cimport array
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from libc.stdint cimport int64_t
from libc.string cimport memcpy

cdef array.array LONGS = array.array("q"), DOUBLES = array.array("d")

#: rows that go into the same columns: all kernels, copies or calls, or the operators or functions of a thread
cdef struct Group:
    Kind kind
    int64_t thread
    Py_ssize_t count
    Py_ssize_t first
    Py_ssize_t next
    double last
    bint ascending


cdef class PlainEvents:
    """The events of one list, of which `columns` makes something.

    Attributes:
        categories: [(a category's number, how many events of it)].
        passed_over: whether Python functions were left out because they are too short.
    """

    def __len__(self):
        return self.events

    def __dealloc__(self):
        PyMem_Free(self.rows)

    cdef Row *next_row(self) except NULL:
        """Room for a row, which is one once it is counted."""
        cdef Row *rows
        cdef Py_ssize_t room = 2 * (self.room + 64)
        if self.count == self.room:
            rows = <Row *>PyMem_Realloc(self.rows, room * sizeof(Row))
            if rows is NULL:
                raise MemoryError
            self.rows, self.room = rows, room
        return &self.rows[self.count]


cdef class _Grouped:
    """Rows of several lists, by what columns they go into."""

    cdef list batches
    cdef dict numbers
    cdef Group *groups
    cdef Row **rows
    cdef int count, room, last

    def __init__(self, list batches not None):
        cdef PlainEvents batch
        cdef Py_ssize_t place, first = 0
        cdef Row *row
        cdef Group *group
        cdef int which
        self.batches, self.numbers = batches, {}
        for batch in batches:
            for place in range(batch.count):
                row = &batch.rows[place]
                row.group = self.group_of(row.kind, row.thread if row.kind >= OP else 0)
                group = &self.groups[row.group]
                group.ascending = group.ascending and (not group.count or group.last <= row.start)
                group.last = row.start
                group.count += 1
        for which in range(self.count):
            self.groups[which].first = self.groups[which].next = first
            first += self.groups[which].count
        self.rows = <Row **>PyMem_Malloc(max(first, 1) * sizeof(Row *))
        if self.rows is NULL:
            raise MemoryError
        for batch in batches:
            for place in range(batch.count):
                row = &batch.rows[place]
                group = &self.groups[row.group]
                self.rows[group.next] = row
                group.next += 1

    def __dealloc__(self):
        PyMem_Free(self.groups)
        PyMem_Free(self.rows)

    cdef int group_of(self, Kind kind, int64_t thread) except -1:
        """The group of a kind and thread, which is made where there is none; likely the last one that was asked for."""
        cdef Group *groups
        cdef int last = self.last
        if self.count and self.groups[last].kind == kind and self.groups[last].thread == thread:
            return last
        key = (kind, thread)
        known = self.numbers.get(key)
        if known is not None:
            self.last = known
            return self.last
        if self.count == self.room:
            groups = <Group *>PyMem_Realloc(self.groups, 2 * (self.room + 4) * sizeof(Group))
            if groups is NULL:
                raise MemoryError
            self.groups, self.room = groups, 2 * (self.room + 4)
        self.groups[self.count] = Group(kind=kind, thread=thread, count=0, first=0, next=0, last=0.0, ascending=True)
        self.numbers[key] = self.last = self.count
        self.count += 1
        return self.last

    cdef array.array column(self, int which, array.array alike, size_t offset):
        """What stands at an offset of the rows of a group, in an array like another one."""
        cdef Group *group = &self.groups[which]
        cdef array.array column = array.clone(alike, group.count, False)
        cdef char *into = column.data.as_chars
        cdef Py_ssize_t place
        for place in range(group.first, group.first + group.count):
            memcpy(into, <char *>self.rows[place] + offset, sizeof(int64_t))
            into += sizeof(int64_t)
        return column


def columns(list batches not None):
    """The rows of some lists of events, in their order.

    Returns:
        Kernels, copies, calls, spans. The first three are None or tuples of columns: name, start, duration, external
        id, correlation id, device, stream, shape; device, start, duration; name, start, duration, external id,
        correlation id, thread, kernel or -1, shape. Spans are tuples of (kind, whether starts ascend, thread, start,
        end, name, external ids of operators). Times are as the events state them.
    """
    cdef _Grouped rows = _Grouped(batches)
    cdef Group *group
    cdef Row row
    cdef char *base = <char *>&row
    cdef int which
    kernels = copies = calls = None
    spans = []
    for which in range(rows.count):
        group = &rows.groups[which]
        start = rows.column(which, DOUBLES, <char *>&row.start - base)
        if group.kind == COPY:
            device = rows.column(which, LONGS, <char *>&row.device - base)
            copies = device, start, rows.column(which, DOUBLES, <char *>&row.duration - base)
            continue
        name = rows.column(which, LONGS, <char *>&row.name - base)
        external = rows.column(which, LONGS, <char *>&row.external - base)
        if group.kind >= OP:
            kind, extra = ("op", external) if group.kind == OP else ("frame", array.clone(LONGS, 0, False))
            end = rows.column(which, DOUBLES, <char *>&row.end - base)
            spans.append((kind, group.ascending, group.thread, start, end, name, extra))
            continue
        duration = rows.column(which, DOUBLES, <char *>&row.duration - base)
        correlation = rows.column(which, LONGS, <char *>&row.correlation - base)
        shape = rows.column(which, LONGS, <char *>&row.shape - base)
        if group.kind == KERNEL:
            device = rows.column(which, LONGS, <char *>&row.device - base)
            stream = rows.column(which, LONGS, <char *>&row.stream - base)
            kernels = name, start, duration, external, correlation, device, stream, shape
        else:
            thread = rows.column(which, LONGS, <char *>&row.thread - base)
            launched = rows.column(which, LONGS, <char *>&row.launched - base)
            calls = name, start, duration, external, correlation, thread, launched, shape
    return kernels, copies, calls, spans
