"""The smallest pieces of mangled symbols: text and offset in, where a piece ends and what it counts for out."""

from __future__ import annotations

import re


class Broken(Exception):
    """The symbol breaks the grammar, or leaves the part of it that is followed, before its end."""


class Ends(Exception):
    """The symbol ends inside a construct."""


#: what is printed at most, in characters: a builtin type (`unsigned long long`), what a construct puts around its parts
#: (` vector[123456789]`), and what comes before and after an identifier (`_GLOBAL__N_1` is an anonymous namespace)
BUILTIN, AROUND, NAME = 20, 18, 14
#: the numbers that `sequence` answers for `St`, and for `Sa` and its like
STD, STD_CLASS = -2, -1
#: what they count for: `Ss` before a constructor is `std::basic_string<char, std::char_traits<char>, ...>`
STD_SIZES = {STD: 5, STD_CLASS: 75}
DIGIT = frozenset("0123456789")
DIGITS = re.compile("[0-9]*")
TWO_DIGITS = {str(i): i for i in range(10, 100)}
#: `DF16_` and the like are no candidates for a substitution, `DB8_` is one (LLVM 23)
D_BUILTIN = re.compile(r"D(?:[nhfdeisuac]|F[0-9]{1,9}(?:b|x?_?))")
D_QUALIFIER = re.compile(r"D(?:p|v[0-9]{1,9}_|o(?=F))")
#: what the text ends with where one of them is cut off
D_BEGINS = re.compile(r"D(?:o|[FBUv][0-9]{0,9}[bx]?)?")
BIT_INT = re.compile(r"D[BU][0-9]{1,9}_")
#: literals of builtin types, as many as there are
LITERALS = re.compile(r"(?:L[a-z]n?[0-9]+E)+")
FLOAT = re.compile(r"L[fdeg][0-9a-f]{1,64}E")
#: what ends a literal of a type that is not builtin
VALUE = re.compile(r"n?[0-9]+E")
VALUE_BEGINS = re.compile(r"n?[0-9]*")
PARAMETER = re.compile(r"T(?:L[0-9]{0,9}_)?[0-9]{0,9}_")
QUALIFIERS = re.compile(r"r?V?K?")
DISCRIMINATOR = re.compile(r"_[0-9]|__[0-9]{1,9}_")
ARRAY = re.compile(r"A[0-9]{0,10}_")
#: operators whose operands are expressions, or one type: nothing in them ends with an `E` of their own
OPERATORS = re.compile(
    r"(?:(?:aa|ad|an|az|co|de|dv|eo|eq|ge|gt|le|ls|lt|mi|ml|ne|ng|nt|oo|or|pl|qu|rm|rs|sz)|(?:at|st)[abcdefghijlmnostvwxyz])+"
)
OPERATOR_NAME = re.compile(r"(?!cv|li)[a-z][a-zA-Z]")
#: `N` and the qualifiers of a member function
END_OF_N = re.compile(r"N[rVK]*[RO]?")
#: a string literal, or the number of the parameter whose default argument holds what is local
#: `guard variable for `, `vtable for ` and the like
SPECIAL = re.compile(r"GV|T[ISTV]")
SPECIAL_SIZE = 20
LOCAL = re.compile(r"s|d[0-9]{0,9}_")
UNNAMED = re.compile(r"Ut[0-9]{0,9}_")
LAMBDA_END = re.compile(r"[0-9]{0,9}_")
CONSTRUCTOR = re.compile(r"C[1-9]|D[0-9]")
_SEQUENCE = re.compile(r"S([0-9A-Z]{0,9})_")
_NUMBER = re.compile("[0-9]+")
_SPECIAL_STD = frozenset("abdios")
ONE_DIGIT = {c: i for i, c in enumerate("_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")}


def identifier(text: str, at: int) -> tuple[int, int]:
    """The offset of the text of a source name at `at` (`3foo`) and of its end, which may lie behind the text's."""
    length = TWO_DIGITS.get(text[at : at + 2])
    if length is None:
        if not "0" <= text[at] <= "9":
            raise Broken
        return at + 1, at + 1 + int(text[at])
    digits = _NUMBER.match(text, at)
    if digits is None or digits.end() == at + 2:
        return at + 2, at + 2 + length
    # a length of more than nine digits lies behind the end of every text anyway
    return digits.end(), digits.end() + int(digits.group()[:9])


def sequence(text: str, at: int) -> tuple[int, int]:
    """The number of the candidate that `S_`, `S0_`, ... at `at` stands for, and the end of the token.

    The number of `Sa` and its like is STD_CLASS, that of `St` is STD.
    """
    following = text[at + 1 : at + 2]
    if following == "_":
        return 0, at + 2
    if text[at + 2 : at + 3] == "_" and following in ONE_DIGIT:
        return ONE_DIGIT[following], at + 3
    if following == "t":
        return STD, at + 2
    if following in _SPECIAL_STD and following:
        return STD_CLASS, at + 2
    m = _SEQUENCE.match(text, at)
    if m is not None:
        return int(m.group(1), 36) + 1, m.end()
    raise Broken if "_" in text[at : at + 12] or len(text) - at > 11 else Ends


def parameter(text: str, at: int) -> int:
    """The end of the reference to a template parameter at `at`: `T_`, `T0_`, `TL0__`."""
    m = PARAMETER.match(text, at)
    if m is not None:
        return m.end()
    raise Ends if len(text) - at < 4 else Broken
