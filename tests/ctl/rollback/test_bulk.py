"""Many mutations are planned, and taken back one after another within budgets."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.api import Api, ApiResponse
from nemutator_ctl.rollback.bulk import BulkRollback, summary


def mutation(number: int, owner: str = "web") -> Mapping[str, Any]:
    subject = {
        "kind": "Pod",
        "namespace": "team",
        "name": f"web-{number}",
        "generate_name": "",
        "owner_kind": "Deployment",
        "owner_name": owner,
    }
    return {"id": f"d{number}", "subject": subject}


def step(verdict: str, way: str) -> Mapping[str, Any]:
    values: Mapping[str, Any] = {"live": ["a"], "before": [], "after": ["a"]}
    return {"path": "p", "what": "is removed", "verdict": verdict, "way": way, **values}


class Brain(Api):
    """Knows three mutations: one of an object that is gone, two that need new pods."""

    signing_in = ""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.down = False

    def _ask(self, method: str, target: str, body: bytes | None) -> ApiResponse:
        parts = urlsplit(target)
        query = {word: values[0] for word, values in parse_qs(parts.query).items()}
        self.asked.append((f"{method} {parts.path}", query))
        status, document = self._answer(parts.path, query)
        return ApiResponse(status, json.dumps(document).encode())

    def _answer(self, path: str, query: Mapping[str, str]) -> tuple[int, Any]:
        if self.down:
            return 503, {"error": "the brain is away", "remedy": "wait"}
        if path.endswith("mutations"):
            return 200, {"items": [mutation(number) for number in (3, 2, 1)]}
        id_ = path.split("/")[-2]
        if id_ == "d1":
            return 409, {"error": "Pod team/web-1 is not there any more", "remedy": "look"}
        about = {"kind": "Pod", "namespace": "team", "name": "web"}
        if query.get("plan"):
            steps = [
                step("reverse", "patch"),
                step("reverse", "new pod"),
                step("conflict", "patch"),
            ]
            return 200, {"id": id_, "object": about, "steps": steps}
        whole = query.get("evict") == "true"
        outcome = {"path": "p", "result": "reversed" if whole else "left", "why": ""}
        state = "reversed" if whole else "partly"
        return 200, {"id": id_, "object": about, "state": state, "outcomes": [outcome]}


def test_a_plan_says_what_is_done_what_conflicts_and_what_restarts() -> None:
    brain = Brain()
    bulk = BulkRollback(brain, evictions=1)
    shown = summary(bulk.plan(bulk.choose({"policy": "p"})), evictions=1)
    assert brain.asked[0] == (
        "GET /api/v1/mutations",
        {"policy": "p", "standing": "true", "limit": "1000"},
    )
    assert shown.splitlines() == [
        "d3 Pod team/web-3: 2 to take back, 1 in conflict, needs a new pod",
        "d2 Pod team/web-2: 2 to take back, 1 in conflict, needs a new pod",
        "d1 Pod team/web-1: Pod team/web-1 is not there any more",
        "Deployment team/web: 2 pods keep a part until they are replaced, 1 of them in this run",
        "2 of 3 mutations can be taken back",
    ]


def test_no_more_pods_of_a_workload_are_evicted_than_the_budget_allows() -> None:
    brain, said = Brain(), list[str]()
    bulk = BulkRollback(brain, evictions=1)
    assert bulk.run(bulk.plan(bulk.choose({})), said.append) == 1
    assert [query for path, query in brain.asked if "plan" not in query][1:] == [
        {"evict": "true"},
        {"evict": "false"},
    ]
    assert said == [
        "[1/2] d3 Pod team/web-3: reversed (1 reversed)\n",
        "[2/2] d2 Pod team/web-2: partly (1 left)\n",
    ]


def test_a_rehearsal_changes_nothing() -> None:
    brain = Brain()
    bulk = BulkRollback(brain, evictions=0)
    assert bulk.rehearse(bulk.plan(bulk.choose({})), lambda _: None) == 2
    assert {"dry_run": "true"} in [query for _, query in brain.asked]
    assert all("plan" in q or "dry_run" in q for _, q in brain.asked[1:])


def test_a_brain_that_goes_away_ends_the_run() -> None:
    brain = Brain()
    bulk = BulkRollback(brain, evictions=1)
    planned = bulk.plan(bulk.choose({}))
    brain.down = True
    with pytest.raises(OperatorError) as failed:
        bulk.run(planned, lambda _: None)
    assert failed.value.code == ExitCode.UNREACHABLE
