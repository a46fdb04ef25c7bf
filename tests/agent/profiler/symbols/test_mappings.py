from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.symbols.mappings import MOST_MAPPINGS, Mapping, Mappings, parse

MAPS = b"""\
00400000-00401000 r--p 00000000 fe:01 77                                 /usr/bin/app
00401000-00480000 r-xp 00001000 fe:01 77                                 /usr/bin/app
7f0000000000-7f0000100000 r-xp 00028000 fe:01 99                         /usr/lib/my libc.so.6
7f0000200000-7f0000201000 rwxp 00000000 00:00 0
7f0000300000-7f0000301000 r-xp 00000000 00:05 12                         /memfd:jit (deleted)
7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0                          [vdso]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
"""


def test_only_code_is_kept_with_where_it_comes_from() -> None:
    mappings = parse(MAPS)
    assert mappings.at(0x400000) is None
    assert mappings.at(0x401000) == Mapping(0x401000, 0x480000, 0x1000, 77, "/usr/bin/app", "fe:01")
    assert mappings.at(0x480000) is None
    named = [mapping.named for mapping in mappings]
    assert named == [
        "app",
        "my libc.so.6",
        "memory without a file",
        "memfd:jit",
        "[vdso]",
        "[vsyscall]",
    ]


def test_the_code_of_the_program_itself_lies_below_its_libraries() -> None:
    (code,) = parse(MAPS).of_executable()
    assert (code.start, code.end) == (0x401000, 0x480000)
    assert Mappings([Mapping(1, 2, 0, 0, "[vdso]")]).of_executable() == ()


@given(st.lists(st.integers(0, 1000), unique=True, max_size=40).map(sorted))
def test_an_address_is_in_the_mapping_around_it(bounds: list[int]) -> None:
    pairs = list(zip(bounds[::2], bounds[1::2], strict=False))
    mappings = Mappings([Mapping(start, end, 0, 1, "") for start, end in reversed(pairs)])
    for address in range(1001):
        around = [pair for pair in pairs if pair[0] <= address < pair[1]]
        found = mappings.at(address)
        assert ([(found.start, found.end)] if found else []) == around


@given(st.binary(max_size=300))
def test_noise_between_the_lines_is_left_out(noise: bytes) -> None:
    assert parse(MAPS + b"\n" + noise + b"\n").at(0x401000) is not None


def test_few_enough_are_kept() -> None:
    lines = (b"%x-%x r-xp 0 00:00 1 /x\n" % (at, at + 1) for at in range(MOST_MAPPINGS + 10))
    assert len(parse(b"".join(lines))) == MOST_MAPPINGS
