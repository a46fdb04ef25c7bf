"""The text of a plan with other names and amounts is that of a plan that was made for them."""

from base64 import b64decode
from typing import Any

import msgspec
import pytest
from nemutator_controller.admission.answer_templates import ID
from nemutator_controller.admission.container_amounts import AmountPlaces
from nemutator_controller.admission.known_plans import KnownPlan
from nemutator_controller.admission.plan_texts import PlanTexts
from nemutator_controller.kube.patch_texts import patch_text
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.edits import Author
from nemutator_controller.mutations.operations import Operation
from nemutator_controller.mutations.stamps import LONGEST, Stamp, written
from nemutator_controller.policies.plans import MutationPlan

Json = Any


def edits(name: str, before: str, after: str, asked: Json) -> tuple[Edit, ...]:
    ours = {"name": "nemutator-init", "args": ["100 %"]} | ({"resources": asked} if asked else {})
    return (
        Edit(path="metadata.labels[a%b]", before=(), after=("<&>",), verb="labels", policy="p"),
        Edit(
            path=f"containers[name={name}].resources.requests.cpu",
            before=(before,), after=(after,), verb="resources", policy="p", reason=f"0.5 of {before}",
        ),
        Edit(path="initContainers[name=nemutator-init]", before=(), after=(ours,), verb="containers", policy="injection"),
    )  # fmt: skip


def operations(name: str, made: tuple[Edit, ...], stamp: str) -> list[Operation]:
    return [
        {"op": "add", "path": "/metadata/labels/a%b", "value": "<&>"},
        {"op": "replace", "path": "/spec/containers/0/resources/requests/cpu", "value": made[1].after[0]},
        {"op": "add", "path": "/spec/initContainers", "value": [made[2].after[0]]},
        {"op": "add", "path": "/metadata/annotations/nemutator.io~1mutation", "value": stamp},
        {"op": "test", "path": "/spec/containers/0/name", "value": name},
    ]  # fmt: skip


def plan_texts(asked: Json) -> PlanTexts:
    made = edits("app", "100m", "50m", asked)
    stamp = written(Stamp("d0", made))
    known = KnownPlan(MutationPlan(edits=made), tuple(operations("app", made, stamp)), 3)
    places = AmountPlaces.found(known.planned.edits, known.operations, ["app"])
    assert places is not None
    return PlanTexts(known, ("app",), places)


@pytest.mark.parametrize("first", [{}, {"requests": {"cpu": "1"}}])
@pytest.mark.parametrize("asked", [{}, {"requests": {"cpu": "2", "memory": "1Gi"}}])
def test_it_is_what_would_be_encoded(first: Json, asked: Json) -> None:
    text = plan_texts(first).of(
        ("web",), [(("3",), ("1500m",), Author("resources", "p", "0.5 of 3"))], asked
    )
    assert text is not None
    made = edits("web", "3", "1500m", asked)
    assert text.edits == msgspec.json.encode(made)
    patch = patch_text(operations("web", made, written(Stamp(ID, made))))
    for _ in range(2):
        for decision in (ID, "d7"):
            encoded = text.encoded_patch(decision)
            assert b64decode(encoded) == patch.replace(ID.encode(), decision.encode())
        text.encode_around()


@pytest.mark.parametrize("reason", ['a"', "a\\", "a&b", "ä", "a\n"])
def test_what_is_written_otherwise_has_no_text(reason: str) -> None:
    assert (
        plan_texts({}).of(("web",), [(("3",), ("2",), Author("resources", "p", reason))], {})
        is None
    )


def test_a_stamp_without_room_for_it_has_no_text() -> None:
    def of(amount: str) -> object:
        return plan_texts({}).of(("web",), [((amount,), ("2",), Author("resources", "p"))], {})

    size = len(written(Stamp(ID, edits("web", "", "2", {}))))
    assert of("1" * (LONGEST - size)) is not None
    assert of("1" * (LONGEST - size + 1)) is None


def test_without_places_it_is_the_same_each_time() -> None:
    made = edits("app", "1", "2", {})
    known = KnownPlan(MutationPlan(edits=made), tuple(operations("app", made, "")), 3)
    text = PlanTexts(known, (), None).of((), (), {})
    assert text is not None
    assert text.edits == msgspec.json.encode(made)
