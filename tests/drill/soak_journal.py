"""What the journal has of a soak, and what its pods carry."""

import json
from collections.abc import Iterable
from typing import Any

from nemutator_common.names import MUTATION

from tests.e2e.first_light.installation import Answer, Installation
from tests.testbed.running.waiting import until

PAGE = 1_000
ANSWERED_WITHIN_S = 240.0

Json = dict[str, Any]


def changes_since(installation: Installation, since: float, *, token: str) -> dict[str, Json]:
    """What admission has done to pods since then, by id."""
    found: dict[str, Json] = {}
    before = "inf"
    while True:
        question = f"/api/v1/mutations?limit={PAGE}&since={since!r}&until={before}"
        page = _items(installation, question, token=token)
        fresh = {one["id"]: one for one in page if one["id"] not in found}
        found |= fresh
        if len(page) < PAGE:
            return {id_: one for id_, one in found.items() if one["mode"] == "apply"}
        assert fresh, "a thousand decisions have one time"
        before = repr(min(one["at"] for one in page) + 1e-6)


def stamps_on(pods: Iterable[Json]) -> set[str]:
    """The decisions that stand on them."""
    marks = (pod["metadata"].get("annotations", {}).get(MUTATION) for pod in pods)
    return {json.loads(mark)["id"] for mark in marks if mark}


def _items(installation: Installation, question: str, *, token: str) -> list[Json]:
    """An answer of 503 asks to come again later."""
    answers: list[Answer] = []

    def is_answered() -> bool:
        answers.append(installation.console(question, token=token))
        return answers[-1].status != 503

    until(is_answered, f"the brain answers {question}", within_s=ANSWERED_WITHIN_S)
    assert answers[-1].status == 200, answers[-1]
    items: list[Json] = answers[-1].document["items"]
    return items
