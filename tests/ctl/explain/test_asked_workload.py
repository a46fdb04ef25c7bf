import json
from typing import Any

import pytest
from nemutator_common.errors import OperatorError
from nemutator_ctl.api import Api, ApiResponse
from nemutator_ctl.explain.asked_workload import asked

from tests.ctl.explain.test_view import USED, item


class Brain(Api):
    """Answers with *advice*, and with histograms of it."""

    def __init__(self, *advice: dict[str, Any]) -> None:
        self._advice = advice
        self.asked: list[str] = []

    def _ask(self, method: str, target: str, body: bytes | None) -> ApiResponse:
        self.asked.append(target)
        answer = USED if "histograms" in target else {"items": self._advice}
        return ApiResponse(200, json.dumps(answer).encode())


def test_a_brain_is_asked_for_what_is_explained_alone() -> None:
    brain = Brain(item())
    found = asked(brain, "deployment/cart", "app", "shop")
    assert [row.owner for row in found.rows] == ["cart"]
    assert len(found.used) == 1
    assert brain.asked == [
        "/api/v1/advice?namespace=shop&workload=deployment%2Fcart",
        "/api/v1/advice/histograms?namespace=shop&workload=deployment%2Fcart&container=app",
    ]


def test_an_older_brain_that_answers_with_everything_is_understood() -> None:
    found = asked(Brain(item(), item(owner="web")), "web", None, None)
    assert [row.owner for row in found.rows] == ["web"]


def test_which_containers_there_are_is_said_where_there_is_none_of_that_name() -> None:
    with pytest.raises(OperatorError, match="it has app"):
        asked(Brain(item()), "cart", "proxy", "shop")
    with pytest.raises(OperatorError, match="nothing was reported of 'cart'"):
        asked(Brain(), "cart", None, None)
