"""Many mutations are planned, and taken back one after another within budgets."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.api import Api, ApiResponse
from nemutator_ctl.rollback.bulk import MOST_NAMED, PAGE, BulkRollback, summary


def mutation(number: int, owner: str = "web") -> Mapping[str, Any]:
    subject = {
        "kind": "Pod",
        "namespace": "team",
        "name": f"web-{number}",
        "generate_name": "",
        "owner_kind": "Deployment",
        "owner_name": owner,
    }
    return {"id": f"d{number}", "at": float(number), "subject": subject}


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


class Crowded(Brain):
    """Of its mutations the newest are of objects that are gone, two pages of them."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.left = list(range(count, 0, -1))

    def _answer(self, path: str, query: Mapping[str, str]) -> tuple[int, Any]:
        if path.endswith("mutations"):
            # Two of each moment.
            below = [n for n in self.left if n // 2 < float(query.get("until", "inf"))]
            page = below[: int(query["limit"])]
            return 200, {"items": [{**mutation(n), "at": float(n // 2)} for n in page]}
        number = int(path.split("/")[-2][1:])
        return super()._answer("d1/rollback" if number > 2 else path, query)


def test_objects_that_are_gone_do_not_fill_a_run() -> None:
    brain = Crowded(PAGE * 2 + 1)
    bulk = BulkRollback(brain, evictions=1)
    shown = summary(bulk.plan(bulk.choose({})), evictions=1).splitlines()
    assert shown[MOST_NAMED:] == [
        "d2 Pod team/web-2: 2 to take back, 1 in conflict, needs a new pod",
        f"and {PAGE * 2 - MOST_NAMED} more that cannot be taken back",
        "Deployment team/web: 1 pods keep a part until they are replaced, 1 of them in this run",
        f"1 of {PAGE * 2 + 1} mutations can be taken back",
    ]


class OfPolicies(Brain):
    """Each of its mutations has a field of another policy; of the second one nothing else is left."""

    def _answer(self, path: str, query: Mapping[str, str]) -> tuple[int, Any]:
        if path.endswith("mutations"):
            return super()._answer(path, query)
        assert query["policy"] == "p"
        id_, about = path.split("/")[-2], {"kind": "Pod", "namespace": "team", "name": "web"}
        mine = step("already" if id_ == "d2" else "reverse", "patch")
        if query.get("plan"):
            return 200, {"id": id_, "object": about, "steps": [mine, step("kept", "new pod")]}
        outcomes = [{"path": "p", "result": end, "why": ""} for end in ("reversed", "kept")]
        return 200, {"id": id_, "object": about, "state": "partly", "outcomes": outcomes}


def test_of_a_policy_what_others_have_made_stays_and_is_no_failure() -> None:
    bulk, said = BulkRollback(OfPolicies(), evictions=1, only={"policy": "p"}), list[str]()
    planned = bulk.plan(bulk.choose({"policy": "p"}))
    assert summary(planned, evictions=1).splitlines() == [
        "d3 Pod team/web-3: 1 to take back, 1 of other policies",
        "d1 Pod team/web-1: 1 to take back, 1 of other policies",
        "2 of 2 mutations can be taken back",
    ]
    assert bulk.run(planned, said.append) == 0
    assert said[0] == "[1/2] d3 Pod team/web-3: partly (1 reversed, 1 kept)\n"
