from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.vault_api.paths import LONGEST, decoded

segments = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="%?#\\;/"), min_size=1
)
paths = st.lists(segments.filter(lambda one: one not in (".", "..")), min_size=1, max_size=6)


@given(paths)
def test_a_plain_path_is_taken_as_it_was_meant(parts: list[str]) -> None:
    path = "/".join(parts)
    target = f"/v1/{quote(path)}"
    if len(target) < LONGEST and path.isprintable():
        assert decoded(target) == decoded(f"{target}/") == decoded(f"{target}?list=true") == path


@given(st.text(st.characters(max_codepoint=127), max_size=40))
def test_what_is_taken_can_be_read_in_one_way_alone(target: str) -> None:
    try:
        path = decoded(f"/v1/{target}")
    except HttpRefusal:
        return
    assert path.isprintable()
    assert not {"", ".", ".."} & set(path.split("/"))
    assert not set(path) & set("%?#\\;")
    # Sent on, it is the same path to everybody.
    assert decoded(f"/v1/{quote(path)}") == path


@pytest.mark.parametrize(
    "target",
    [
        "/v1/",
        "/v1",
        "/v2/secret",
        "http://vault/v1/secret/x",
        "//v1/secret/x",
        "/v1//sys/seal",
        "/v1/secret/../sys/seal",
        "/v1/secret/./x",
        "/v1/secret/%2e%2e/sys/seal",
        "/v1/secret/.%2E/sys/seal",
        "/v1/secret%2f..%2fsys/seal",
        "/v1/secret/%252e%252e/x",
        "/v1/secret//x",
        "/v1/secret/x//",
        "/v1/secret/x%00",
        "/v1/secret/x%0d%0aX-Vault-Token:%20y",
        "/v1/secret/%ff",
        "/v1/secret/%c0%ae%c0%ae/x",
        "/v1/secret/%zz",
        "/v1/secret/%2",
        "/v1/secret/x%3flist=true",
        "/v1/secret/x%23y",
        "/v1/secret/x;y",
        "/v1/secret\\x",
        "/v1/secret/%e2%80%ae",
        f"/v1/secret/{'x' * (1 << 20)}",
    ],
)
def test_tricks_are_refused(target: str) -> None:
    with pytest.raises(HttpRefusal) as refused:
        decoded(target)
    assert len(refused.value.error) < 200
