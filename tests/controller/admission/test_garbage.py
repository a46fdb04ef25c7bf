"""Answers leave nothing to the garbage collector, which in admission examines old objects next to never."""

import gc
import itertools
from dataclasses import replace
from typing import Any

import pytest
from nemutator_common import names
from nemutator_controller.admission.alike_reviews import AlikeReviews
from nemutator_controller.admission.known_answers import KnownAnswers
from nemutator_controller.admission.known_plans import KnownPlans
from nemutator_controller.admission.recent_stamps import KEPT_S

from tests.controller.admission.test_answering_again import at_once
from tests.controller.admission.test_asked_again import HALF
from tests.controller.admission.test_review_texts import sent
from tests.controller.admission.test_webhook_handler import TEAM, Admission

KEPT = 8
ROUNDS = 80


def odd_reviews(number: int) -> list[bytes]:
    """Those with a label of their own were never sent before. Amounts and namespaces come again, as for so many of them more
    is remembered than a test can fill."""
    again = number % KEPT
    asked = {"resources": {"requests": {"cpu": f"{again + 1}m"}}}
    labels = {"labels": {"app": f"app-{number}"}, "generateName": f"app-{number}-"}
    return [
        b"nonsense %d" % number,
        b"[" * 2_000,
        sent(container={"resources": f"{number}"}),
        sent(container={"image": number}),
        sent(metadata={"annotations": number}),
        sent(metadata=labels, container=asked),
        sent(metadata=labels, container=asked, namespace=f"namespace-{again}"),
        sent("aaaaa", container=asked),
        sent("bbbbb", container=asked),
    ]


async def ask(admission: Admission, numbers: range) -> None:
    for number in numbers:
        await admission.clock.advance(KEPT_S)
        for body in odd_reviews(number):
            at_once(admission, body, opted_in=number % 2 == 0)


async def test_odd_reviews_leave_no_garbage_and_fill_what_is_remembered_no_further(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("CRITICAL")
    policies: dict[str, Any] = {"team": TEAM, "half": HALF}
    admission = Admission(**policies)
    ids = itertools.count()
    admission.answerer = replace(
        admission.answerer, plans=KnownPlans(most=KEPT), fresh=lambda: f"d{next(ids)}"
    )
    again = replace(admission.answerer.again, known=KnownAnswers(most=KEPT))
    object.__setattr__(admission.answerer, "again", again)
    alike = replace(admission.answerer.alike, again=again, known=AlikeReviews(most=KEPT))
    object.__setattr__(admission.answerer, "alike", alike)
    await ask(admission, range(ROUNDS))
    gc.collect()
    gc.disable()
    try:
        admission.records.kept.clear()
        before = len(gc.get_objects())
        await ask(admission, range(ROUNDS, 2 * ROUNDS))
        admission.records.kept.clear()
        left = len(gc.get_objects()) - before
        assert gc.collect() == 0, "there was garbage that only the collector finds"
    finally:
        gc.enable()
    assert len(admission.answerer.plans) == len(again.known) == KEPT
    assert admission.meter.value(names.ADMISSION_PLANS, origin="known") > ROUNDS
    assert admission.meter.value(names.ADMISSION_PLANS, origin="made") > ROUNDS
    assert left < 4 * ROUNDS, "of two reviews more is left than one object"
