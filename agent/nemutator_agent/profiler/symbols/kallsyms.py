"""/proc/kallsyms: the kernel's own symbols, a quarter of a million lines, read once.

Addresses have all their digits there, so they are compared as text. A reader who may not see them
finds zeros.
"""

from collections.abc import Iterable, Sequence

from nemutator_common.profiles.model import Frame

from nemutator_agent.profiler.symbols.nearest import Nearest

FARTHEST = 1 << 20
"""No function of the kernel is longer: a symbol that is farther away is not that of the address."""

_CODE = b"tTwW"
_LONGEST_LINE = 1024


class AddressesHiddenError(Exception):
    """The kernel shows no addresses (kptr_restrict)."""


def functions(pieces: Iterable[bytes], addresses: Sequence[int]) -> dict[int, Frame]:
    """A frame for each address with a symbol before it; *addresses* are sorted, each once.

    *pieces* are the file, cut anywhere.
    """
    nearest: Nearest[bytes, bytes] = Nearest([b"%016x" % address for address in addresses])
    seen = shown = False
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        rest = rest[:_LONGEST_LINE]
        for line in lines:
            seen = True
            if line[18:19] and line[17] in _CODE and not line.startswith(b"0000000000000000"):
                shown = True
                nearest.offer(line[:16], line[19:])
    if seen and not shown:
        raise AddressesHiddenError
    return {
        address: frame
        for address, found in zip(addresses, nearest.found(), strict=True)
        if found is not None and (frame := _frame(address, *found)) is not None
    }


def _frame(address: int, start: bytes, symbol: bytes) -> Frame | None:
    try:
        distance = address - int(start, 16)
    except ValueError:
        return None
    name, _, module = symbol.decode("utf-8", "replace").partition("\t")
    # A module stands where others have their file: its symbols are not the kernel's own.
    return Frame(name, module.strip(), kind="kernel") if 0 <= distance < FARTHEST else None
