from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.profiles import pprof
from nemutator_ctl import profile_files

from tests.common.profiles.made import small


def test_a_profile_is_read(tmp_path: Path) -> None:
    file = tmp_path / "cart.pb.gz"
    file.write_bytes(pprof.encode(small()))
    assert profile_files.read(file) == pprof.decode(pprof.encode(small()))


def test_what_cannot_be_read_or_is_none_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="No such file") as missing:
        profile_files.read(tmp_path / "none")
    assert missing.value.code == ExitCode.USAGE
    garbage = tmp_path / "garbage"
    garbage.write_bytes(b"hello")
    with pytest.raises(OperatorError, match=r"no profile: neither pprof .* nor folded") as refused:
        profile_files.read(garbage)
    assert refused.value.code == ExitCode.USAGE


def test_where_nothing_can_be_written_is_known_before(tmp_path: Path) -> None:
    profile_files.check(tmp_path / "x.html")
    with pytest.raises(OperatorError, match="is a directory"):
        profile_files.check(tmp_path)
    with pytest.raises(OperatorError, match="there is no directory"):
        profile_files.check(tmp_path / "none" / "x.html")


def test_saving_says_so_or_names_the_remedy(tmp_path: Path) -> None:
    assert profile_files.save(tmp_path / "x", b"1", remedy="look") == f"saved: {tmp_path}/x\n"
    with pytest.raises(OperatorError) as failed:
        profile_files.save(tmp_path, b"1", remedy="look there")
    assert failed.value.remedy == "look there"
    assert failed.value.code == ExitCode.FAILED
