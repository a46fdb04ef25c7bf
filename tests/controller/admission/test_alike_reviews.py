"""Reviews are found by their shape, as long as nothing else is known of the cluster; and no more are kept than are worth while."""

from dataclasses import replace

import msgspec
import pytest
from nemutator_controller.admission.alike_reviews import (
    MOST_OF_A_NAMESPACE,
    MOST_OF_A_PLAN,
    AlikeReview,
    AlikeReviews,
)

from tests.controller.admission.test_answering_alike import TWICE, sent, taught
from tests.controller.admission.test_webhook_handler import Admission
from tests.fakes.admission_reviews import review

KNOWN = ("policies",)


@pytest.fixture
def learned() -> AlikeReview:
    admission = Admission(**TWICE)
    taught(admission)
    alike = admission.answerer.alike
    known_now = alike.again.known_now(0.0)
    found = alike.known.find(sent(3), known_now, opted_in=False)
    assert found is not None
    return found[0]


def texts_of(learned: AlikeReview, body: bytes) -> list[str]:
    texts = learned.shape.texts_of(body)
    assert texts is not None
    return texts


def test_a_pod_is_who_its_texts_say(learned: AlikeReview) -> None:
    pod = learned.pod(texts_of(learned, sent(3)))
    assert pod is not None
    assert pod.called == "default/shop3-7d9c3-…"
    assert pod.origin[:5] == ("default", "", "shop3-7d9c3-", "Deployment", "shop3")
    assert pod.key.names == ("app-3-0",)
    assert pod.key.shape == learned.key.shape
    assert dict(pod.labels) == {"app": "web", "pod-template-hash": "7d9c3"}


@pytest.mark.parametrize("text", ["shop3-7d9c3-", "shop3-7d9c3", "app-3-0"])
@pytest.mark.parametrize("other", ["A", "a_b", "a<b", "a" * 254])
def test_what_cannot_be_called_so_is_none(learned: AlikeReview, text: str, other: str) -> None:
    texts = texts_of(learned, sent(3))
    texts[texts.index(text)] = other
    assert learned.pod(texts) is None


def test_a_workload_without_a_name_has_made_none(learned: AlikeReview) -> None:
    texts = texts_of(learned, sent(3))
    texts[texts.index("shop3-7d9c3")] = "-7d9c3"
    assert learned.pod(texts) is None


def test_they_are_forgotten_once_something_else_is_known(learned: AlikeReview) -> None:
    known = AlikeReviews()
    known.keep(sent(1), KNOWN, learned, opted_in=False)
    assert known.find(sent(3), KNOWN, opted_in=False) is not None
    assert known.find(sent(3), KNOWN, opted_in=True) is None
    assert known.find(sent(3, namespace="other"), KNOWN, opted_in=False) is None
    assert known.find(b"", KNOWN, opted_in=False) is None
    assert known.find(sent(3), ("others",), opted_in=False) is None
    assert len(known) == 0


def test_of_a_plan_and_of_a_namespace_a_few_are_kept(learned: AlikeReview) -> None:
    known = AlikeReviews()
    for number in range(MOST_OF_A_NAMESPACE + 2):
        assert known.wants(learned.key, KNOWN) == (number < MOST_OF_A_PLAN)
        known.keep(sent(1), KNOWN, replace(learned), opted_in=False)
    assert len(known) == MOST_OF_A_NAMESPACE


def test_of_all_no_more_are_kept_than_are_to_be(learned: AlikeReview) -> None:
    known = AlikeReviews(most=3)
    for number in range(5):
        body = msgspec.json.encode(review({}, namespace=f"n{number}"))
        of_other = learned.key._replace(shape=(number,))
        known.keep(body, KNOWN, replace(learned, key=of_other), opted_in=False)
    assert len(known) == len(known._learned) == 3


def test_who_was_asked_about_last_is_compared_first(learned: AlikeReview) -> None:
    known = AlikeReviews()
    other = replace(learned, shape=learned.shape._replace(begin=b"another"))
    for each in (learned, other):
        known.keep(sent(1), KNOWN, each, opted_in=False)
    [listed] = known._found_by.values()
    assert listed == [other, learned]
    assert known.find(sent(3), KNOWN, opted_in=False) is not None
    assert listed == [learned, other]
