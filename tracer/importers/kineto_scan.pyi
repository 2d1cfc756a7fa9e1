from collections.abc import Mapping, Sequence

from tracer.importers.kineto_rows import PlainEvents

class EventReader:
    def __init__(
        self,
        complete: Mapping[bytes, tuple[int, str]],
        others: Mapping[bytes, int],
        tables: Sequence[Mapping[bytes, int]],
        missing: int,
        shortest_us: float,
    ) -> None: ...
    def read(self, text: bytes | memoryview) -> PlainEvents | None: ...
