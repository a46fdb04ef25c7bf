"""Of a review that was answered it is learned what others of its shape may say; what is not as expected is not learned."""

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs
from nemutator_controller.admission.learned_reviews import is_answered, learned_review
from nemutator_controller.admission.pod_changes import SavedChange
from nemutator_controller.admission.reviews import AdmissionResponse, decode
from nemutator_controller.mutations.resource_bounds import UNBOUNDED
from nemutator_controller.policies.readings import EVERYTHING, UnreadFields
from nemutator_controller.policies.snapshot import snapshot_of

from tests.controller.admission.test_answering_again import at_once
from tests.controller.admission.test_answering_alike import TWICE, sent
from tests.controller.admission.test_webhook_handler import Admission

Learned = tuple[bytes, SavedChange, AdmissionResponse]


@pytest.fixture
def asked() -> Learned:
    """The second of two reviews."""
    admission = Admission(**TWICE)
    assert at_once(admission, sent(1))
    body = sent(2)
    decided = admission.answerer._decided(decode(body), opted_in=False)
    assert decided.saved is not None
    return body, decided.saved, decided.response


def learned(asked: Learned, unread: UnreadFields | None = None, **changed: Any) -> Any:
    body, saved, _ = asked
    if unread is None:
        unread = snapshot_of(TWICE).for_pods_of("default").unread
    for field, value in changed.items():
        saved = structs.replace(saved, **{field: value})
    return learned_review(
        body, saved, unread, lambda _pod, _decision: None, (), is_bounded=True, is_sized=True
    )


def test_the_one_that_it_was_made_of_is_answered_as_it_was(asked: Learned) -> None:
    review = learned(asked)
    assert review is not None
    body, saved, response = asked
    assert is_answered(review, body, saved, response, UNBOUNDED)
    assert [each.name for each in review.containers] == ["app-2-0"]
    assert review.owner == ("ReplicaSet", "shop2-7d9c2")


def test_one_that_would_be_answered_otherwise_is_found_out(asked: Learned) -> None:
    body, saved, response = asked
    review = learned(asked)
    assert not is_answered(review, body[:-1], saved, response, UNBOUNDED)
    assert not is_answered(replace(review, owner=("Job", "")), body, saved, response, UNBOUNDED)
    other = structs.replace(response, patch=b"[]")
    assert not is_answered(review, body, saved, other, UNBOUNDED)
    assert saved.record is not None
    mode = structs.replace(saved, record=replace(saved.record, mode="preview"))
    assert not is_answered(review, body, mode, response, UNBOUNDED)
    dry_run = structs.replace(saved, record=None)
    assert not is_answered(review, body, dry_run, response, UNBOUNDED)


def test_what_is_not_as_expected_is_not_learned(asked: Learned) -> None:
    body, saved, response = asked
    assert learned(asked, EVERYTHING) is None
    assert learned(asked, key=None) is None
    assert learned(asked, plan=None) is None
    assert learned((body.replace(b'"image"', b'"n":1,"n":2,"image"'), saved, response)) is None
    declared = {"nemutator.io/env.A": "a/b#c"}
    pod = saved.pod | {"metadata": saved.pod["metadata"] | {"annotations": declared}}
    assert learned(asked, pod=pod) is None
    odd: Any = ({"ownerReferences": {"a": "b"}}, {"ownerReferences": ["a"]}, {"ownerReferences": 1})
    for metadata in odd:
        pod = saved.pod | {"metadata": saved.pod["metadata"] | metadata}
        assert learned(asked, pod=pod) is None
