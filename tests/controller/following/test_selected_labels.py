import pytest
from nemutator_controller.following.selected_labels import found_by
from nemutator_controller.mutations.decisions import Edit, Maybe

SERVICES = {"web": {"app": "web", "tier": "front"}, "other": {"app": "api"}}
LABELS = {"app": "web", "tier": "front", "team": "a"}


@pytest.mark.parametrize(
    ("path", "after", "service"),
    [
        ("metadata.labels[tier]", ("back",), "web"),
        ("metadata.labels[tier]", (), "web"),
        ("metadata.labels[app]", ("api",), "web"),
        ("metadata.labels[tier]", ("front",), ""),
        ("metadata.labels[team]", ("b",), ""),
        ("metadata.annotations[tier]", ("back",), ""),
    ],
)
def test_a_service_that_would_lose_the_pod_is_named(path: str, after: Maybe, service: str) -> None:
    edit = Edit(path=path, before=("x",), after=after, verb="labels", policy="p")
    assert found_by(edit, LABELS, SERVICES) == service


def test_a_service_that_does_not_find_the_pod_now_loses_nothing() -> None:
    edit = Edit(path="metadata.labels[tier]", before=(), after=("x",), verb="labels", policy="p")
    assert found_by(edit, {"app": "web"}, SERVICES) == ""
