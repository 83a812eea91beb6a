"""A cache of files in which each file is made once, however many threads ask for it at the same time."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock


class FileCache:
    """The last `most` files by their key. A thread that asks while another makes the file waits for it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._made: OrderedDict[Hashable, bytes] = OrderedDict()
        self._making: dict[Hashable, Lock] = {}

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return the file under this key; make it when it is not there."""
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
