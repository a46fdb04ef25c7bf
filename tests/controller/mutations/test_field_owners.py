"""Who else has a field, from what the API server notes of writers."""

from typing import Any

import pytest
from nemutator_controller.mutations.field_owners import later_owner
from nemutator_controller.mutations.path_texts import parse_path

from tests.fakes.decisions import CPU, NOW, TEAM

MADE, LATER = "2025-10-09T08:53:20Z", "2025-10-09T08:53:22Z"
"""`NOW`, and two seconds after it."""

LABEL: dict[str, Any] = {"f:metadata": {"f:labels": {".": {}, "f:team": {}}}}
APP: dict[str, Any] = {"f:resources": {"f:requests": {"f:cpu": {}}}}
AMOUNT = {"f:spec": {"f:containers": {'k:{"name":"app"}': APP}}}
SENT = {**LABEL, "f:spec": {"f:containers": {'k:{"name":"app"}': {"f:name": {}, **APP}}}}


def pod(fields: Any, **entry: Any) -> dict[str, Any]:
    whole = {"manager": "them", "operation": "Update", "time": LATER, "fieldsV1": fields, **entry}
    return {"metadata": {"creationTimestamp": MADE, "managedFields": [whole]}}


def owner(document: dict[str, Any], path: str = TEAM, before: tuple[Any, ...] = ()) -> str:
    return later_owner(document, "Pod", parse_path(path), before=before, since=NOW)


def test_a_field_that_we_have_added_and_somebody_has_is_theirs() -> None:
    assert owner(pod(LABEL)) == "them"
    assert owner(pod(LABEL, operation="Apply")) == "them"
    assert owner(pod({"f:metadata": {"f:labels": {"f:tier": {}}}})) == ""
    assert owner(pod(LABEL, manager="nemutator")) == ""
    assert owner({"metadata": {}}) == owner({}) == ""


def test_who_sent_a_field_has_it_and_has_not_written_it_again() -> None:
    for path in (CPU, TEAM):
        assert owner(pod(SENT), path, ("1",)) == ""
        assert owner(pod(SENT, operation="Apply", time=MADE), path, ("1",)) == ""
        assert owner(pod(SENT, operation="Apply"), path, ("1",)) == "them"
        assert owner(pod(SENT, operation="Apply", time=None), path, ("1",)) == "them"
    assert owner(pod(SENT, subresource="resize"), CPU, ("1",)) == "them"


def test_who_has_not_sent_the_object_has_written_the_field_later() -> None:
    assert owner(pod(LABEL, time=MADE), TEAM, ("red",)) == "them"
    assert owner(pod(AMOUNT, time=MADE), CPU, ("1",)) == "them"


def test_a_second_owner_has_applied_the_value_that_is_there() -> None:
    document = pod(SENT, manager="creator")
    document["metadata"]["managedFields"] += pod(SENT, operation="Apply", time=MADE)["metadata"][
        "managedFields"
    ]
    assert owner(document, TEAM, ("red",)) == "them"


def test_who_applies_a_whole_value_has_all_that_is_in_it() -> None:
    whole: Any = {"f:spec": {"f:tolerations": {}}}
    path = 'tolerations[={"key":"gpu"}]'
    assert owner(pod(whole), path) == ""
    assert owner(pod(whole, operation="Apply"), path) == "them"
    one: Any = {"f:metadata": {"f:finalizers": {'v:"a/b"': {}}}}
    assert owner(pod(one), 'metadata.finalizers[="a/b"]') == "them"
    assert owner(pod(one), 'metadata.finalizers[="a/c"]') == ""


def test_fields_of_a_template_are_found_below_it() -> None:
    document = pod({"f:spec": {"f:template": LABEL}})
    found = later_owner(document, "Deployment", parse_path(TEAM), before=(), since=NOW)
    assert found == "them"


@pytest.mark.parametrize(
    "nonsense",
    [
        None, 3, [], [3], [{}], [{"fieldsV1": 3}], [{"fieldsV1": {"f:metadata": 3}}],
        [{"fieldsV1": {"f:metadata": {"f:labels": {"k:{": {}, "v:[": {}, "": {}}}}}],
    ],
)  # fmt: skip
def test_nonsense_names_nobody(nonsense: Any) -> None:
    assert owner({"metadata": {"managedFields": nonsense}}) == ""
    assert owner({"metadata": {"managedFields": nonsense}}, CPU) == ""
