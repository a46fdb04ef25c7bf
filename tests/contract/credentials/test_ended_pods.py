"""Real directories; processes in real control groups are in `test_killed.py`."""

from pathlib import Path

import pytest
from nemutator_agent.credentials.pods.ended_pods import ended_pods

UID = "0a1b2c3d-0000-4111-8222-333344445555"


@pytest.fixture
def volumes(tmp_path: Path) -> Path:
    made = tmp_path / "volumes"
    made.mkdir()
    return made


async def test_without_directory_and_process_a_pod_has_ended(volumes: Path) -> None:
    home = volumes / "csi-1"
    home.mkdir()
    assert not await ended_pods({UID: str(home)})
    home.rmdir()
    assert set(await ended_pods({UID: str(home)})) == {UID}


async def test_what_may_only_be_hidden_is_no_evidence(volumes: Path) -> None:
    """Where the volumes are not mounted into our container, all of them are missing."""
    homes = {UID: str(volumes / "elsewhere" / "csi-1")}
    assert not await ended_pods(homes)
    assert not await ended_pods({UID: ""})


async def test_a_link_that_leads_nowhere_is_something_that_is_left(volumes: Path) -> None:
    (volumes / "csi-1").symlink_to("nowhere")
    assert not await ended_pods({UID: str(volumes / "csi-1")})
