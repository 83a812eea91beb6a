"""A cache of files that creates each file once, however many threads request it at the same time."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock


class FileCache:
    """The last `most` files by their key. If one thread creates a file, others that request it wait."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._made: OrderedDict[Hashable, bytes] = OrderedDict()
        self._making: dict[Hashable, Lock] = {}

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return the file under this key; create it if it is missing."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
            turn = self._making.setdefault(key, Lock())
        with turn:
            with self._lock:
                if key in self._made:
                    return self._made[key]
            try:
                content = make()
            finally:
                with self._lock:
                    self._making.pop(key, None)
            with self._lock:
                self._made[key] = content
                while len(self._made) > self._most:
                    self._made.popitem(last=False)
            return content
