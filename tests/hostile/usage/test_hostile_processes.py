"""Processes that call themselves what they like, on this kernel."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator

import msgspec
import pytest
from nemutator_agent.usage.cached_files import CachedFiles
from nemutator_agent.usage.procfs import ProcfsReader
from nemutator_agent.usage.reports import report_of
from nemutator_common.wire import ProcessUsage, Report

RENAME = (
    "import sys; name = bytes.fromhex(sys.argv[1]);"
    " open('/proc/self/comm', 'wb').write(name); print(flush=True); sys.stdin.read()"
)


@contextlib.contextmanager
def named(name: bytes) -> Iterator[int]:
    command = (sys.executable, "-I", "-S", "-c", RENAME, name.hex())
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid


def seen(pid: int) -> ProcessUsage:
    files = CachedFiles(most=5000)
    reader = ProcfsReader(files, most_processes=20_000, most_groups=1)
    report = report_of(None, reader.snapshot(at=1, monotonic=1), facts=reader.facts(), runtimes={})
    files.close()
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report
    (found,) = (process for process in report.processes if process.pid == pid)
    return found


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b") R 1 1 1 (", ") R 1 1 1 ("),
        (b"a\nb 1 2 3", r"a\nb 1 2 3"),
        (b"\x1b[2J\x07", r"\x1b[2J\x07"),
        (b"\xff\xfe\x80", r"\xff\xfe\x80"),
        ("é\u202e\u2028".encode(), r"é\u202e\u2028"),
        (b"'\"<b>&\\", "'\"<b>&\\"),
    ],
)
def test_a_hostile_name_is_clean_text_and_hides_nothing(name: bytes, shown: str) -> None:
    with named(name) as pid:
        process = seen(pid)
    assert process.command == shown
    assert process.threads == 1
    assert process.memory_bytes > 1 << 20
