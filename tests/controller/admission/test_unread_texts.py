"""What may differ is what is not read of a pod, and what is known beside it."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from nemutator_controller.admission.json_texts import texts_in
from nemutator_controller.admission.known_plans import PlanKey
from nemutator_controller.admission.unread_texts import UnreadTexts, unread_texts
from nemutator_controller.policies.readings import UnreadFields, unread_by

from tests.fakes.admission_reviews import review

UNREAD = replace(unread_by(()), but_labels=frozenset({"team"}))
KEY = PlanKey((), ("app",), (((("cpu", "1"),), (("memory", "1Gi"),)),))
TOKEN = {"name": "kube-api-access-x7k2p"}
POD: dict[str, Any] = {
    "metadata": {
        "generateName": "web-7d9c-",
        "namespace": "default",
        "labels": {"app": "web", "team": "a"},
        "annotations": {"a": "b"},
        "ownerReferences": [
            {"kind": "A", "name": "a", "uid": "u"},
            {"kind": "ReplicaSet", "name": "web-7d9c", "uid": "v", "controller": True},
        ],
        "managedFields": [{"manager": "kube", "time": "2026"}],
    },
    "spec": {
        "serviceAccountName": "default",
        "schedulerName": "default-scheduler",
        "containers": [
            {
                "name": "app",
                "image": "a:1",
                "env": [{"name": "A", "value": "1"}],
                "command": ["a"],
                "resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}},
                "volumeMounts": [
                    {**TOKEN, "mountPath": "/var"},
                    {**TOKEN, "mountPath": "/run/nemutator"},
                    {"name": "b", "mountPath": "/b"},
                ],
            }
        ],
        "volumes": [TOKEN, {"name": "b"}, {**TOKEN, "csi": {}}],
    },
}


def found(
    pod: Any = POD, key: PlanKey = KEY, unread: UnreadFields = UNREAD, *, owned: bool = True
) -> tuple[list[str], UnreadTexts]:
    body = msgspec.json.encode(review(pod, name=""))
    places = unread_texts(texts_in(body) or (), pod, unread, key, owned=owned)
    assert places is not None
    return [body[each.first : each.end].decode() for each in places.texts], places


def test_what_is_not_read_may_differ() -> None:
    texts, places = found()
    assert [*texts[1:16]] == [
        "web-7d9c-", "web", "a", "u", "web-7d9c", "v", "2026", "default", "app", "a:1", "A", "1",
        "1", "1Gi", "kube-api-access-x7k2p",
    ]  # fmt: skip
    assert texts[16:] == ["kube-api-access-x7k2p", ""]
    assert texts[places.uid] == review()["request"]["uid"]
    assert places.generate_name is not None
    assert places.owner_name is not None
    assert (texts[places.generate_name], texts[places.owner_name]) == ("web-7d9c-", "web-7d9c")
    assert [(label, texts[at]) for label, at in places.labels] == [("app", "web")]
    assert [texts[at] for at in places.volumes] == [TOKEN["name"]] * 2
    assert [texts[at] for at in places.names] == ["app"]
    assert [each.of(texts) for each in places.amounts] == list(KEY.amounts or ())


def test_what_has_another_plan_may_not() -> None:
    texts, _ = found(owned=False)
    assert "web-7d9c-" not in texts
    assert "web-7d9c" not in texts
    texts, places = found(key=KEY._replace(names=None, amounts=None))
    assert not {"app", "1Gi"} & set(texts)
    assert (places.names, places.amounts) == ([], [])
    [container] = POD["spec"]["containers"]
    ours = container | {"name": "nemutator-init"}
    texts, _ = found(POD | {"spec": {"containers": [ours]}}, KEY._replace(names=None, amounts=None))
    assert not {"a:1", "1", TOKEN["name"]} & set(texts)
    texts, _ = found(unread=replace(UNREAD, but_labels=frozenset({"app", "team"})))
    assert "web" not in texts


@pytest.mark.parametrize("amount", ["0", "x", "1" * 65])
def test_an_amount_that_is_something_else_for_the_class_is_none(amount: str) -> None:
    texts, places = found()
    [each] = places.amounts
    [(_, at)] = each.requests
    texts[at] = amount
    assert each.of(texts) is None
    texts[at] = "2"
    assert each.of(texts) == ((("cpu", "2"),), (("memory", "1Gi"),))


def test_a_review_in_which_something_has_no_place_is_none() -> None:
    other = {"metadata": POD["metadata"], "spec": {"containers": [{"name": "app"}]}}
    body = msgspec.json.encode(review(other, name=""))
    assert unread_texts(texts_in(body) or (), POD, UNREAD, KEY, owned=True) is None
