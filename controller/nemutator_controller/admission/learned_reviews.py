"""What is learned of a review whose plan was known, so that others of its shape need not be looked at."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from nemutator_controller.admission.alike_answers import answer_of, record_of
from nemutator_controller.admission.alike_reviews import AlikeReview, AskingContainer
from nemutator_controller.admission.container_amounts import AmountPlaces
from nemutator_controller.admission.json_texts import texts_in
from nemutator_controller.admission.known_plans import KnownPlan, PlanKey
from nemutator_controller.admission.plan_texts import PlanTexts
from nemutator_controller.admission.pod_changes import SavedChange
from nemutator_controller.admission.recent_stamps import labels_beside, written_labels
from nemutator_controller.admission.review_shapes import shape_around
from nemutator_controller.admission.reviews import AdmissionResponse, encode
from nemutator_controller.admission.unread_texts import unread_texts
from nemutator_controller.mutations.qos import LISTS
from nemutator_controller.mutations.resource_bounds import ResourceBounds
from nemutator_controller.policies.readings import UnreadFields, needs_all

Json = Any


def learned_review(
    body: bytes,
    saved: SavedChange,
    unread: UnreadFields,
    note: Callable[[str, str], None],
    known_of_it: Sequence[object],
    *,
    is_bounded: bool,
    is_sized: bool | None,
) -> AlikeReview | None:
    """The one of *body*, which was answered as *saved*, by a plan that was known; None: others of its shape have to be looked at.

    *unread*: of such pods. *is_sized*: whether policies say what containers ask for; None: that is not known.
    """
    key, known, pod, origin = saved.key, saved.plan, saved.pod, saved.origin
    if key is None or known is None or not unread.is_any:
        return None
    texts = texts_in(body)
    if texts is None or needs_all(pod["metadata"].get("annotations")):
        return None
    try:
        owned = bool(origin.owner_name)
        places = unread_texts(texts, pod, unread, key, owned=owned)
    except (AttributeError, IndexError, KeyError, TypeError):
        # It is shaped otherwise than pods are, where nobody reads it.
        return None
    if places is None:
        return None
    metadata, spec = pod["metadata"], pod["spec"]
    containers = [] if key.amounts is None else list(_containers(spec))
    edits = known.planned.edits
    return AlikeReview(
        shape=shape_around(body, places.texts),
        unread=places,
        key=key,
        origin=origin,
        owner=_owner(metadata),
        labels=metadata.get("labels") or {},
        written_labels=written_labels(edits),
        containers=containers,
        overhead=spec.get("overhead"),
        sizing=unread.sizing if is_sized else None,
        circumstances=saved.circumstances,
        known_of_it=known_of_it,
        is_bounded=is_bounded,
        texts=_texts(key, known, [each.name for each in containers], is_sized=is_sized),
        note=note,
    )


def is_answered(
    review: AlikeReview,
    body: bytes,
    saved: SavedChange,
    response: AdmissionResponse,
    bounds: ResourceBounds,
) -> bool:
    """Whether the one that *review* was made of would be answered as it was: then everything was found where it is expected."""
    texts, record = review.shape.texts_of(body), saved.record
    pod = None if texts is None else review.pod(texts)
    text = None if pod is None else review.text(pod.key, bounds)
    if pod is None or text is None or record is None:
        return False
    expected = (saved.key, saved.origin, labels_beside(saved.pod, saved.change.edits))
    answer = answer_of(pod.uid, text.encoded_patch(record.id), record.id)
    made = record_of(record.id, record.at, pod.uid, pod.origin, text.edits, record.caller)
    return (
        (pod.key, pod.origin, pod.labels) == expected
        and made == msgspec.json.encode(record)
        and answer == encode(record.request_uid, response)
    )


def _texts(
    key: PlanKey, known: KnownPlan, called: Sequence[str], *, is_sized: bool | None
) -> PlanTexts:
    amounts = None
    if key.amounts is not None and is_sized is not None:
        amounts = AmountPlaces.found(known.planned.edits, known.operations, called)
    return PlanTexts(known, key.names or (), amounts)


def _owner(metadata: Json) -> tuple[str, str]:
    """Kind and name of what controls the pod."""
    for each in metadata.get("ownerReferences") or ():
        if each.get("controller") is True:
            return each.get("kind") or "", each.get("name") or ""
    return "", ""


def _containers(spec: Json) -> Sequence[AskingContainer]:
    """What has to do with the amounts of each, but these."""
    return [
        AskingContainer(
            field,
            each["name"],
            {"restartPolicy": each["restartPolicy"]} if "restartPolicy" in each else {},
        )
        for field in LISTS
        for each in spec.get(field) or ()
    ]
