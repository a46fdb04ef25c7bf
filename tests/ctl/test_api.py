import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.api import Api, ApiResponse


class Told(Api):
    """Answers what it is told to, and remembers what it was asked."""

    def __init__(self, status: int, body: bytes) -> None:
        self.response = ApiResponse(status, body)
        self.asked: list[tuple[str, str, bytes | None]] = []

    def _ask(self, method: str, target: str, body: bytes | None) -> ApiResponse:
        self.asked.append((method, target, body))
        return self.response


def test_questions_are_what_they_say() -> None:
    api = Told(200, b'{"a": 1}')
    assert api.get("/x", {"namespace": "a/b&c"}) == {"a": 1}
    assert api.post("/y", {"b": 2}, query={"plan": "true"}) == {"a": 1}
    assert api.post("/y") == {"a": 1}
    assert api.put("/z", []) == {"a": 1}
    assert api.content("/file") == b'{"a": 1}'
    assert api.asked == [
        ("GET", "/x?namespace=a%2Fb%26c", None),
        ("POST", "/y?plan=true", b'{"b": 2}'),
        ("POST", "/y", None),
        ("PUT", "/z", b"[]"),
        ("GET", "/file", None),
    ]


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, ExitCode.USAGE),
        (401, ExitCode.UNREACHABLE),
        (403, ExitCode.UNREACHABLE),
        (404, ExitCode.FAILED),
        (409, ExitCode.FAILED),
        (429, ExitCode.FAILED),
        (302, ExitCode.UNREACHABLE),
        (500, ExitCode.UNREACHABLE),
        (507, ExitCode.NO_SPACE),
    ],
)
def test_a_no_has_its_reason_its_remedy_and_its_code(status: int, code: ExitCode) -> None:
    said = {"error": "so\x1b[2J", "remedy": "do that"}
    for ask in (Told(status, json.dumps(said).encode()).get, Told(status, b"{}").content):
        with pytest.raises(OperatorError) as refused:
            ask("/x")
        assert refused.value.code == code
        assert refused.value.what.isprintable()
    with pytest.raises(OperatorError, match="do that"):
        Told(status, json.dumps(said).encode()).post("/x")


@given(st.binary(max_size=200), st.sampled_from([200, 404, 500]))
def test_whatever_comes_back_is_a_document_or_an_error_for_people(body: bytes, status: int) -> None:
    said = ""
    try:
        Told(status, body).get("/x")
    except OperatorError as error:
        said = error.what
    assert said.isprintable()
