"""Answers reviews that differ from an earlier one in single texts: nothing is decoded, planned or proven for them.

What differs is what is not read of such pods, and what their containers are called and ask for. The record is kept before the
answer, as for all others. Whatever is not known for certain is left to `webhook_handler.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.admission.alike_answers import answer_of, record_of
from nemutator_controller.admission.alike_reviews import AlikePod, AlikeReview, AlikeReviews
from nemutator_controller.admission.answer_templates import fits_template
from nemutator_controller.admission.answering_again import COUNTED, AnsweringAgain, are_as_then
from nemutator_controller.admission.frames import NotSavedError
from nemutator_controller.admission.known_plans import KnownPlans
from nemutator_controller.admission.learned_reviews import is_answered, learned_review
from nemutator_controller.admission.pod_changes import SavedChange
from nemutator_controller.admission.review_texts import LARGEST
from nemutator_controller.admission.reviews import AdmissionResponse
from nemutator_controller.mutations.image_tokens import may_have_tokens
from nemutator_controller.mutations.known_tokens import PREFIX
from nemutator_controller.mutations.resource_bounds import ResourceBounds

_PLACEHOLDER = PREFIX.encode()


@dataclass(frozen=True, slots=True)
class AnsweringAlike:
    again: AnsweringAgain
    plans: KnownPlans
    process: Process
    known: AlikeReviews = field(default_factory=AlikeReviews)
    _seconds: Callable[[float], None] = field(init=False)

    def __post_init__(self) -> None:
        observe = self.process.meter.observer(names.ADMISSION_SECONDS)
        object.__setattr__(self, "_seconds", observe)

    def answer(
        self, body: bytes, caller: str, *, opted_in: bool
    ) -> tuple[bytes, Callable[[], None]] | None:
        """The bytes of an answer that is known, and what counts and logs it; None, and nothing has happened, when it is
        not."""
        again = self.again
        began, at = self.process.clock.monotonic(), self.process.clock.now()
        known_now = again.known_now(at)
        found = self.known.find(body, known_now, opted_in=opted_in) if known_now else None
        if found is None:
            return None
        review, texts = found
        pod = review.pod(texts)
        if pod is None or self._may_have_tokens(body):
            return None
        bounds = self._bounds_as_then(review, pod, opted_in=opted_in)
        text = None if bounds is None else review.text(pod.key, bounds)
        again.stamps.hear(began)
        # Of another pod of this origin that comes now one may have the stamp. And the second of one revision is planned for
        # in the long way, by which all others are known.
        if (
            text is None
            or not again.stamps.are_among(pod.origin, (), began)
            or self.plans.begins_again(pod.key, pod.origin.generate_name)
        ):
            return None
        decision = again.fresh()
        if not fits_template(decision, pod.uid, caller):
            return None
        try:
            again.records.keep(record_of(decision, at, pod.uid, pod.origin, text.edits, caller))
        except NotSavedError:
            # The long way says so to who creates the pod.
            return None
        again.stamps.keep_alike(pod.origin, pod.labels, text.edits, decision, began)
        response = answer_of(pod.uid, text.encoded_patch(decision), decision)
        seconds = self.process.clock.monotonic() - began
        return response, partial(self._count, review, pod, decision, seconds)

    def _count(self, review: AlikeReview, pod: AlikePod, decision: str, seconds: float) -> None:
        review.note(pod.called, decision)
        self._seconds(seconds)

    def learn(
        self, body: bytes, saved: SavedChange, response: AdmissionResponse, *, opted_in: bool
    ) -> None:
        """The pod that *body* is about has got a plan that was known, as *saved*, and *response*; so do others whose reviews
        differ from it in nothing that makes another plan."""
        again, key, change = self.again, saved.key, saved.change
        known_now = again.known_now(self.process.clock.now())
        if (
            not known_now
            or key is None
            or saved.record is None
            or not change.is_again
            or len(body) > LARGEST
            or not self.known.wants(key, known_now)
            or self._may_have_tokens(body)
        ):
            return
        policies = known_now[0].for_pods_of(saved.origin.namespace)
        found = again.known_of(saved.origin, is_bounded=policies.write_amounts)
        review = learned_review(
            body,
            saved,
            policies.unread,
            again.decisions.noting_pods(change.planned, "patched", *COUNTED),
            found,
            is_bounded=policies.write_amounts,
            is_sized=self.plans.is_sized(key),
        )
        if review is not None and is_answered(review, body, saved, response, found[-1]):
            self.known.keep(body, known_now, review, opted_in=opted_in)

    def _may_have_tokens(self, body: bytes) -> bool:
        tokens = self.again.cluster.tokens
        return tokens is not None and (_PLACEHOLDER in body or may_have_tokens(body, tokens))

    def _bounds_as_then(
        self, review: AlikeReview, pod: AlikePod, *, opted_in: bool
    ) -> ResourceBounds | None:
        """Those of the pod's namespace; None: something is not as it was, or each pod leaves less room for others."""
        found = self.again.known_of(pod.origin, is_bounded=review.is_bounded)
        bounds = found[-1]
        if pod.key.amounts is not None and bounds.rooms:
            return None
        as_then = are_as_then(found, review.known_of_it, review.circumstances, opted_in=opted_in)
        return bounds if as_then else None
