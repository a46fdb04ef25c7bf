"""Grants of a node that does not exist."""

from dataclasses import replace
from typing import Any

from nemutator_common.wire import Grant

_LOGIN = Grant(
    at=1_700_000_000.0,
    node="n1",
    namespace="shop",
    pod="web-1",
    pod_uid="u1",
    service_account="web",
    caller="",
    operation="login",
    result="granted",
    role="shop.web",
    expires_at=1_700_003_600.0,
)


def grant(**changed: Any) -> Grant:
    return replace(_LOGIN, **changed)
