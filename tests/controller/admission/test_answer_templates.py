"""What a template writes is what the encoders write, byte for byte."""

from base64 import b64encode
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_controller.admission.answer_templates import (
    ID,
    UID,
    AnswerTemplate,
    encoded_around,
    fits_template,
    template_of,
)
from nemutator_controller.admission.known_plans import KnownPlan
from nemutator_controller.admission.reviews import AdmissionResponse, encode
from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.mutations.stamps import LONGEST, Stamp, written
from nemutator_controller.policies.plans import MutationPlan

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip
maybe = st.one_of(st.just(()), st.tuples(values))
edits = st.lists(
    st.builds(
        Edit,
        path=st.sampled_from(["metadata.labels[team]", "containers[name=app].image"]),
        before=maybe,
        after=maybe,
        verb=st.just("labels"),
        policy=st.text(max_size=5),
        reason=st.text(max_size=5),
    ),
    min_size=1,
    max_size=3,
).map(tuple)
plain = st.text(alphabet="0123456789abcdef", min_size=1, max_size=16)


def known_of(changes: tuple[Edit, ...], *, whole: bool = False) -> KnownPlan:
    """A plan whose stamp is the only annotation, or one of several."""
    stamp = written(Stamp("x", changes))
    path = "/metadata/annotations"
    operations = (
        {"op": "add", "path": "/metadata/labels", "value": {"team": "a"}},
        {"op": "add", "path": path, "value": {str(names.MUTATION): stamp}}
        if whole
        else {"op": "add", "path": f"{path}/{names.MUTATION}", "value": stamp},
    )
    return KnownPlan(MutationPlan(edits=changes), operations, 1)


@given(st.binary(max_size=40), st.binary(min_size=16, max_size=16), st.binary(max_size=40))
def test_base64_around_a_text_is_that_of_the_whole(
    before: bytes, text: bytes, behind: bytes
) -> None:
    assert encoded_around(before, behind).with_(text) == b64encode(before + text + behind)


def decision(changes: tuple[Edit, ...], **more: Any) -> Decision:
    subject = Subject(api_version="v1", kind="Pod", namespace="shop", name="", generate_name="web-")
    given_: dict[str, Any] = {"id": "d", "at": 1.0, "request_uid": "u", "caller": ""} | more
    return Decision(operation="CREATE", mode="apply", subject=subject, edits=changes, **given_)


@given(edits, plain, plain, st.floats(0, 4e9), st.sampled_from(["", "10.0.0.1", "fe80::1%eth0"]), st.booleans())  # fmt: skip
def test_it_writes_what_the_encoders_write(
    changes: tuple[Edit, ...], id_: str, uid: str, at: float, caller: str, whole: bool
) -> None:
    known = known_of(changes, whole=whole)
    template = template_of(known, decision(changes))
    assert template is not None
    assert fits_template(id_, uid, caller)
    record = decision(changes, id=id_, at=at, request_uid=uid, caller=caller)
    assert template.record_of(id_, at, uid, caller) == _record(record, at)
    operations = known.operations_for(written(Stamp(id_, changes)))
    response = AdmissionResponse(operations=operations, decision=id_)
    assert template.response_of(id_, uid) == encode(uid, response)


def _record(record: Decision, at: float) -> bytes:
    """As it is encoded, but for two ways to write the same number."""
    text = msgspec.json.encode(record)
    return text.replace(b'"at":%b,' % msgspec.json.encode(at), b'"at":%b,' % repr(at).encode(), 1)


@pytest.mark.parametrize("text", [ID, UID, "x" * LONGEST])
def test_a_pod_with_such_texts_of_its_own_has_none(text: str) -> None:
    edit = Edit(path="metadata.labels[a]", before=(), after=(text,), verb="labels", policy="p")
    found = template_of(known_of((edit,)), decision((edit,)))
    if text == UID:
        # Nothing of the pod is near that one: its patch is in base64.
        assert isinstance(found, AnswerTemplate)
    else:
        assert found is None


@pytest.mark.parametrize("odd", ['"', "\\", "a b", "\n", "é", "x" * 17])
def test_texts_that_json_writes_in_another_way_do_not_fit(odd: str) -> None:
    assert not fits_template(odd, "u", "")
    if len(odd) == 1 or odd == "a b":
        assert not fits_template("d", odd, "")
        assert not fits_template("d", "u", odd)
