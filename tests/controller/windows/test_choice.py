import pytest
from nemutator_common.names import PROFILE_WINDOWS, SKIP
from nemutator_controller.kube.label_selectors import parse_selector
from nemutator_controller.windows.choice import DeclaredPod, WindowChoice

POD = DeclaredPod("shop", {"app": "web"}, {})


@pytest.mark.parametrize(
    ("annotations", "is_allowed"),
    [
        ({}, True),
        ({PROFILE_WINDOWS: "on"}, True),
        ({PROFILE_WINDOWS: "off"}, False),
        ({PROFILE_WINDOWS: "Off"}, False),
        ({PROFILE_WINDOWS: "false"}, False),
        ({PROFILE_WINDOWS: ""}, False),
        ({SKIP: "true"}, False),
        ({SKIP: "false"}, True),
    ],
)
def test_a_pod_decides_for_itself(annotations: dict[str, str], is_allowed: bool) -> None:
    pod = DeclaredPod("shop", {}, annotations)
    assert WindowChoice().allows(pod) is is_allowed


def test_namespaces_choose() -> None:
    assert WindowChoice(frozenset({"shop"})).allows(POD)
    assert not WindowChoice(frozenset({"bank"})).allows(POD)


def test_labels_choose() -> None:
    assert WindowChoice(selector=parse_selector("app in (web, api)")).allows(POD)
    assert not WindowChoice(selector=parse_selector("app!=web")).allows(POD)
