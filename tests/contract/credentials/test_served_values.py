"""What a pod was given last is known to the next run, and no value of it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from nemutator_agent.credentials.pods.served_values import FOLDER, ServedValuesFolder
from nemutator_agent.credentials.ports import RemembersServed
from nemutator_common import names

from tests.fakes.meters import MemoryMeter
from tests.fakes.pod_sockets import DIGESTS
from tests.fakes.process import fake_process
from tests.fakes.served_values import MemoryServed

Make = Callable[[Path], RemembersServed]


def on_disk(folder: Path, meter: MemoryMeter | None = None) -> ServedValuesFolder:
    return ServedValuesFolder(folder, DIGESTS, fake_process(meter=meter or MemoryMeter()))


@pytest.mark.parametrize(
    "make", [lambda _: MemoryServed(), lambda folder: on_disk(folder).of("v1")]
)
def test_a_digest_is_known_again_by_its_name_and_reference(make: Make, tmp_path: Path) -> None:
    served = make(tmp_path)
    assert list(served.references()) == []
    assert served.is_same("db", "a/b#c", b"1") is None
    served.put("db", "a/b#c", b"1")
    served.put("db", "a/b#d", b"2")
    served.put("tls", "a/b#c", b"1")
    served.put("db", "a/b#d", b"3")
    assert [served.is_same("db", "a/b#d", digest) for digest in (b"2", b"3")] == [False, True]
    assert served.is_same("tls", "a/b#d", b"3") is None
    assert sorted(served.references()) == [("db", "a/b#c"), ("db", "a/b#d"), ("tls", "a/b#c")]


def test_the_next_run_knows_them_until_the_volume_ends(tmp_path: Path) -> None:
    first = on_disk(tmp_path)
    for volume in ("v1", "v2"):
        first.of(volume).put("db", "a/b", b"1")
    assert on_disk(tmp_path).of("v1").is_same("db", "a/b", b"1")
    first.forget("v1")
    first.forget("unknown")
    later = on_disk(tmp_path)
    assert later.of("v1").is_same("db", "a/b", b"1") is None
    assert later.of("v2").is_same("db", "a/b", b"1")


def test_nobody_else_reads_them_and_they_hold_no_digest_that_could_be_guessed(
    tmp_path: Path,
) -> None:
    on_disk(tmp_path).of("v1").put("db", "a/b", b"digest")
    [file] = (tmp_path / FOLDER).iterdir()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert b"digest".hex().encode() not in file.read_bytes()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"db": 1}', b"\xff", b"[" * 9999])
def test_a_file_that_is_none_is_counted_and_begun_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "v1.json").write_bytes(content)
    meter = MemoryMeter()
    served = on_disk(tmp_path, meter).of("v1")
    assert meter.value(names.LEDGER_FAILURES, reason="served") == 1
    served.put("db", "a/b", b"1")
    assert on_disk(tmp_path).of("v1").is_same("db", "a/b", b"1")


def test_where_nothing_can_be_written_it_is_known_to_this_run_and_counted(tmp_path: Path) -> None:
    (tmp_path / FOLDER).symlink_to(tmp_path / "nowhere" / "at all")
    meter = MemoryMeter()
    served = on_disk(tmp_path, meter).of("v1")
    served.put("db", "a/b", b"1")
    assert served.is_same("db", "a/b", b"1")
    assert meter.value(names.LEDGER_FAILURES, reason="served") == 1
    assert not os.path.exists(tmp_path / FOLDER)
