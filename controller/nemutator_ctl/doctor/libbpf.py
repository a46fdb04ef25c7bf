"""The version of libbpf, asked of the library itself. The only ctypes of the command line."""

import ctypes

from nemutator_ctl.doctor.facts import Text, Unread

_NAME = "libbpf.so.1"
_LONGEST = 32


def version() -> Text:
    """What the loader finds is what a process of ours would get, whatever lies on the disk."""
    try:
        library = ctypes.CDLL(_NAME)
    except OSError as error:
        absent = "No such file" in str(error)
        return Unread("the loader finds none" if absent else str(error)[:120], absent=absent)
    try:
        ask = library.libbpf_version_string
    except AttributeError:
        return Unread(f"{_NAME} does not give its version")
    ask.restype = ctypes.c_char_p
    ask.argtypes = ()
    text: bytes | None = ask()
    given = (text or b"")[:_LONGEST].decode("utf-8", "replace")
    return given or Unread(f"{_NAME} gives an empty version")
