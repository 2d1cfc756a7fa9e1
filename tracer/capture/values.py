"""Which values of tensors are known in a dry run: what was written by whom in, a value for Python to steer by out.

Most contents do not exist. A small constant that Python itself made is known until something writes over it; any other
value that Python asks for is made up, and the record says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: the most elements of a constant that are remembered
MOST_ELEMENTS = 4096


class Values:
    """The contents of tensors, by storage."""

    def __init__(self) -> None:
        self._constants: dict[int, tuple[Any, list[Any]]] = {}
        self._writers: dict[int, tuple[str, Callable[[str], None]]] = {}
        self._kept: list[Any] = []
        self.invented: list[str] = []

    def begin(self) -> None:
        """Forgets what the last call wrote and made up; constants of the library stay."""
        self._writers.clear()
        self.invented.clear()

    def remember(self, tensor: Any, real: Any) -> None:
        """Notes that a tensor, which starts its storage and is contiguous, holds what a real CPU tensor holds."""
        from torch.utils._python_dispatch import _disable_current_modes

        if real.numel() <= MOST_ELEMENTS:
            with _disable_current_modes():
                self._constants[self._key(tensor)] = (real.dtype, real.reshape(-1).tolist())

    def copied(self, tensor: Any, source: Any) -> None:
        """Notes that a tensor, as `remember` takes it, was copied from another one without a change of dtype."""
        known = self._constants.get(source.untyped_storage()._cdata)
        whole = source.is_contiguous() and source.storage_offset() == 0 and tensor.dtype == source.dtype
        if known is not None and whole and len(known[1]) == tensor.numel():
            self._constants[self._key(tensor)] = (known[0], list(known[1]))

    def forget(self, tensor: Any) -> None:
        """Notes that torch writes to a tensor."""
        self._constants.pop(tensor.untyped_storage()._cdata, None)

    def written(self, tensor: Any, writer: str, say: Callable[[str], None]) -> None:
        """Notes that a kernel may write to a tensor.

        Args:
            tensor: the tensor.
            writer: what to call the kernel.
            say: told the text when a value of the tensor has to be made up.
        """
        self.forget(tensor)
        self._writers[self._key(tensor)] = (writer, say)

    def scalar(self, tensor: Any) -> Any:
        """The value of a tensor of one element: the constant's, or one that is made up."""
        key, dtype = tensor.untyped_storage()._cdata, tensor.dtype
        known, elements = self._constants.get(key, (None, []))
        if known == dtype:
            return elements[tensor.storage_offset()]
        value: Any = 0.0 if dtype.is_floating_point else False if str(dtype) == "torch.bool" else 0
        text = f"{value!r} for a value of a {str(dtype).removeprefix('torch.')} tensor of shape {tuple(tensor.shape)}"
        if key in self._writers:
            writer, say = self._writers[key]
            say(text)
            text += f" that {writer} writes"
        self.invented.append(text)
        return value

    def _key(self, tensor: Any) -> int:
        """A storage's number, which is not given to another one as long as it is kept."""
        storage = tensor.untyped_storage()
        self._kept.append(storage)
        return int(storage._cdata)
