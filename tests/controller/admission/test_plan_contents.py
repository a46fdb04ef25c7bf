"""Pods that say the same, but for what is not read, have the same content."""

from typing import Any

import pytest
from nemutator_controller.admission.plan_contents import LARGEST, content_of
from nemutator_controller.policies.readings import EVERYTHING, unread_by

from tests.controller.admission.alike_pods import SITUATION, asking_for, pod

UNREAD = unread_by(())


def test_names_and_amounts_of_containers_stand_beside_it() -> None:
    one, other = (
        content_of(asking_for(number, {"requests": {"cpu": cpu}}), UNREAD, SITUATION)
        for number, cpu in ((1, "1"), (1, "2"))
    )
    assert one is not None
    assert other is not None
    assert one[0] == other[0]
    assert one[1] == other[1] == ("app-1-0",)
    asked = [((("cpu", cpu),), ()) for cpu in ("1", "2")]
    assert [one[2], other[2]] == [(each,) for each in asked]


def test_the_volume_of_a_token_makes_no_other_content() -> None:
    found: set[bytes] = set()
    for random in ("x7k2p", "bcdfg", "long-one"):
        content = content_of(pod(random), EVERYTHING, SITUATION)
        assert content is not None
        found.add(content[0])
    assert len(found) == 2


@pytest.mark.parametrize("odd", [{}, {"metadata": [], "spec": {}}, {"metadata": {}, "spec": 1}])
def test_what_is_no_pod_has_none(odd: Any) -> None:
    assert content_of(odd, EVERYTHING, SITUATION) is None


def test_what_is_too_large_is_not_kept() -> None:
    assert content_of(pod(annotations={"a": "a" * LARGEST}), EVERYTHING, SITUATION) is None
