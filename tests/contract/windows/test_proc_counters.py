"""What holds of counters of processes: of a real one, and of those in a tree of files."""

import os
import threading
from dataclasses import replace
from pathlib import Path

import psutil
from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.windows.proc_counters import ProcCounters

from tests.fakes.window_parts import observed


def ticks_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return None


def test_a_process_is_counted_as_others_count_it() -> None:
    me = os.getpid()
    process = replace(observed(), id=ProcessId(me, ticks_of(me) or 0))
    counters, missing = ProcCounters(ticks_of).read(process)
    assert not missing
    assert counters.threads == 9
    assert counters.cpu_seconds == 12.5
    assert counters.group_memory_bytes == 50 << 20
    # This one takes memory and opens files while it is looked at.
    resident = psutil.Process().memory_info().rss
    assert counters.rss_anon_bytes is not None
    assert 1 << 20 < counters.rss_anon_bytes < 2 * resident
    assert counters.open_files is not None
    assert abs(counters.open_files - psutil.Process().num_fds()) < 10 + threading.active_count()


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    process = replace(observed(7), group_memory_bytes=None)
    counters, missing = ProcCounters(lambda _: 700, root=tmp_path).read(process)
    assert (counters.rss_anon_bytes, counters.open_files, counters.group_memory_bytes) == (
        None,
        None,
        None,
    )
    assert {one.what for one in missing} == {
        "rss_anon_bytes",
        "open_files",
        "group_memory_bytes",
    }


def test_nothing_is_said_of_another_process_with_that_number(tmp_path: Path) -> None:
    of = tmp_path / "proc" / "7"
    (of / "fd").mkdir(parents=True)
    (of / "status").write_bytes(b"Name:\tx\nRssAnon:\t      40 kB\nThreads:\t1\n")
    (of / "fd" / "0").touch()
    counters, _ = ProcCounters(lambda _: 700, root=tmp_path).read(observed(7))
    assert (counters.rss_anon_bytes, counters.open_files) == (40 << 10, 1)
    counters, missing = ProcCounters(lambda _: 701, root=tmp_path).read(observed(7))
    assert (counters.rss_anon_bytes, counters.open_files) == (None, None)
    assert len(missing) == 2


def test_a_hostile_status_is_no_number(tmp_path: Path) -> None:
    of = tmp_path / "proc" / "7"
    (of / "fd").mkdir(parents=True)
    (of / "status").write_bytes(b"Name:\tRssAnon: 1 kB\nRssAnon:\t" + b"9" * 40 + b" kB\n")
    counters, _ = ProcCounters(lambda _: 700, root=tmp_path).read(observed(7))
    assert counters.rss_anon_bytes is None
    assert counters.open_files == 0
