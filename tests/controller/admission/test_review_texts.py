"""What differs between pods of a workload is cut out of a review, and nothing else."""

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.admission.review_texts import LARGEST, text_of

from tests.fakes.admission_reviews import UID, review

OTHER_UID = UID.replace("7", "8")


def sent(random: str = "x7k2p", second: str = "32", uid: str = UID, **changed: Any) -> bytes:
    """The review of a pod as an API server writes it."""
    mount = {
        "name": f"kube-api-access-{random}",
        "readOnly": True,
        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
    }
    managed = {
        "manager": "kube-controller-manager",
        "operation": "Update",
        "apiVersion": "v1",
        "time": f"2026-11-24T18:49:{second}Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {}},
    }
    container = {"name": "app", "image": "a:1", "volumeMounts": [mount]}
    pod = {
        "metadata": {"generateName": "web-7d9c-", "labels": {"app": "web"}, "managedFields": [managed]}
        | changed.pop("metadata", {}),
        "spec": {
            "volumes": [{"name": mount["name"], "projected": {"sources": []}}],
            "containers": [container | changed.pop("container", {})],
        },
    }  # fmt: skip
    return msgspec.json.encode(review(pod, name="", **changed)).replace(UID.encode(), uid.encode())


def test_pods_of_a_workload_say_the_same() -> None:
    one, other = text_of(sent()), text_of(sent("bcdfg", "59", OTHER_UID))
    assert one is not None
    assert other is not None
    assert one.key == other.key
    assert (one.uid, other.uid) == (UID, OTHER_UID)


@pytest.mark.parametrize(
    "changed",
    [
        {"metadata": {"labels": {"app": "other"}}},
        {"metadata": {"generateName": "web-7d9d-"}},
        {"metadata": {"annotations": {"time": "2026-11-24T18:49:33Z", "fieldsType": "FieldsV1"}}},
        {"container": {"image": "a:2"}},
        {"userInfo": {"username": "joe"}},
        {"namespace": "other"},
        {"dryRun": True},
        {"operation": "UPDATE"},
    ],
)
def test_whatever_else_differs_is_another_text(changed: dict[str, Any]) -> None:
    plain, other = text_of(sent()), text_of(sent(**changed))
    assert plain is not None
    assert other is not None
    assert plain.key != other.key


def test_a_time_that_is_not_of_managed_fields_stays() -> None:
    notes = [{"time": f"2026-11-24T18:49:{second}Z", "fieldsType": "FieldsV1"} for second in (31, 32)]  # fmt: skip
    keys = [text_of(sent(metadata={"annotations": note})) for note in notes]
    assert keys[0] != keys[1]


@pytest.mark.parametrize(
    "odd",
    [
        b"",
        b"{}",
        sent()[1:],
        sent(uid="7"),
        sent(uid="A" * 36),
        # That name may be policies' business here.
        sent(container={"name": "kube-api-access-x7k2p"}),
        sent(container={"command": ["kube-api-access-x7k2p"]}),
        # Two volumes of that kind.
        sent().replace(b'"projected"', b'"projected":{}},{"name":"kube-api-access-bcdfg","projected"'),
        sent(metadata={"annotations": {"a": "x" * LARGEST}}),
    ],
)  # fmt: skip
def test_what_is_not_written_like_that_has_no_text(odd: bytes) -> None:
    assert text_of(odd) is None


def test_what_begins_within_another_one_is_not_cut_out() -> None:
    volume = b'{"name":"kube-api-access-x7k2p","projected":{'
    assert text_of(sent().replace(volume, volume + volume.removeprefix(b"{"))) is None
    other = volume.replace(b"x7k2p", b"bcdfg").removeprefix(b"{")
    assert text_of(sent().replace(volume, volume + other)) is not None


PLACES = re.compile(rb"x7k2p|18:49:32|705ab4f5")


@given(st.data())
def test_one_byte_elsewhere_makes_another_text(data: st.DataObject) -> None:
    body = sent()
    at = data.draw(st.integers(len(UID) + 100, len(body) - 1))
    byte = data.draw(st.integers(0x20, 0x7E))
    changed = body[:at] + bytes([byte]) + body[at + 1 :]
    if changed == body or any(found.start() <= at < found.end() for found in PLACES.finditer(body)):
        return
    plain, other = text_of(body), text_of(changed)
    assert plain is not None
    if other is not None and other.key == plain.key:
        # All that may differ is the rest of the time, digit by digit.
        assert re.search(rb'"time":"[0-9]{4}-[0-9T:-]{14}Z"', changed)
        assert re.sub(rb'"time":"[^"]*"', b"", changed) == re.sub(rb'"time":"[^"]*"', b"", body)


@given(st.binary(max_size=300))
def test_any_bytes_are_taken(body: bytes) -> None:
    text_of(body)
    begin = sent()[:120]
    text_of(begin + body)
