import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.mount.volume_data import is_anothers

OURS = {
    "attachmentID": "csi-1",
    "driverMode": "Ephemeral",
    "driverName": "agent.nemutator.io",
    "nodeName": "node-1",
    "specVolID": "nemutator",
    "volumeHandle": "csi-1",
    "volumeLifecycleMode": "Ephemeral",
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, False),
        ({"driverName": "ebs.csi.aws.com"}, True),
        ({"volumeHandle": "csi-2"}, True),
    ],
)
def test_kubelets_note_says_whose_the_volume_is(changed: dict[str, str], expected: bool) -> None:
    note = json.dumps(OURS | changed).encode()
    assert is_anothers(note, "agent.nemutator.io", "csi-1") is expected


@given(st.binary(max_size=60))
def test_a_note_that_names_nobody_decides_nothing(content: bytes) -> None:
    assert not is_anothers(content, "agent.nemutator.io", "csi-1")


def test_a_note_without_these_names_decides_nothing() -> None:
    assert not is_anothers(b"{}", "agent.nemutator.io", "csi-1")
    assert not is_anothers(b"[" * 100_000, "agent.nemutator.io", "csi-1")
