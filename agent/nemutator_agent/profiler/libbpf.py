"""libbpf.so.1 by ctypes: load an object from memory, attach it, read its maps.

The library's interface is versioned and stable within its first major version. Errors come as NULL
or a negative number, with errno; the messages of libbpf and the verifier go to a callback.
"""

import contextlib
import ctypes
import errno
import os
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from nemutator_agent.profiler.refusals import ProfileRefused

NAME = "libbpf.so.1"
_LINES_KEPT = 40
_LINES_SHOWN = 3
_LONGEST_LINE = 300
_TOKEN_BYTES = 64
"""The room for the kernel's place between two batches; it needs 4 bytes."""

_P, _S, _I, _Z = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_size_t
_COUNT = ctypes.POINTER(ctypes.c_uint32)
_SIGNATURES: Final[dict[str, tuple[Any, ...]]] = {
    # name: result, then arguments
    "libbpf_set_print": (_P, _P),
    "libbpf_num_possible_cpus": (_I,),
    "bpf_object__open_mem": (_P, _P, _Z, _P),
    "bpf_object__load": (_I, _P),
    "bpf_object__close": (None, _P),
    "bpf_object__find_program_by_name": (_P, _P, _S),
    "bpf_object__find_map_by_name": (_P, _P, _S),
    "bpf_map__fd": (_I, _P),
    "bpf_map__set_max_entries": (_I, _P, ctypes.c_uint32),
    "bpf_map__initial_value": (_P, _P, ctypes.POINTER(_Z)),
    "bpf_program__fd": (_I, _P),
    "bpf_program__attach_perf_event": (_P, _P, _I),
    "bpf_program__attach_raw_tracepoint": (_P, _P, _S),
    "bpf_raw_tracepoint_open": (_I, _S, _I),
    "bpf_link__destroy": (_I, _P),
    "bpf_map_lookup_elem": (_I, _I, _P, _P),
    "bpf_map_update_elem": (_I, _I, _P, _P, ctypes.c_uint64),
    "bpf_map_lookup_batch": (_I, _I, _P, _P, _P, _P, _COUNT, _P),
    "bpf_map_lookup_and_delete_batch": (_I, _I, _P, _P, _P, _P, _COUNT, _P),
    "bpf_map_delete_batch": (_I, _I, _P, _COUNT, _P),
}
_FORMATTED = ctypes.CDLL(None).vsnprintf
_FORMATTED.argtypes = (_P, _Z, _P, _P)


class _Messages(threading.local):
    """The lines of libbpf and the verifier, which print in the thread that called them."""

    def __init__(self) -> None:
        self.lines: deque[str] = deque(maxlen=_LINES_KEPT)


_messages = _Messages()


def _collect(_level: int, words: int, arguments: int) -> int:
    text = ctypes.create_string_buffer(8192)
    _FORMATTED(text, len(text), words, arguments)
    for line in text.value.decode("utf-8", "replace").splitlines():
        if line.strip():
            _messages.lines.append(line.strip()[:_LONGEST_LINE])
    return 0


# The module's, because libbpf calls it for as long as the process lives: freed with an object, it
# would be called all the same.
_PRINT = ctypes.CFUNCTYPE(_I, _I, _P, _P)(_collect)


class LibbpfError(Exception):
    """A call failed: its name, errno, and the last lines of libbpf and the verifier."""

    def __init__(self, call: str, number: int, messages: tuple[str, ...]) -> None:
        super().__init__(": ".join((call, os.strerror(number), *messages[-_LINES_SHOWN:])))
        self.call = call
        self.errno = number
        self.messages = messages


class Libbpf:
    """The library."""

    def __init__(self, file: str = NAME) -> None:
        try:
            self._library = ctypes.CDLL(file, use_errno=True)
            for name, (result, *arguments) in _SIGNATURES.items():
                function = getattr(self._library, name)
                function.restype = result
                function.argtypes = arguments
        except (OSError, AttributeError) as error:
            absent = "No such file" in str(error)
            raise ProfileRefused(
                "libbpf",
                f"{file} {'is not installed' if absent else 'cannot be used: ' + str(error)[:120]}",
                remedy="install it (Debian: apt-get install libbpf1)",
            ) from None
        self._library.libbpf_set_print(ctypes.cast(_PRINT, _P))

    def call(self, name: str, *arguments: object) -> Any:
        """Call function *name*. Raises LibbpfError when its result means a failure."""
        _messages.lines.clear()
        ctypes.set_errno(0)
        result = getattr(self._library, name)(*arguments)
        number = ctypes.get_errno()
        if _SIGNATURES[name][0] is _P and name != "libbpf_set_print" and not result:
            raise LibbpfError(name, number or errno.EINVAL, tuple(_messages.lines))
        if _SIGNATURES[name][0] is _I and result < 0:
            raise LibbpfError(name, number or -result, tuple(_messages.lines))
        return result

    def load(
        self, content: bytes, *, constants: bytes, entries: Mapping[str, int] | None = None
    ) -> "LoadedObject":
        """Load all programs and maps of an object, with *constants* as its read-only data.

        *entries* are for maps of another size than the object has.
        """
        # libbpf reads the object where it lies until it is closed.
        buffer = ctypes.create_string_buffer(content, len(content))
        pointer = self.call("bpf_object__open_mem", buffer, len(content), None)
        loaded = LoadedObject(self, pointer, buffer)
        try:
            loaded.set_constants(constants)
            for name, most in (entries or {}).items():
                loaded.set_entries(name, most)
            self.call("bpf_object__load", pointer)
        except BaseException:
            loaded.close()
            raise
        return loaded


class LoadedMaps(ABC):
    """The maps of programs in the kernel, whoever has loaded them. A subclass knows their files."""

    def __init__(self, libbpf: Libbpf) -> None:
        self._libbpf = libbpf

    @abstractmethod
    def _map(self, name: str) -> int: ...

    def put(self, name: str, key: bytes, value: bytes) -> None:
        self._libbpf.call("bpf_map_update_elem", self._map(name), key, value, 0)

    def get(self, name: str, key: bytes, *, size: int) -> bytes:
        """The value of *key*, which is there."""
        value = ctypes.create_string_buffer(size)
        self._libbpf.call("bpf_map_lookup_elem", self._map(name), key, value)
        return value.raw

    def get_per_cpu(self, name: str, key: bytes, *, size: int) -> bytes:
        """The values of all CPUs, one after the other; *size* is a multiple of 8."""
        cpus = self._libbpf.call("libbpf_num_possible_cpus")
        values = ctypes.create_string_buffer(size * cpus)
        self._libbpf.call("bpf_map_lookup_elem", self._map(name), key, values)
        return values.raw

    def drain(
        self, name: str, *, key_size: int, value_size: int, batch: int
    ) -> Iterator[tuple[bytes, bytes]]:
        """Take everything out of a hash map. What programs change meanwhile may be lost."""
        return self._batches("bpf_map_lookup_and_delete_batch", name, key_size, value_size, batch)

    def read(
        self, name: str, *, key_size: int, value_size: int, batch: int
    ) -> Iterator[tuple[bytes, bytes]]:
        """Everything in a hash map. Of what programs put into it meanwhile some may be there."""
        return self._batches("bpf_map_lookup_batch", name, key_size, value_size, batch)

    def delete(self, name: str, keys: Sequence[bytes]) -> None:
        """Delete *keys* of a hash map, which are in it."""
        if keys:
            count = ctypes.c_uint32(len(keys))
            self._libbpf.call(
                "bpf_map_delete_batch",
                self._map(name), b"".join(keys), ctypes.byref(count), None,
            )  # fmt: skip

    def _batches(
        self, call: str, name: str, key_size: int, value_size: int, batch: int
    ) -> Iterator[tuple[bytes, bytes]]:
        file = self._map(name)
        keys = ctypes.create_string_buffer(key_size * batch)
        values = ctypes.create_string_buffer(value_size * batch)
        place = ctypes.create_string_buffer(_TOKEN_BYTES)
        begun = more = False
        while more or not begun:
            count = ctypes.c_uint32(batch)
            more = True
            try:
                self._libbpf.call(
                    call,
                    file, place if begun else None, place, keys, values, ctypes.byref(count), None,
                )  # fmt: skip
            except LibbpfError as error:
                # The last batch ends with this error, however full it is.
                if error.errno != errno.ENOENT:
                    raise
                more = False
            begun = True
            taken, valued = keys.raw, values.raw
            for at in range(count.value):
                yield (
                    taken[at * key_size : (at + 1) * key_size],
                    valued[at * value_size : (at + 1) * value_size],
                )


class LoadedObject(LoadedMaps):
    """Programs and maps in the kernel, until `close`."""

    def __init__(self, libbpf: Libbpf, pointer: int, buffer: object) -> None:
        super().__init__(libbpf)
        self._pointer = pointer
        self._buffer = buffer
        self._links: list[int] = []

    def set_constants(self, content: bytes) -> None:
        """Possible only before the object is loaded."""
        size = _Z()
        found = self._libbpf.call("bpf_object__find_map_by_name", self._pointer, b".rodata")
        value = self._libbpf.call("bpf_map__initial_value", found, ctypes.byref(size))
        if size.value != len(content):
            raise LibbpfError("bpf_map__initial_value", errno.EMSGSIZE, ())
        ctypes.memmove(value, content, len(content))

    def set_entries(self, name: str, most: int) -> None:
        """Possible only before the object is loaded."""
        found = self._libbpf.call("bpf_object__find_map_by_name", self._pointer, name.encode())
        self._libbpf.call("bpf_map__set_max_entries", found, most)

    def attach_to_perf_event(self, program: str, event: int) -> None:
        """Call *program* at each tick of the open *event*, which the link owns from then on."""
        found = self._libbpf.call(
            "bpf_object__find_program_by_name", self._pointer, program.encode()
        )
        self._links.append(self._libbpf.call("bpf_program__attach_perf_event", found, event))

    def attach_to_tracepoint(self, program: str, tracepoint: str) -> None:
        """Call *program* wherever the kernel passes *tracepoint*."""
        found = self._libbpf.call(
            "bpf_object__find_program_by_name", self._pointer, program.encode()
        )
        self._links.append(
            self._libbpf.call("bpf_program__attach_raw_tracepoint", found, tracepoint.encode())
        )

    def detach(self) -> None:
        """End the programs and close their events."""
        while self._links:
            with contextlib.suppress(LibbpfError):
                self._libbpf.call("bpf_link__destroy", self._links.pop())

    def program_fd(self, program: str) -> int:
        found = self._libbpf.call(
            "bpf_object__find_program_by_name", self._pointer, program.encode()
        )
        file: int = self._libbpf.call("bpf_program__fd", found)
        return file

    def close(self) -> None:
        self.detach()
        if self._pointer:
            self._libbpf.call("bpf_object__close", self._pointer)
        self._pointer = 0

    def _map(self, name: str) -> int:
        found = self._libbpf.call("bpf_object__find_map_by_name", self._pointer, name.encode())
        file: int = self._libbpf.call("bpf_map__fd", found)
        return file
