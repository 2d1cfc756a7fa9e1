from array import array

_Longs = array[int]
_Doubles = array[float]
_Kernels = tuple[_Longs, _Doubles, _Doubles, _Longs, _Longs, _Longs, _Longs, _Longs]
_Copies = tuple[_Longs, _Doubles, _Doubles]
_Calls = tuple[_Longs, _Doubles, _Doubles, _Longs, _Longs, _Longs, _Longs, _Longs]
_Spans = tuple[str, bool, int, _Doubles, _Doubles, _Longs, _Longs]

class PlainEvents:
    categories: list[tuple[int, int]]
    passed_over: bool
    def __len__(self) -> int: ...

def columns(
    batches: list[PlainEvents],
) -> tuple[_Kernels | None, _Copies | None, _Calls | None, list[_Spans]]: ...
