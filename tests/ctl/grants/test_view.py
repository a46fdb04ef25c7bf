from typing import Any

import msgspec
import pytest
from nemutator_common.errors import OperatorError
from nemutator_ctl.grants.view import decode, overview

from tests.fakes.grants import grant


def sent(*grants: object) -> Any:
    """As they come from the brain."""
    return msgspec.json.decode(msgspec.json.encode({"items": grants}))


def test_who_had_what_is_shown_with_the_node() -> None:
    read = grant(operation="read", secret="db")
    denied = grant(
        operation="read", result="denied", pod="", caller="uid 7 /bin/x", reason="ru\x1ble"
    )
    head, first, second = overview(decode(sent(read, denied))).splitlines()
    assert head.split() == ["WHEN", "NODE", "WHO", "OPERATION", "RESULT", "SECRET", "REASON"]
    assert first.split() == ["2023-11-14", "22:13:20Z", "n1", "shop/web-1", "read", "granted", "db"]
    assert "uid 7 /bin/x" in second
    assert "ru\\x1ble" in second


def test_nothing_is_said_in_a_sentence() -> None:
    assert overview(decode(sent())) == "No such grant is recorded.\n"


@pytest.mark.parametrize("field", ["at", "node", "pod", "caller", "operation", "result", "secret"])
def test_what_is_no_grant_is_not_understood(field: str) -> None:
    bad = sent(grant())
    del bad["items"][0][field]
    with pytest.raises(OperatorError, match="not a list of grants"):
        decode(bad)
