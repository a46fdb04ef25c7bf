import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.mount.records import VolumeRecord, decoded, encoded

from tests.fakes.mounting import ROOT, a_volume

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
nonsense = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("ended", [True, False])
def test_a_volume_comes_back_without_its_tokens(ended: bool) -> None:
    content = encoded(VolumeRecord(a_volume(token="very.secret.token"), ended))
    assert b"very" not in content
    record = decoded(content, ROOT)
    assert record == VolumeRecord(a_volume(), ended)
    assert record.volume.tokens == {}


def changed(**fields: Any) -> bytes:
    return json.dumps(json.loads(encoded(VolumeRecord(a_volume()))) | fields).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[" * 100_000,
        b"null",
        changed(id="../x"),
        changed(id=1),
        changed(target="/etc"),
        changed(target=None),
        changed(pod={}),
        changed(pod={"namespace": "a", "name": "b", "uid": 1, "service_account": "c"}),
        changed(attributes=[]),
        changed(attributes={"a": 1}),
        changed(ended="no"),
    ],
)
def test_what_we_would_not_have_written_is_none(content: bytes) -> None:
    with pytest.raises(ValueError, match="not a record"):
        decoded(content, ROOT)


@given(nonsense)
def test_any_json_is_a_record_or_none(content: Any) -> None:
    with contextlib.suppress(ValueError):
        decoded(json.dumps(content).encode(), ROOT)
