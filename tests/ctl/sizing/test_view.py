import json

import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.updating.progress import PolicyProgress, sizing_list
from nemutator_ctl.sizing.view import decode, overview

from tests.fakes.sized_pods import pod_document, pod_of


def listed() -> object:
    done = PolicyProgress(mode="InPlace")
    done.note(pod_of(pod_document("web-\x1b1")), "waits", "not now")
    items = sizing_list(
        {"p": done, "q": PolicyProgress(mode="Off")}, {"r": "spec.mode: wrong"}, None
    )
    return json.loads(json.dumps({"items": items}))


def test_each_pod_is_shown_with_its_state_and_why() -> None:
    head, pod, empty, faulty = overview(decode(listed())).splitlines()
    assert head.split()[:3] == ["POLICY", "MODE", "NAMESPACE"]
    assert pod.split() == [
        "p", "InPlace", "shop", "Deployment/web", "web-\\x1b1", "waits", "not", "now",
    ]  # fmt: skip
    assert empty.split() == ["q", "Off", "it", "has", "no", "pods"]
    assert faulty.split() == ["r", "faulty", "spec.mode:", "wrong"]


def test_that_there_is_none_is_said_in_a_sentence() -> None:
    assert overview(()) == "There is no SizingPolicy, or no pod was looked at yet.\n"


def test_what_is_no_list_is_not_understood() -> None:
    with pytest.raises(OperatorError, match="not a list of SizingPolicies"):
        decode({"items": [{"policy": "p"}]})
