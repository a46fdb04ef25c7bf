"""Questions of the API server are read, and its checks take every answer of ours."""

from base64 import b64decode
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.admission.reviews import (
    LARGEST,
    LARGEST_OBJECT,
    LONGEST_WARNING,
    MOST_WARNINGS,
    AdmissionResponse,
    ReviewError,
    decode,
    encode,
    head_of,
    object_of,
    printable,
)
from nemutator_controller.mutations.operations import Operation

from tests.fakes.admission_reviews import UID, NoAnswerError, review, verified


def encoded(manifest: Any) -> bytes:
    return msgspec.json.encode(manifest)


def test_a_question_is_read() -> None:
    request = decode(encoded(review({"metadata": {}, "spec": {}}, dryRun=True)))
    assert (request.uid, request.namespace, request.dry_run) == (UID, "default", True)
    assert (head_of(request), object_of(request)) == (
        {"metadata": {}},
        {"metadata": {}, "spec": {}},
    )
    assert request.creates_pod


@pytest.mark.parametrize(
    "changed",
    [
        {"operation": "UPDATE"},
        {"operation": "DELETE", "object": None},
        {"subResource": "resize"},
        {"subResource": "eviction"},
        {"resource": {"group": "", "version": "v1", "resource": "services"}},
        {"resource": {"group": "apps", "version": "v1", "resource": "pods"}},
    ],
)
def test_other_questions_are_not_about_new_pods(changed: Any) -> None:
    assert not decode(encoded(review({}, **changed))).creates_pod


def test_a_review_that_is_no_question_of_ours_says_what_was_expected() -> None:
    good = review({})
    for body, why in (
        (b"", "expected JSON"),
        (b"[]", "expected an AdmissionReview"),
        (b"[" * 100_000, "expected"),
        (b"\xff\xfe", "expected"),
        (encoded(good | {"apiVersion": "admission.k8s.io/v1beta1"}), "admissionReviewVersions"),
        (encoded(good | {"kind": "Review"}), "admission.k8s.io/v1 AdmissionReview"),
        (encoded(good | {"request": None}), "expected an AdmissionReview"),
        (encoded(review({}, uid="")), "request.uid"),
        (encoded(review({}, uid="x" * 129)), "request.uid"),
        (encoded(review({}, uid="a\nb")), "request.uid"),
        (encoded(review({}, uid=3)), "expected an AdmissionReview"),
        (b" " * (LARGEST + 1), "more than"),
    ):
        with pytest.raises(ReviewError) as error:
            decode(body)
        assert why in str(error.value), body[:40]


def test_an_object_that_is_none_says_what_was_expected() -> None:
    for manifest in (b"null", b"[]", b'"pod"', b"7"):
        request = decode(encoded(review(msgspec.Raw(manifest))))
        for read in (head_of, object_of):
            with pytest.raises(ReviewError, match="expected an object"):
                read(request)


def test_reviews_and_objects_have_a_largest_size() -> None:
    body = encoded(review({}))
    assert decode(body.ljust(LARGEST)).uid == UID
    largest = "x" * (LARGEST_OBJECT - len(encoded({"spec": ""})))
    assert object_of(decode(encoded(review({"spec": largest}))))
    with pytest.raises(ReviewError, match="more than"):
        object_of(decode(encoded(review({"spec": f"{largest}x"}))))


def test_a_refusal_is_a_403_of_the_server() -> None:
    answer = msgspec.json.decode(encode(UID, AdmissionResponse(refused="no")))
    status = {"code": 403, "reason": "Forbidden", "message": "no"}
    assert answer["response"] == {"uid": UID, "allowed": False, "status": status}


texts = st.text(max_size=400)
operations = st.lists(
    st.fixed_dictionaries({"op": texts, "path": texts, "value": texts}), max_size=3
)


@given(operations, st.lists(texts, max_size=20), st.just("") | texts)
def test_the_server_takes_every_answer(
    patch: list[dict[str, Any]], warnings: list[str], refused: str
) -> None:
    try:
        body = encode(
            UID, AdmissionResponse(operations=patch, warnings=tuple(warnings), refused=refused)
        )
    except UnicodeEncodeError:
        pytest.fail("an answer must be possible")
    answer = verified(body)
    assert answer.allowed is not bool(refused)
    assert answer.patch == ([] if refused else patch)
    assert len(answer.warnings) <= MOST_WARNINGS + 1
    assert all(len(each) <= LONGEST_WARNING and each.isprintable() for each in answer.warnings)
    assert sum(map(len, answer.warnings)) <= 4096


def test_an_answer_names_its_decision_for_the_audit_log() -> None:
    answer = msgspec.json.decode(encode(UID, AdmissionResponse(decision="d1")))
    assert answer["response"]["auditAnnotations"] == {"decision": "d1"}


def test_text_is_made_printable() -> None:
    assert printable("a\x1b[2J\nü", 80) == "a?[2J??"
    assert printable("x" * 100, 10) == "xxxxxxx..."


def answer(**response: Any) -> bytes:
    given = {"uid": UID, "allowed": True} | response
    return encoded(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": given}
    )


HEAD = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
OK = {"uid": UID, "allowed": True}
PATCH = "W10="

REFUSED_BY_THE_SERVER = {
    "nothing": b"",
    "an empty object": b"{}",
    "a list": b"[]",
    "no response": encoded(HEAD),
    "a null response": encoded(HEAD | {"response": None}),
    "another group": encoded(HEAD | {"apiVersion": "x/v1", "response": OK}),
    "another version": encoded(HEAD | {"apiVersion": "admission.k8s.io/v1beta1", "response": OK}),
    "no version": encoded({"kind": "AdmissionReview", "response": OK}),
    "another kind": encoded(HEAD | {"kind": "Review", "response": OK}),
    "no kind": encoded({"apiVersion": "admission.k8s.io/v1", "response": OK}),
    "no uid": encoded(HEAD | {"response": {"allowed": True}}),
    "another uid": answer(uid="x"),
    "no verdict": encoded(HEAD | {"response": {"uid": UID}}),
    "a verdict that is text": answer(allowed="true"),
    "a patch without a type": answer(patch=PATCH),
    "a type without a patch": answer(patchType="JSONPatch"),
    "an empty type": answer(patch=PATCH, patchType=""),
    "a type alone that is empty": answer(patchType=""),
    "an unknown type": answer(patch=PATCH, patchType="MergePatch"),
    "a patch that is no base64": answer(patch="!", patchType="JSONPatch"),
    "a patch that is no JSON": answer(patch="eHg=", patchType="JSONPatch"),
    "a patch that is an object": answer(patch="e30=", patchType="JSONPatch"),
    "a patch that is a number": answer(patch=3, patchType="JSONPatch"),
    "warnings that are text": answer(warnings="x"),
    "warnings that are numbers": answer(warnings=[1]),
}


def test_the_checks_refuse_what_the_server_refuses() -> None:
    for what, body in REFUSED_BY_THE_SERVER.items():
        with pytest.raises(NoAnswerError):
            print(what, verified(body))
    assert verified(answer()).allowed
    assert verified(answer(patch=PATCH, patchType="JSONPatch")).patch == []
    assert verified(answer(allowed=False, status={"message": "no"})).message == "no"


def test_a_patch_is_spelled_as_the_server_spells_what_it_is_compared_with() -> None:
    test: Operation = {"op": "test", "path": "/spec/containers/0/env/0/name", "value": "A&B"}
    answer = msgspec.json.decode(encode(UID, AdmissionResponse(operations=[test])))
    assert rb'"value":"A\u0026B"' in b64decode(answer["response"]["patch"])
