"""Small ELF files, true or forged, built field by field."""

import struct
from dataclasses import dataclass, field

GO_MAGIC = b"\xff Go buildinf:"
ADDRESS = 0x400000


@dataclass
class Forge:
    """A 64- or 32-bit file in either byte order. Contents are laid out one after the other, each on
    a 16-byte boundary, all in one writable segment."""

    word: int = 8
    order: str = "<"
    contents: list[tuple[bytes, bytes]] = field(default_factory=list)
    needed: tuple[bytes, ...] = ()
    sections: bool = True
    flags: int = 6

    def build(self) -> bytes:
        wide = self.word == 8
        head_size, segment_size, section_size = (64, 56, 64) if wide else (52, 32, 40)
        contents = [(b"", b""), *self.contents]
        dynamic = self._dynamic()
        body_at = -(-(head_size + 2 * segment_size) // 16) * 16
        body, places = bytearray(), []
        names = b"\0"
        for name, content in (*contents, (b".dynamic", b""), (b".shstrtab", b"")):
            body += bytes(-len(body) % 16)
            if name == b".dynamic":
                content = dynamic(ADDRESS + body_at + len(body))
            elif name == b".shstrtab":
                content = names + b".dynamic\0.shstrtab\0"
            places.append((name, body_at + len(body), len(content)))
            body += content
            names += name + b"\0" if name not in (b".dynamic", b".shstrtab") else b""
        table_at = body_at + len(body) + -len(body) % 16 if self.sections else 0
        string_table = names + b".dynamic\0.shstrtab\0"
        head = struct.pack(
            self.order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"),
            2, 62, 1, 0, head_size, table_at, 0, head_size, segment_size, 2, section_size,
            len(places) if self.sections else 0, len(places) - 1 if self.sections else 0,
        )  # fmt: skip
        ident = b"\x7fELF" + bytes([2 if wide else 1, 1 if self.order == "<" else 2, 1]) + bytes(9)
        dynamic_at, dynamic_size = next(
            (offset, size) for name, offset, size in places if name == b".dynamic"
        )
        out = bytearray(ident + head)
        out += self._segment(1, self.flags, body_at, len(body))
        out += self._segment(2, 6, dynamic_at, dynamic_size)
        out += bytes(body_at - len(out)) + body
        if self.sections:
            out += bytes(table_at - len(out))
            for name, offset, size in places:
                out += self._section(string_table.index(name + b"\0"), offset, size)
        return bytes(out)

    def _dynamic(self) -> "Dynamic":
        return Dynamic(self)

    def _segment(self, kind: int, flags: int, offset: int, size: int) -> bytes:
        address = ADDRESS + offset
        if self.word == 8:
            return struct.pack(
                self.order + "IIQQQQQQ", kind, flags, offset, address, address, size, size, 16
            )
        return struct.pack(
            self.order + "IIIIIIII", kind, offset, address, address, size, size, flags, 16
        )

    def _section(self, name: int, offset: int, size: int) -> bytes:
        return struct.pack(
            self.order + ("IIQQQQIIQQ" if self.word == 8 else "IIIIIIIIII"),
            name, 1, 2, ADDRESS + offset, offset, size, 0, 0, 16, 0,
        )  # fmt: skip


@dataclass
class Dynamic:
    """The dynamic table, with its strings right behind it."""

    forge: Forge

    def __call__(self, address: int) -> bytes:
        pair = self.forge.order + ("QQ" if self.forge.word == 8 else "II")
        strings, entries = b"\0", []
        for name in self.forge.needed:
            entries.append((1, len(strings)))
            strings += name + b"\0"
        size = (len(entries) + 2) * 2 * self.forge.word
        entries += [(5, address + size), (0, 0)]
        return b"".join(struct.pack(pair, *entry) for entry in entries) + strings


def inline_info(version: bytes) -> bytes:
    """What Go 1.18 and newer write."""
    return GO_MAGIC + bytes([8, 2]) + bytes(16) + bytes([len(version)]) + version + b"\0"


def pointed_info(version: bytes, *, address: int, word: int = 8, order: str = "<") -> bytes:
    """What Go 1.13 to 1.17 wrote, when it lies at *address*: header and text come behind it."""
    pointer = order + ("Q" if word == 8 else "I")
    header_at = address + 32
    blob = GO_MAGIC + bytes([word, 1 if order == ">" else 0]) + struct.pack(pointer, header_at)
    blob += bytes(32 - len(blob))
    return (
        blob
        + struct.pack(pointer, header_at + 2 * word)
        + struct.pack(pointer, len(version))
        + version
    )
