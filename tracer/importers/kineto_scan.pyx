# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Plain events of torch.profiler's JSON, compiled: the bytes of a list of events in, rows out.

A reader for the bulk of a trace, and for nothing else. Whatever it does not understand at first sight (a category that
is not known, a missing field, a value of another type, damage of any kind) makes it refuse the whole list, which the
typed decoder of `kineto_events` then reads. So no answer depends on this module, and nothing is repaired in it; where
it was not built, imports take longer.

A profiler writes all events of a kind alike: the text between one value and the next is the same from event to event.
That text is an event's layout. Layouts are kept as they are seen, and an event that has a known one is read by
comparing the text between its values and looking at nothing but these. Texts that occur again and again (names, launch
shapes) are not decoded here but numbered: tables of `kineto_plain` decode each distinct one once, and refuse what is
wrong.
"""

from cpython cimport array
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_GetItemWithError
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcmp, memcpy, memset

from tracer.importers.json_text cimport (
    Text, blanks, key_end, peek, plain_string_end, read_double, read_whole, unchecked_string_end, value_end,
)
from tracer.importers.kineto_rows cimport CALL, COPY, COUNTED, FRAME, KERNEL, OP, Kind, PlainEvents, Row

import msgspec

cdef enum:
    #: layouts that are kept, and how long and how rich each may be
    LAYOUTS = 32
    LAYOUT_BYTES = 2048
    SLOTS = 48
    #: characters of a launch shape
    SHAPE_BYTES = 256
    #: what it may cost to find out the layouts of a list's events: so much, and so much more an event; a list that
    #: costs more is refused, and so are some that come after it
    COST = 600
    COST_AN_EVENT = 4
    COST_OF_LEARNING = 8
    LISTS_OF_REST = 32

#: no time is so far away, whatever its unit
cdef double ENDLESS = 1e24

_KINDS = {"kernel": KERNEL, "copy": COPY, "call": CALL, "op": OP, "frame": FRAME}

#: what a value of an event is
cdef enum Field:
    # texts that stand for a number in a table
    NAME
    LAUNCHED
    GRID
    BLOCK
    LDS
    REGISTERS
    OCCUPANCY
    TEXTS  # how many these are
    # numbers
    START
    DURATION
    EXTERNAL
    CORRELATION
    DEVICE
    STREAM
    # the same in all events of a layout
    PHASE
    CATEGORY
    PROCESS
    THREAD
    ARGUMENTS
    # not needed: a string; a whole number or a string; anything; what events of the kind don't state
    STRING
    LANE
    OTHER
    ODD

_FIELDS = {
    b'"ph"': PHASE, b'"cat"': CATEGORY, b'"name"': NAME, b'"pid"': PROCESS, b'"tid"': THREAD, b'"ts"': START,
    b'"dur"': DURATION, b'"args"': ARGUMENTS,
}
_FIELDS_OF_OTHERS = {b'"ph"': PHASE, b'"cat"': CATEGORY}
_IDS = {b'"External id"': EXTERNAL, b'"correlation"': CORRELATION, b'"device"': LANE, b'"stream"': LANE}
_PLACE = {b'"device"': DEVICE, b'"stream"': STREAM}
_SHAPE = {b'"grid"': GRID, b'"block"': BLOCK, b'"shared memory"': LDS}
_RESOURCES = {b'"registers per thread"': REGISTERS, b'"est. achieved occupancy %"': OCCUPANCY}
_LAUNCHED = {b'"kernel"': LAUNCHED}
#: what the typed decoder reads of any event's arguments
_ANY = {**dict.fromkeys([*_SHAPE, *_RESOURCES, *_LAUNCHED], ODD), **_IDS}
#: by kind: what is read of an event's arguments
_ARGUMENTS = {
    COUNTED: _ANY,
    KERNEL: {**_ANY, **_PLACE, **_SHAPE, **_RESOURCES},
    COPY: {**_ANY, **_PLACE},
    CALL: {**_ANY, **_SHAPE, **_LAUNCHED},
    OP: _ANY,
    FRAME: _ANY,
}
#: by kind: what an event must state beside its phase
_NEEDED = {
    COUNTED: set(),
    KERNEL: {NAME, START, DURATION, DEVICE, STREAM},
    COPY: {START, DURATION, DEVICE},
    CALL: {NAME, START, DURATION, PROCESS, THREAD},
    OP: {NAME, START, DURATION, PROCESS, THREAD},
    FRAME: {NAME, START, DURATION, PROCESS, THREAD},
}

#: a piece of the text
cdef struct Piece:
    Py_ssize_t at
    Py_ssize_t length

#: the values of an event
cdef struct Event:
    Piece[TEXTS] text
    bint unchecked  # whether a string is not plain, so that decoding it may fail
    double start
    double duration
    int64_t external
    int64_t correlation
    int64_t device
    int64_t stream

#: the text of an event without its values: `length[i]` bytes stand before value i, and `length[slots]` behind the last
cdef struct Layout:
    Kind kind
    int category
    int64_t thread
    int slots
    Py_ssize_t size
    Field[SLOTS] field
    Py_ssize_t[SLOTS + 1] length
    unsigned char[LAYOUT_BYTES] literal
    int follower  # the layout of the event behind the last one of this layout


cdef inline Py_ssize_t read_time(Text *text, Py_ssize_t at, double *into) except -2:
    """A number that may be a time or a duration."""
    at = read_double(text, at, into)
    return -1 if at >= 0 and not -ENDLESS < into[0] < ENDLESS else at


cdef Py_ssize_t read_value(Text *text, Py_ssize_t at, Field field, Event *event) except -2:
    """One value of an event. Returns the place behind it, or -1."""
    cdef Py_ssize_t end
    cdef int64_t number
    if field == OTHER:
        return value_end(text, at)
    if field == START:
        return read_time(text, at, &event.start)
    if field == DURATION:
        return read_time(text, at, &event.duration)
    if field == EXTERNAL:
        return read_whole(text, at, &event.external)
    if field == CORRELATION:
        return read_whole(text, at, &event.correlation)
    if field == DEVICE:
        return read_whole(text, at, &event.device)
    if field == STREAM:
        return read_whole(text, at, &event.stream)
    if field == LANE and peek(text, at) != c'"':
        return read_whole(text, at, &number)
    if field == LANE or field == STRING:
        return plain_string_end(text, at + 1) if peek(text, at) == c'"' else -1
    if field == NAME or field == LAUNCHED:
        if peek(text, at) != c'"':
            return -1
        end = plain_string_end(text, at + 1)
        if end < 0:
            end = unchecked_string_end(text, at + 1)
            event.unchecked = True
    else:
        end = value_end(text, at)
    event.text[<int>field] = Piece(at=at, length=end - at)
    return end


_decoded = msgspec.json.Decoder(str).decode


cdef inline int64_t numbered(object table, bytes key) except? -1:
    """The number of a text in a table."""
    cdef PyObject *known = PyDict_GetItemWithError(table, key)
    return <object>known if known is not NULL else table[key]


class Refused(Exception):
    """A list of events is not read here."""


cdef class EventReader:
    """Reads lists of events.

    Args:
        complete: JSON of a category, b"" for none -> its number and kind ("kernel", "copy", "call", "op", "frame", or
            another, which is only counted), for complete events.
        others: JSON of a phase, and of a category where there is one -> the category's number, for others, which are
            only counted.
        tables: dictionaries that number names, names of calls (below 0: one that starts no work), shapes of kernels and
            of calls, and threads. Keys are JSON texts, joined by NUL; what is missing is numbered by asking for it,
            which raises an error where it is no such thing.
        missing: stands for an id that is not stated.
        shortest_us: Python functions shorter than this are counted and left out.
    """

    cdef dict _complete, _others
    cdef object _names, _calls, _kernel_shapes, _call_shapes, _threads
    cdef int64_t _missing
    cdef double _shortest_us
    #: behind the layouts, one for what is being looked at
    cdef Layout[LAYOUTS + 1] _layouts
    #: how many layouts are known, which the last event had, and which was learnt last
    cdef int _known, _last, _learnt
    cdef Py_ssize_t _cost
    cdef int _rest
    cdef array.array _seen

    def __init__(
        self, dict complete not None, dict others not None, tables, int64_t missing, double shortest_us
    ):
        self._complete = {
            category: (number, _KINDS.get(kind, COUNTED)) for category, (number, kind) in complete.items()
        }
        self._others = others
        self._names, self._calls, self._kernel_shapes, self._call_shapes, self._threads = tables
        self._missing, self._shortest_us = missing, shortest_us
        numbers = [number for number, _ in self._complete.values()] + list(others.values())
        self._seen = array.array("q", [0] * (max(numbers) + 1))

    def read(self, const unsigned char[::1] text not None):
        """The events of a JSON array, as `PlainEvents`; None where it holds anything unusual."""
        cdef Text whole
        cdef Event event
        cdef Py_ssize_t at
        cdef PlainEvents found = PlainEvents()
        whole.start, whole.end = &text[0] if text.shape[0] else NULL, text.shape[0]
        memset(self._seen.data.as_longlongs, 0, len(self._seen) * sizeof(int64_t))
        self._cost = 0
        at = blanks(&whole, 0)
        if self._rest or peek(&whole, at) != c'[':
            self._rest -= self._rest > 0
            return None
        at = blanks(&whole, at + 1)
        try:
            while True:
                at = self._event(&whole, at, &event)
                if at < 0:
                    return None
                found.events += 1
                if self._cost > COST + COST_AN_EVENT * found.events:
                    self._rest = LISTS_OF_REST
                    return None
                self._add(&whole, &event, found)
                at = blanks(&whole, at)
                if peek(&whole, at) != c',':
                    break
                at = blanks(&whole, at + 1)
        except (Refused, msgspec.MsgspecError, UnicodeError, OverflowError):
            return None
        if peek(&whole, at) != c']' or blanks(&whole, at + 1) != whole.end:
            return None
        found.categories = [(category, count) for category, count in enumerate(self._seen) if count]
        return found

    cdef Py_ssize_t _event(self, Text *text, Py_ssize_t at, Event *event) except -2:
        """Reads an event. Returns where it ends, or -1; then `_last` is its layout."""
        cdef Py_ssize_t end
        cdef int which, before = self._last
        if self._known:
            which = self._layouts[before].follower
            end = self._alike(text, at, event, &self._layouts[which])
            if end >= 0:
                self._last = which
                return end
            for which in range(self._known):
                self._cost += 1
                end = self._alike(text, at, event, &self._layouts[which])
                if end >= 0:
                    self._last = self._layouts[before].follower = which
                    return end
        self._cost += COST_OF_LEARNING
        end = self._unknown(text, at, event, &self._layouts[LAYOUTS])
        if end >= 0:
            which = self._learnt = self._known if self._known < LAYOUTS else (self._learnt + 1) % LAYOUTS
            self._layouts[which] = self._layouts[LAYOUTS]
            self._layouts[which].follower = which
            self._known = max(self._known, which + 1)
            self._last = self._layouts[before].follower = which
        return end

    cdef void _clear(self, Event *event) noexcept:
        """What an event is that states nothing."""
        cdef int field
        event.external = event.correlation = self._missing
        event.unchecked = False
        for field in range(<int>TEXTS):
            event.text[field].length = 0

    cdef Py_ssize_t _alike(self, Text *text, Py_ssize_t at, Event *event, Layout *layout) except -2:
        """Reads an event of a known layout. Returns where it ends, or -1."""
        cdef const unsigned char *literal = layout.literal
        cdef Py_ssize_t length = layout.length[0]
        cdef int slot
        if at + length > text.end or memcmp(text.start + at, literal, length):
            return -1
        self._clear(event)
        for slot in range(layout.slots):
            at = read_value(text, at + length, layout.field[slot], event)
            if at < 0:
                return -1
            literal += length
            length = layout.length[slot + 1]
            if at + length > text.end or memcmp(text.start + at, literal, length):
                return -1
        return at + length

    cdef Py_ssize_t _unknown(self, Text *text, Py_ssize_t at, Event *event, Layout *layout) except -2:
        """Reads an event key by key, and its layout. Returns where it ends, or -1."""
        cdef Py_ssize_t begin = at, end
        cdef unsigned char char
        cdef Field field
        cdef dict fields
        cdef bint in_arguments = False
        self._clear(event)
        top = self._values(text, at)
        if top is None or not self._settle(top, layout):
            return -1
        is_complete = top.get(b'"ph"') == b'"X"'
        fields = _FIELDS if is_complete else _FIELDS_OF_OTHERS
        seen = set()
        at = blanks(text, at + 1)
        while True:
            end = key_end(text, at)
            if end < 0:
                return -1
            key = self._key(text, at)
            field = fields.get(key, OTHER)
            at = end
            if field != OTHER:
                if field in seen:
                    return -1
                seen.add(field)
            if field == ODD:
                return -1
            if field == ARGUMENTS:
                if peek(text, at) != c'{':
                    return -1
                at = blanks(text, at + 1)
                if peek(text, at) != c'}':
                    in_arguments = True
                    fields = _ARGUMENTS[layout.kind]
                    continue
                at += 1
            elif PHASE <= field <= CATEGORY or (layout.kind >= CALL and PROCESS <= field <= THREAD):
                at = value_end(text, at)  # stays as it is
            else:
                if field == NAME and (layout.kind == COUNTED or layout.kind == COPY):
                    field = STRING
                elif PROCESS <= field <= THREAD:
                    field = LANE
                if layout.slots == SLOTS or not self._add_literal(text, begin, at, layout):
                    return -1
                layout.field[layout.slots] = field
                layout.slots += 1
                at = begin = read_value(text, at, field, event)
            if at < 0:
                return -1
            while True:
                at = blanks(text, at)
                char = peek(text, at)
                if char != c'}':
                    break
                at += 1
                if not in_arguments:
                    if is_complete and not seen >= _NEEDED[layout.kind]:
                        return -1
                    return at if self._add_literal(text, begin, at, layout) else -1
                in_arguments = False
                fields = _FIELDS  # arguments are read of complete events only
            if char != c',':
                return -1
            at = blanks(text, at + 1)

    cdef bytes _key(self, Text *text, Py_ssize_t at):
        """The key that begins at a place, with its quotes."""
        return PyBytes_FromStringAndSize(<const char *>text.start + at, plain_string_end(text, at + 1) - at)

    cdef dict _values(self, Text *text, Py_ssize_t at):
        """JSON of an object's keys and values; None where it is none, or a key stands there twice."""
        cdef Py_ssize_t end
        values = {}
        if peek(text, at) != c'{':
            return None
        at = blanks(text, at + 1)
        while True:
            end = key_end(text, at)
            if end < 0:
                return None
            key = self._key(text, at)
            at = end
            end = unchecked_string_end(text, at + 1) if peek(text, at) == c'"' else value_end(text, at)
            if end < 0 or key in values:
                return None
            values[key] = PyBytes_FromStringAndSize(<const char *>text.start + at, end - at)
            at = blanks(text, end)
            if peek(text, at) == c'}':
                return values
            if peek(text, at) != c',':
                return None
            at = blanks(text, at + 1)

    cdef bint _settle(self, dict values, Layout *layout) except -1:
        """What events of a layout are, given one of them; returns whether that is known."""
        layout.slots, layout.size, layout.thread = 0, 0, 0
        phase, category = values.get(b'"ph"'), values.get(b'"cat"', b"")
        if phase is None:
            return False
        if phase != b'"X"':
            number = self._others.get(phase + category)
            if number is None:
                return False
            layout.kind, layout.category = COUNTED, number
            return True
        known = self._complete.get(category)
        if known is None:
            return False
        layout.category, layout.kind = known
        if layout.kind >= CALL:
            lane = (values.get(b'"pid"', b"0"), values.get(b'"tid"', b"0"))
            layout.thread = numbered(self._threads, b"\0".join(lane))
        return True

    cdef bint _add_literal(self, Text *text, Py_ssize_t begin, Py_ssize_t end, Layout *layout) noexcept:
        """Adds the text before a value, or behind the last one, to a layout; returns whether there is room."""
        cdef Py_ssize_t length = end - begin
        if layout.size + length > LAYOUT_BYTES:
            return False
        memcpy(layout.literal + layout.size, text.start + begin, length)
        layout.size += length
        layout.length[layout.slots] = length
        return True

    cdef int _add(self, Text *text, Event *event, PlainEvents found) except -1:
        """Counts an event, and adds its row where it gets one."""
        cdef Layout *layout = &self._layouts[self._last]
        cdef Kind kind = layout.kind
        cdef Row *row
        self._seen.data.as_longlongs[layout.category] += 1
        if kind == COUNTED:
            return 0
        if kind == FRAME and event.duration < self._shortest_us:
            found.passed_over = True
            if event.unchecked:
                _decoded(self._text(text, &event.text[<int>NAME]))
            return 0
        row = found.next_row()
        if kind == CALL:
            row.launched = -1
            if event.text[<int>LAUNCHED].length:
                row.launched = self._number(text, &event.text[<int>LAUNCHED], self._names)
            row.shape = self._shape(text, event, LDS, self._call_shapes)
            row.name = self._number(text, &event.text[<int>NAME], self._calls)
            if row.name < 0:
                return 0
        elif kind != COPY:
            row.name = self._number(text, &event.text[<int>NAME], self._names)
            if kind == KERNEL:
                row.shape = self._shape(text, event, OCCUPANCY, self._kernel_shapes)
        row.kind, row.thread = kind, layout.thread
        row.start, row.duration, row.end = event.start, event.duration, event.start + event.duration
        row.external, row.correlation = event.external, event.correlation
        row.device, row.stream = event.device, event.stream
        found.count += 1
        return 0

    cdef bytes _text(self, Text *text, Piece *piece):
        return PyBytes_FromStringAndSize(<const char *>text.start + piece.at, piece.length)

    cdef int64_t _number(self, Text *text, Piece *piece, table) except? -1:
        return numbered(table, self._text(text, piece))

    cdef int64_t _shape(self, Text *text, Event *event, Field last, table) except? -1:
        """The number of a launch shape: what an event states from its grid to a last field."""
        cdef char[SHAPE_BYTES] key
        cdef Py_ssize_t length = 0
        cdef Piece *piece
        cdef int field
        for field in range(<int>GRID, <int>last + 1):
            piece = &event.text[field]
            if length + piece.length + 1 > SHAPE_BYTES:
                raise Refused
            if piece.length:
                memcpy(key + length, text.start + piece.at, piece.length)
            length += piece.length
            key[length] = 0
            length += 1
        return numbered(table, PyBytes_FromStringAndSize(key, length - 1))
