# cython: language_level=3, cdivision=True
"""JSON text, compiled: each function takes a place and gives the one behind what it read, or -1 for what it refuses.

What is accepted is JSON; not all JSON is accepted (keys are plain ASCII, numbers and nesting have limits). No function
looks behind the text's end: `peek` gives 0 there, which JSON does not hold.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    #ifndef KTRACE_JSON_TEXT
    #define KTRACE_JSON_TEXT

    #if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    #error "the first byte of a word is not its lowest: ktrace does without its compiled reader"
    #endif

    /* one byte of eight: each of them 1, each of them only its highest bit */
    #define KTRACE_ONES 0x0101010101010101ULL
    #define KTRACE_HIGHEST 0x8080808080808080ULL

    static inline uint64_t ktrace_eight(const unsigned char *from) {
        uint64_t word;
        memcpy(&word, from, 8);
        return word;
    }

    /* which of eight bytes is the first that is not a space; 8 for none */
    static inline int ktrace_spaces(const unsigned char *from) {
        uint64_t others = ktrace_eight(from) ^ (KTRACE_ONES * ' ');
        return others ? __builtin_ctzll(others) >> 3 : 8;
    }

    /* which of eight bytes is the first that ends or escapes something in a string, or is not printable ASCII; 8 for
       none. A byte behind the first one may be taken for one of these; that is of no matter. */
    static inline int ktrace_plain(const unsigned char *from) {
        uint64_t word = ktrace_eight(from);
        uint64_t quote = word ^ (KTRACE_ONES * '"'), backslash = word ^ (KTRACE_ONES * '\\\\');
        uint64_t odd = ((quote - KTRACE_ONES) & ~quote) | ((backslash - KTRACE_ONES) & ~backslash)
            | ((word - KTRACE_ONES * ' ') & ~word) | word;
        odd &= KTRACE_HIGHEST;
        return odd ? __builtin_ctzll(odd) >> 3 : 8;
    }

    /* up to it, whole numbers are exact in a double; so are these powers of ten */
    #define KTRACE_EXACT (1ULL << 53)
    static const double ktrace_powers[] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22
    };
    #endif
    """
    uint64_t KTRACE_EXACT
    const double[23] ktrace_powers
    int ktrace_spaces(const unsigned char *at) noexcept nogil
    int ktrace_plain(const unsigned char *at) noexcept nogil

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, PyObject *overflow) except? -1.0

cdef enum:
    #: characters of a number that is copied to be read; no profiler writes more
    NUMBER_BYTES = 64
    #: objects and lists that may stand in each other, one bit each
    DEPTH = 60

cdef struct Text:
    const unsigned char *start
    Py_ssize_t end


cdef inline unsigned char peek(Text *text, Py_ssize_t at) noexcept nogil:
    return text.start[at] if at < text.end else 0


cdef inline Py_ssize_t blanks(Text *text, Py_ssize_t at) noexcept nogil:
    """Behind white space, of which most is indentation. Refuses nothing."""
    cdef unsigned char char
    cdef int spaces
    while True:
        char = peek(text, at)
        if char != c' ' and char != c'\n' and char != c'\r' and char != c'\t':
            return at
        at += 1
        if char == c'\n':
            while at + 8 <= text.end:
                spaces = ktrace_spaces(text.start + at)
                at += spaces
                if spaces < 8:
                    break


# ---- strings; each begins behind its first quote

cdef inline Py_ssize_t plain_end(Text *text, Py_ssize_t at) noexcept nogil:
    """The next character that ends or escapes something, or is not printable ASCII. Refuses nothing."""
    cdef unsigned char char
    cdef int plain
    while at + 8 <= text.end:
        plain = ktrace_plain(text.start + at)
        at += plain
        if plain < 8:
            return at
    while True:
        char = peek(text, at)
        if char < c' ' or char == c'"' or char == c'\\' or char >= 128:
            return at
        at += 1


cdef inline Py_ssize_t plain_string_end(Text *text, Py_ssize_t at) noexcept nogil:
    """Behind a string of printable ASCII without escapes."""
    at = plain_end(text, at)
    return at + 1 if peek(text, at) == c'"' else -1


cdef inline Py_ssize_t escape_end(Text *text, Py_ssize_t at) noexcept nogil:
    """Behind an escape; `at` is behind its backslash. Refuses halves of surrogate pairs, and so whole ones too."""
    cdef unsigned char char = peek(text, at), digit
    cdef int number
    if char == c'u':
        if peek(text, at + 1) | 32 == c'd' and peek(text, at + 2) >= c'8':
            return -1
        for number in range(1, 5):
            digit = peek(text, at + number)
            if not (c'0' <= digit <= c'9' or c'a' <= (digit | 32) <= c'f'):
                return -1
        return at + 5
    if (char == c'"' or char == c'\\' or char == c'/' or char == c'b' or char == c'f' or char == c'n' or char == c'r'
            or char == c't'):
        return at + 1
    return -1


cdef inline Py_ssize_t string_end(Text *text, Py_ssize_t at) noexcept nogil:
    """Behind a string of printable ASCII."""
    while True:
        at = plain_end(text, at)
        if peek(text, at) == c'"':
            return at + 1
        at = escape_end(text, at + 1) if peek(text, at) == c'\\' else -1
        if at < 0:
            return -1


cdef inline Py_ssize_t unchecked_string_end(Text *text, Py_ssize_t at) noexcept nogil:
    """Behind any string; whoever decodes it sees whether its escapes and other characters are right."""
    cdef unsigned char char
    while True:
        at = plain_end(text, at)
        char = peek(text, at)
        if char == c'"':
            return at + 1
        if char < c' ':
            return -1
        at += 2 if char == c'\\' else 1


cdef inline Py_ssize_t key_end(Text *text, Py_ssize_t at) noexcept nogil:
    """Behind a key of plain ASCII, its colon, and the blanks that follow; `at` is at its first quote."""
    if peek(text, at) != c'"':
        return -1
    at = plain_string_end(text, at + 1)
    if at < 0:
        return -1
    at = blanks(text, at)
    return blanks(text, at + 1) if peek(text, at) == c':' else -1


# ---- numbers

cdef inline bint is_digit(unsigned char char) noexcept nogil:
    return c'0' <= char <= c'9'


cdef inline Py_ssize_t digits_end(Text *text, Py_ssize_t at) noexcept nogil:
    """Behind one or more digits."""
    if not is_digit(peek(text, at)):
        return -1
    while is_digit(peek(text, at)):
        at += 1
    return at


cdef inline Py_ssize_t number_end(Text *text, Py_ssize_t at) noexcept nogil:
    """Behind a number."""
    if peek(text, at) == c'-':
        at += 1
    at = at + 1 if peek(text, at) == c'0' else digits_end(text, at)
    if at >= 0 and peek(text, at) == c'.':
        at = digits_end(text, at + 1)
    if at >= 0 and peek(text, at) | 32 == c'e':
        at += 1
        if peek(text, at) == c'+' or peek(text, at) == c'-':
            at += 1
        at = digits_end(text, at)
    return at


cdef inline Py_ssize_t read_digits(Text *text, Py_ssize_t at, uint64_t *into) noexcept nogil:
    """Behind any digits, which are added to those read before them. Refuses nothing; past 19, some are lost."""
    cdef uint64_t digits = into[0]
    while is_digit(peek(text, at)):
        digits = digits * 10 + (text.start[at] - c'0')
        at += 1
    into[0] = digits
    return at


cdef inline Py_ssize_t read_double(Text *text, Py_ssize_t at, double *into) except -2:
    """A number, correctly rounded: one exact division where its digits fit a double, else as Python reads it."""
    cdef Py_ssize_t begin = at, first, point
    cdef uint64_t digits = 0
    cdef char[NUMBER_BYTES] copy
    if peek(text, at) == c'-':
        at += 1
    first = at
    at = read_digits(text, at, &digits)
    if at == first or (at > first + 1 and text.start[first] == c'0'):
        return -1
    point = at
    if peek(text, at) == c'.':
        point = at + 1
        at = read_digits(text, point, &digits)
        if at == point:
            return -1
    if at - first <= 19 and digits <= KTRACE_EXACT and peek(text, at) | 32 != c'e':  # 19 digits: none was lost
        into[0] = digits / ktrace_powers[at - point]
        if begin < first:
            into[0] = -into[0]
        return at
    at = number_end(text, begin)
    if at < 0 or at - begin >= NUMBER_BYTES:
        return -1
    memcpy(copy, text.start + begin, at - begin)
    copy[at - begin] = 0
    into[0] = PyOS_string_to_double(copy, NULL, NULL)
    return at


cdef inline Py_ssize_t read_whole(Text *text, Py_ssize_t at, int64_t *into) noexcept nogil:
    """A whole number of up to 18 digits."""
    cdef Py_ssize_t begin = at, first
    cdef uint64_t digits = 0
    cdef int64_t found
    if peek(text, at) == c'-':
        at += 1
    first = at
    at = read_digits(text, at, &digits)
    if at == first or at > first + 18 or (at > first + 1 and text.start[first] == c'0'):
        return -1
    if peek(text, at) == c'.' or peek(text, at) | 32 == c'e':
        return -1
    found = <int64_t>digits
    into[0] = -found if begin < first else found
    return at


# ---- values of any kind

cdef inline Py_ssize_t word_end(Text *text, Py_ssize_t at, const char *word, Py_ssize_t length) noexcept nogil:
    return at + length if at + length <= text.end and memcmp(text.start + at, word, length) == 0 else -1


cdef inline Py_ssize_t value_end(Text *text, Py_ssize_t at) noexcept nogil:
    """Behind a value, in which strings are ASCII."""
    cdef unsigned char char
    cdef uint64_t is_object = 0  # a bit for each object or list around `at`, the innermost lowest
    cdef int depth = 0
    while True:
        char = peek(text, at)
        if char == c'"':
            at = string_end(text, at + 1)
        elif char == c'{' or char == c'[':
            at = blanks(text, at + 1)
            if peek(text, at) == (c'}' if char == c'{' else c']'):
                at += 1
            else:
                if depth == DEPTH:
                    return -1
                depth += 1
                is_object = is_object << 1 | (char == c'{')
                if char == c'{':
                    at = key_end(text, at)
                    if at < 0:
                        return -1
                continue
        elif char == c't':
            at = word_end(text, at, b"true", 4)
        elif char == c'f':
            at = word_end(text, at, b"false", 5)
        elif char == c'n':
            at = word_end(text, at, b"null", 4)
        else:
            at = number_end(text, at)
        if at < 0:
            return -1
        while depth:
            at = blanks(text, at)
            char = peek(text, at)
            if char == c',':
                at = blanks(text, at + 1)
                if is_object & 1:
                    at = key_end(text, at)
                    if at < 0:
                        return -1
                break
            if char != (c'}' if is_object & 1 else c']'):
                return -1
            at += 1
            depth -= 1
            is_object >>= 1
        else:
            return at
