"""Records and answers around what differs are what encoders make of the whole."""

import msgspec
from nemutator_controller.admission.alike_answers import answer_of, record_of
from nemutator_controller.admission.recent_stamps import Origin
from nemutator_controller.admission.reviews import AdmissionResponse, encode
from nemutator_controller.mutations.decisions import Decision, Edit, Subject

EDITS = (Edit(path="a", before=(), after=("b",), verb="labels", policy="p", reason="100 %"),)


def test_a_record_is_that_of_the_decision() -> None:
    subject = Subject(
        api_version="v1", kind="Pod", namespace="shop", name="", generate_name="web-",
        owner_kind="Deployment", owner_name="web",
    )  # fmt: skip
    decision = Decision(
        id="d1", at=1.5, request_uid="u", operation="CREATE", mode="apply", subject=subject,
        edits=EDITS, caller="10.0.0.1",
    )  # fmt: skip
    origin = Origin("shop", "", "web-", "Deployment", "web", "jim", False)
    made = record_of("d1", 1.5, "u", origin, msgspec.json.encode(EDITS), "10.0.0.1")
    assert made == msgspec.json.encode(decision)


def test_an_answer_is_that_of_the_review() -> None:
    response = AdmissionResponse(operations=({"op": "remove"},), patch=b"abc", decision="d1")
    assert answer_of("u", b"YWJj", "d1") == encode("u", response)
