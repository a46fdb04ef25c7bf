import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.machine_files import (
    parse_cpu_times,
    parse_limit,
    parse_load_1m,
    parse_memory_use,
    parse_pids,
    parse_system_name,
)
from nemutator_agent.usage.malformed import MalformedError

STAT = (
    b"cpu  100 20 30 4000 500 6 7 8 9 0\ncpu0 50 10 15 2000 250 3 3 4 4 0\n"
    b"cpu3 50 10 15 2000 250 3 4 4 5 0\nintr 9 0 0\nctxt 5\nbtime 1795231535\nprocesses 3\n"
)
MEMINFO = (
    b"MemTotal:       1000 kB\nMemFree: 100 kB\nMemAvailable:    600 kB\nInactive(file): 250 kB\n"
    b"SwapTotal: 50 kB\nSwapFree: 20 kB\nHugePages_Total:       0\n"
)


def test_idle_waiting_and_stolen_time_is_not_use() -> None:
    times = parse_cpu_times(STAT)
    assert (times.busy_ticks, times.cpus, times.booted_at) == (163, 2, 1795231535)


def test_memory_is_in_bytes() -> None:
    memory = parse_memory_use(MEMINFO)
    assert (memory.total_bytes, memory.available_bytes) == (1_024_000, 614_400)
    assert memory.swap_used_bytes == 30 * 1024


def test_inactive_page_cache_is_not_used_and_active_is_as_in_every_group() -> None:
    assert parse_memory_use(MEMINFO).used_bytes == 650 * 1024


def test_a_file_without_its_line_is_malformed() -> None:
    with pytest.raises(MalformedError, match="MemAvailable"):
        parse_memory_use(MEMINFO.replace(b"MemAvailable", b"MemOther"))
    with pytest.raises(MalformedError, match="btime"):
        parse_cpu_times(STAT.replace(b"btime", b"ctime"))


def test_load() -> None:
    assert parse_load_1m(b"0.52 0.58 0.59 1/467 8130\n") == 0.52


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (
            b'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
            b"Debian GNU/Linux 12 (bookworm)",
        ),
        (b"NAME=Fedora\n", b"Fedora"),
        (b"PRETTY_NAME='It is \"it\"'\n", b'It is "it"'),
        (b'PRETTY_NAME="A \\$ and \\" and \\\\"\n', b'A $ and " and \\'),
        (b'PRETTY_NAME=""\nNAME=x\n', b"x"),
        (b"# nothing\n", None),
    ],
)
def test_the_systems_name_is_read_as_a_shell_would(content: bytes, name: bytes | None) -> None:
    assert parse_system_name(content) == name


@pytest.mark.parametrize(
    "parse", [parse_cpu_times, parse_load_1m, parse_memory_use, parse_system_name]
)
@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.sampled_from([STAT, MEMINFO]).flatmap(
            lambda whole: st.integers(0, len(whole)).map(lambda end: whole[:end])
        ),
    )
)
def test_anything_else_is_malformed(parse: Callable[[bytes], object], content: bytes) -> None:
    with contextlib.suppress(MalformedError):
        parse(content)


def test_processes_and_threads_of_the_machine() -> None:
    assert parse_pids(b"0.50 0.40 0.30 1/812 200\n") == 812
    for content in (b"", b"0.5 0.4 0.3 812 200\n", b"0.5 0.4 0.3 1/x 2\n"):
        with pytest.raises(MalformedError):
            parse_pids(content)


def test_a_limit_that_no_machine_reaches_is_none() -> None:
    assert parse_limit(b"max\n") is None
    assert parse_limit(b"9223372036854771712\n") is None
    assert parse_limit(b"8000\n") == 8000
    with pytest.raises(MalformedError):
        parse_limit(b"-1\n")
