"""What an importer could not read or join: a kind and a place in, `Lost` entries with counts out."""

from __future__ import annotations

from tracer.model.capture import Lost


class Losses:
    """Counts losses by kind; the first place and the first cause of each kind are kept."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._details: dict[str, str | None] = {}

    def add(
        self,
        what: str,
        count: int = 1,
        *,
        byte: int | None = None,
        from_byte: int | None = None,
        detail: str | None = None,
    ) -> None:
        """Counts a loss.

        Args:
            what: its kind, as a phrase without figures.
            count: how many.
            byte: offset in the unpacked text of the (first) place.
            from_byte: where only the run of events is known that holds the first place: the offset of that run.
            detail: why, or what it means.
        """
        if count <= 0:
            return
        if what not in self._counts:
            place = None
            if byte is not None:
                place = f"first at byte {byte} of the unpacked text"
            elif from_byte is not None:
                place = f"first among the events from byte {from_byte} of the unpacked text on"
            self._details[what] = "; ".join(part for part in (place, detail) if part) or None
        self._counts[what] = self._counts.get(what, 0) + count

    def clear(self) -> None:
        """Forgets everything, for a file that is read again."""
        self._counts.clear()
        self._details.clear()

    def __len__(self) -> int:
        return len(self._counts)

    def __contains__(self, what: str) -> bool:
        return what in self._counts

    def entries(self) -> tuple[Lost, ...]:
        """The losses, in the order in which their kinds were first seen."""
        return tuple(Lost(what, count, self._details[what]) for what, count in self._counts.items())
