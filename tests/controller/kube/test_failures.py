"""Each refusal has its behaviour, and says first what was asked."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube import failures
from nemutator_controller.kube.failures import KubeError, from_answer

ASKED = "list pods in namespace team"


@pytest.mark.parametrize(
    ("code", "reason", "kind", "retry"),
    [
        (400, "BadRequest", failures.InvalidError, False),
        (401, "Unauthorized", failures.UnauthorizedError, False),
        (403, "Forbidden", failures.ForbiddenError, False),
        (404, "NotFound", failures.NotFoundError, False),
        (409, "AlreadyExists", failures.AlreadyExistsError, False),
        (409, "Conflict", failures.ConflictError, False),
        (410, "Expired", failures.GoneError, False),
        (410, "Gone", failures.GoneError, False),
        (422, "Invalid", failures.InvalidError, False),
        (429, "TooManyRequests", failures.TooManyRequestsError, True),
        (500, "InternalError", failures.UnavailableError, True),
        (500, "ServerTimeout", failures.UnavailableError, True),
        (503, "ServiceUnavailable", failures.UnavailableError, True),
        (504, "Timeout", failures.UnavailableError, True),
    ],
)
def test_every_status_has_its_behaviour(
    code: int, reason: str, kind: type[KubeError], retry: bool
) -> None:
    body = json.dumps({"kind": "Status", "code": code, "reason": reason, "message": "why"})
    error = from_answer(ASKED, code, body.encode())
    assert type(error) is kind
    assert error.retry is retry
    assert str(error) == f"{ASKED}: {code} why"


def test_a_missing_permission_is_named_as_verb_resource_in_namespace() -> None:
    error = from_answer(ASKED, 403, b'{"reason":"Forbidden","message":"pods is forbidden"}')
    assert isinstance(error, failures.ForbiddenError)
    assert str(error).startswith("list pods in namespace team")


def test_an_unknown_api_group_is_no_missing_object() -> None:
    error = from_answer(ASKED, 404, b"404 page not found\n")
    assert isinstance(error, failures.UnknownResourceError)


def test_an_unknown_resource_of_a_known_group_is_no_missing_object() -> None:
    answer = {"kind": "Status", "code": 404, "reason": "NotFound", "message": "no", "details": {}}
    error = from_answer(ASKED, 404, json.dumps(answer).encode())
    assert isinstance(error, failures.UnknownResourceError)
    answer["details"] = {"name": "web", "kind": "pods"}
    error = from_answer(ASKED, 404, json.dumps(answer).encode())
    assert isinstance(error, failures.NotFoundError)


def test_what_etcd_finds_too_large_is_too_large_for_ever() -> None:
    answer = {"kind": "Status", "code": 500, "message": "etcdserver: request is too large"}
    error = from_answer(ASKED, 500, json.dumps(answer).encode())
    assert isinstance(error, failures.InvalidError)


def test_a_disruption_budget_is_told_apart_from_load() -> None:
    cause = {"reason": "DisruptionBudget", "message": "needs 2"}
    status = {"code": 429, "reason": "TooManyRequests", "details": {"causes": [cause]}}
    error = from_answer(ASKED, 429, json.dumps(status).encode(), "10")
    assert isinstance(error, failures.DisruptionBudgetError)


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7), ("", 0), ("Wed, 21 Oct", 0), ("9" * 50, 0)]
)
def test_retry_after_is_whole_seconds(header: str, seconds: float) -> None:
    assert from_answer(ASKED, 429, b"", header).retry_after_s == seconds


@given(st.integers(300, 599), st.binary(max_size=1000), st.text(max_size=20))
def test_whatever_was_answered_is_one_short_error(code: int, body: bytes, header: str) -> None:
    assert len(str(from_answer(ASKED, code, body, header))) < 400
