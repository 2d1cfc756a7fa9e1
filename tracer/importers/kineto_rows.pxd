# cython: language_level=3
from libc.stdint cimport int64_t

#: what an event is; of the first kind, nothing is needed but the number of events
cdef enum Kind:
    COUNTED
    KERNEL
    COPY
    CALL
    OP
    FRAME

#: an event that gets a row. Names, shapes and threads are numbers; what goes into columns has eight bytes
cdef struct Row:
    Kind kind
    int group
    int64_t thread
    int64_t name
    double start
    double end
    double duration
    int64_t external
    int64_t correlation
    int64_t device
    int64_t stream
    int64_t launched
    int64_t shape


cdef class PlainEvents:
    cdef readonly list categories
    cdef readonly bint passed_over
    cdef Py_ssize_t events, count, room
    cdef Row *rows

    cdef Row *next_row(self) except NULL
