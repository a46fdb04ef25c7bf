"""The shared directory on a real file system: private, provable, and explained when it is not."""

import stat
from pathlib import Path

import pytest
from nemutator_common.data_directory import DataDirectory
from nemutator_common.data_directory_files import prepare, read_link_token, renew_link_token
from nemutator_common.errors import ExitCode, OperatorError

from tests.fakes.full_disks import full_disk


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_made_private_with_its_parents(tmp_path: Path) -> None:
    directory = prepare(tmp_path / "a" / "b")
    assert directory.root == tmp_path / "a" / "b"
    assert mode(directory.root) == 0o700
    assert list(directory.root.iterdir()) == []


def test_a_directory_that_others_could_enter_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    prepare(tmp_path)
    assert mode(tmp_path) == 0o700


def test_preparing_again_changes_nothing(tmp_path: Path) -> None:
    first = prepare(tmp_path)
    first.database.write_text("kept")
    assert prepare(tmp_path) == first
    assert first.database.read_text() == "kept"


@pytest.mark.parametrize("path", ["file", "file/below", "~nobody-of-this-name/x"])
def test_a_path_that_cannot_be_used_is_explained(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("")
    wanted = Path(path) if path.startswith("~") else tmp_path / path
    with pytest.raises(OperatorError, match="data directory: ") as refusal:
        prepare(wanted)
    assert refusal.value.code is ExitCode.DATA_DIRECTORY
    assert "--data-dir" in refusal.value.remedy


def test_a_renewal_that_fails_leaves_the_old_token(tmp_path: Path) -> None:
    directory = prepare(tmp_path)
    renew_link_token(directory)
    before = read_link_token(directory)
    # A directory in the way of the new file is an error that root gets too.
    directory.link_token.with_suffix(".new").mkdir()
    with pytest.raises(OperatorError, match="link-token"):
        renew_link_token(directory)
    assert read_link_token(directory) == before


def test_the_token_is_private_and_new_each_time(tmp_path: Path) -> None:
    directory = prepare(tmp_path)
    renew_link_token(directory)
    first = read_link_token(directory)
    assert mode(directory.link_token) == 0o600
    assert len(first.reveal()) >= 32
    renew_link_token(directory)
    assert read_link_token(directory) != first
    assert [path.name for path in tmp_path.iterdir()] == ["link-token"]


def test_a_token_of_an_interrupted_renewal_is_not_taken_over(tmp_path: Path) -> None:
    directory = prepare(tmp_path)
    left = directory.link_token.with_suffix(".new")
    left.write_text("planted")
    renew_link_token(directory)
    assert read_link_token(directory).reveal() != "planted"
    assert not left.exists()


def test_a_missing_token_is_explained(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="No such file"):
        read_link_token(DataDirectory(tmp_path))


def test_a_full_disk_leaves_the_old_token_and_nothing_else(tmp_path: Path) -> None:
    directory = prepare(tmp_path)
    renew_link_token(directory)
    before = read_link_token(directory)
    with full_disk(), pytest.raises(OperatorError, match="link-token"):
        renew_link_token(directory)
    assert read_link_token(directory) == before
    assert [path.name for path in tmp_path.iterdir()] == ["link-token"]
