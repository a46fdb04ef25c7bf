import struct

from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.symbols.build_ids import LONGEST, build_id

from tests.agent.profiler.symbols.files import image
from tests.fakes.go_programs import GoProgram

ID = bytes(range(20))


def note(name: bytes, kind: int, content: bytes) -> bytes:
    head = struct.pack("<III", len(name), len(content), kind)
    return (
        head
        + name.ljust(-(-len(name) // 4) * 4, b"\0")
        + content.ljust(-(-len(content) // 4) * 4, b"\0")
    )


def program(notes: bytes) -> bytes:
    """Its last segment is of notes."""
    content = bytearray(GoProgram(sections=False).build())
    (at,) = struct.unpack_from("<Q", content, 32)
    (count,) = struct.unpack_from("<H", content, 56)
    where = len(content)
    struct.pack_into("<H", content, 56, count + 1)
    head = struct.pack("<IIQQQQQQ", 4, 4, where, 0, 0, len(notes), len(notes), 4)
    content[at + 56 * count : at + 56 * (count + 1)] = head
    return bytes(content) + notes


def found(notes: bytes) -> str:
    return build_id(image(program(notes)))


def test_the_linkers_id_is_found_behind_others() -> None:
    go = note(b"Go\0\0", 4, b"abc/def")
    assert found(go + note(b"GNU\0", 1, bytes(16)) + note(b"GNU\0", 3, ID)) == ID.hex()


def test_gos_own_id_is_none() -> None:
    assert found(note(b"Go\0\0", 4, b"abc/def")) == ""
    assert build_id(image(GoProgram().build())) == ""


def test_an_id_that_is_too_long_or_cut_off_is_none() -> None:
    assert found(note(b"GNU\0", 3, bytes(LONGEST + 4))) == ""
    assert found(note(b"GNU\0", 3, ID)[:-1]) == ""


@given(st.binary(max_size=80))
def test_noise_is_read_to_its_end(noise: bytes) -> None:
    assert len(found(noise)) <= 2 * LONGEST
