import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.history_recordings import (
    UnreadableHistoryError,
    is_history,
    read_history,
)

from tests.controller.history.test_documents import GAP, made


def _document(**changed: Any) -> bytes:
    figure = {
        "mean": [0.5, None, 3.0],
        "low": [0, 0, 0],
        "high": [9, 9, 9],
        "most": [0.6, None, 2.0],
    }
    document = {
        "kind": "WorkloadHistory", "namespace": "shop", "owner": "web", "container": "app", "from_at": 600,
        "step_s": 300, "figures": {"cpu_cores": figure, "memory_bytes": figure},
    }  # fmt: skip
    return json.dumps(document | changed).encode()


def test_one_pod_is_its_mean_and_of_several_the_busiest_counts() -> None:
    found = read_history(_document(), is_memory=False)
    assert (found.name, found.points) == ("shop/web/app", ((600, 0.5), (1200, 2.0)))


def test_of_memory_the_most_of_a_step_counts() -> None:
    assert read_history(_document(), is_memory=True).points == ((600, 0.6), (1200, 2.0))


def test_what_the_brain_answers_is_read() -> None:
    content = msgspec.json.encode(made(1.0, GAP, 0.25))
    assert is_history(content)
    assert [value for _, value in read_history(content, is_memory=False).points] == [1.0, 0.25]
    assert read_history(content, is_memory=True).points == ()


@pytest.mark.parametrize(
    "changed",
    [{"step_s": 0}, {"step_s": -300}, {"figures": None}, {"from_at": "x"}, {"owner": None}],
)
def test_what_is_no_history_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(UnreadableHistoryError):
        read_history(_document(**changed), is_memory=False)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_no_history(content: bytes) -> None:
    assert not is_history(content)
