from pathlib import Path

import pytest

from tests.testbed.building import debian_packages, unpacked


def root_with(tmp_path: Path, *programs: str) -> Path:
    for program in programs:
        (tmp_path / program).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / program).touch()
    return tmp_path


def test_what_was_unpacked_is_found_before_what_the_machine_has(tmp_path: Path) -> None:
    root = root_with(tmp_path, "usr/bin/psql", "usr/lib/postgresql/15/bin/postgres", "sbin/runc")
    path = unpacked.environment(root)["PATH"].split(":")
    assert path[:3] == [
        str(root / "usr/lib/postgresql/15/bin"),
        str(root / "usr/bin"),
        str(root / "sbin"),
    ]
    assert path[3:] == unpacked.SYSTEM.split(":")


def test_libraries_are_found_in_the_folder_of_the_architecture(tmp_path: Path) -> None:
    root = root_with(tmp_path, "usr/lib/aarch64-linux-gnu/libpq.so.5", "lib/x86_64-linux-gnu/l.so")
    libraries = unpacked.environment(root)["LD_LIBRARY_PATH"].split(":")
    assert str(root / "usr/lib/aarch64-linux-gnu") in libraries
    assert str(root / "lib/x86_64-linux-gnu") in libraries


def test_nothing_of_ours_is_in_the_environment(tmp_path: Path) -> None:
    assert set(unpacked.environment(root_with(tmp_path, "bin/busybox"))) == {"PATH"}


def test_a_program_is_looked_for_in_what_was_unpacked_alone(tmp_path: Path) -> None:
    root = root_with(tmp_path, "usr/sbin/runc")
    assert unpacked.program(root, "runc") == root / "usr/sbin/runc"
    with pytest.raises(FileNotFoundError, match="no program sh in "):
        unpacked.program(root, "sh")


def test_files_that_would_run_as_their_owner_are_found(tmp_path: Path) -> None:
    root = root_with(tmp_path, "bin/su", "bin/wall", "bin/ls")
    (root / "bin/su").chmod(0o4755)
    (root / "bin/wall").chmod(0o2755)
    (root / "bin/link").symlink_to("su")
    assert sorted(debian_packages.with_set_id(root)) == [root / "bin/su", root / "bin/wall"]
