"""The configuration keeps containerd in its folder, and follows what this process may do."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.testbed.parts.node.containerd import configuration, may_lower_score


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    (tmp_path / "usr" / "sbin").mkdir(parents=True)
    (tmp_path / "usr" / "sbin" / "runc").touch()
    return tmp_path


def configured(programs: Path, *, may_lower_score: bool = True) -> dict[str, Any]:
    folder = Path('/a run/with "quotes"')
    return tomllib.loads(
        configuration(folder, folder / "cni", programs=programs, may_lower_score=may_lower_score)
    )


def test_what_it_writes_is_in_its_folder(programs: Path) -> None:
    read = configured(programs)
    within = Path('/a run/with "quotes"')
    assert Path(read["root"]) == within / "root"
    assert Path(read["state"]) == within / "state"
    assert Path(read["grpc"]["address"]).parent == within
    assert Path(read["debug"]["address"]).parent == within
    assert Path(read["plugins"]["io.containerd.internal.v1.opt"]["path"]).parent == within
    cri = read["plugins"]["io.containerd.grpc.v1.cri"]
    assert Path(cri["cni"]["conf_dir"]).parent == within
    assert cri["netns_mounts_under_state_dir"]
    runc = cri["containerd"]["runtimes"]["runc"]["options"]["BinaryName"]
    assert Path(runc) == programs / "usr/sbin/runc"


@pytest.mark.parametrize("may", [True, False])
def test_scores_are_restricted_only_where_they_must_be(programs: Path, *, may: bool) -> None:
    cri = configured(programs, may_lower_score=may)["plugins"]["io.containerd.grpc.v1.cri"]
    assert cri["restrict_oom_score_adj"] is not may


@pytest.mark.parametrize(
    ("capabilities", "may"),
    [("000001ffffffffff", True), ("000001fffeffffff", False), ("0000000000000000", False)],
)
def test_the_right_to_lower_a_score_is_read_from_the_status(capabilities: str, may: bool) -> None:
    status = f"Name:\tpython\nCapPrm:\t0000000000000000\nCapEff:\t{capabilities}\nNoNewPrivs:\t0\n"
    assert may_lower_score(status) is may


def test_a_status_without_capabilities_gives_no_right() -> None:
    assert not may_lower_score("Name:\tpython\n")
