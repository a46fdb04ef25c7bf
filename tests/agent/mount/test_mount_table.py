from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.mount.mount_table import seen_at

ROOT = b"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda rw\n"

paths = st.lists(
    st.text(
        st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8
    ).filter(lambda name: name not in {".", ".."}),
    min_size=1,
    max_size=4,
).map(lambda names: "/".join(["", *names]).encode())


def line_of(path: bytes) -> bytes:
    """As the kernel writes it: blanks, tabs, newlines and backslashes as octal numbers."""
    written = b"".join(b"\\%03o" % byte if byte in b" \t\n\\" else bytes([byte]) for byte in path)
    return b"99 22 0:50 / " + written + b" rw,nosuid shared:7 - tmpfs nemutator rw,size=1024k\n"


@given(paths)
def test_a_mount_is_found_whatever_its_path_is_made_of(path: bytes) -> None:
    table = [ROOT, line_of(path + b"x"), line_of(b"/y" + path)]
    assert seen_at(table, path) is None
    seen = seen_at([*table, line_of(path)], path)
    assert seen is not None
    assert (seen.is_own, seen.device) == (True, b"0:50")


def test_a_line_without_a_mount_point_is_passed_over() -> None:
    assert seen_at([b"22 1 8:1 /a", b"/a\n"], b"/a") is None
    assert seen_at([b"22 1 8:1 / /a"], b"/a") is not None


@given(paths)
def test_what_is_seen_is_the_last_of_those_over_each_other(path: bytes) -> None:
    others = line_of(path).replace(b"- tmpfs nemutator", b"- tmpfs tmpfs")
    assert is_own([ROOT, others, line_of(path)], path)
    assert not is_own([ROOT, line_of(path), others], path)
    assert not is_own([ROOT, line_of(path + b"x")], path)


def is_own(table: list[bytes], path: bytes) -> bool:
    seen = seen_at(table, path)
    return seen is not None and seen.is_own


def test_a_source_that_is_called_like_ours_is_not_ours() -> None:
    line = line_of(b"/a")
    assert is_own([line], b"/a")
    assert not is_own([line.replace(b"tmpfs nemutator", b"ext4 nemutator")], b"/a")
    assert not is_own([line.replace(b"tmpfs nemutator", b"tmpfs nemutators")], b"/a")
    assert not is_own([b"99 22 0:50 / /a rw"], b"/a")


def test_a_path_in_another_place_of_the_line_is_no_mount() -> None:
    bound = b"99 22 8:1 /a/b /c rw - ext4 /a/b rw\n"
    assert seen_at([bound], b"/a/b") is None
    assert seen_at([bound], b"/c") is not None


@given(st.lists(st.binary(max_size=60), max_size=5))
def test_lines_of_any_kind_are_passed_over(lines: list[bytes]) -> None:
    assert seen_at(lines, b"/a/long/path/that/nobody/has/mounted/on") is None
