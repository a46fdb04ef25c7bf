from typing import Any

import msgspec
import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.neighbours.documents import item_document, list_document
from nemutator_controller.neighbours.model import Neighbourhood
from nemutator_ctl.neighbours.view import decode, decode_one, details, overview

from tests.controller.neighbours.test_documents import found


def listing(latest: Neighbourhood | None = None, **changed: Any) -> Any:
    document = list_document(
        latest or found(), workloads=False, role=None, namespace=None, limit=10, now=101.0
    )
    return msgspec.json.decode(msgspec.json.encode(document)) | changed


def test_a_victim_is_a_row_with_its_grades_and_its_reason() -> None:
    lines = overview(decode(listing())).splitlines()
    assert lines[0].split() == ["NAME", "NODE", "VICTIM", "AGGRESSOR", "WHY"]
    assert "shop/web-1" in lines[1]
    assert "3 ? ? *" in lines[1]
    assert "when jobs/batch-1 is busy" in lines[1]


def test_nobody_suffers_and_nobody_has_looked_are_told_apart() -> None:
    assert "nobody has looked yet" in overview(decode(listing(Neighbourhood())))
    calm = listing(Neighbourhood(at=1.0, containers=7, untold={"too short": 2}))
    text = overview(decode(calm))
    assert "of 7 containers none suffers" in text
    assert "of 2 containers nobody can tell: too short" in text
    assert "and 3 more" in overview(decode(listing(remaining=3)))


def test_who_is_kept_aside_is_said_beside_the_table() -> None:
    pod = {"namespace": "jobs", "name": "batch-1", "node": "n", "grade": 3, "state": "planned"}
    aside = {"policy": "day", "evicts": False, "pods": [{**pod, "why": ""}]}
    assert (
        "SeasonPolicy day would evict, with mode: Apply, jobs/batch-1 (grade 3), planned\n"
    ) in overview(decode(listing(aside=aside)))
    aside = {"policy": "day", "evicts": True, "pods": [{**pod, "state": "kept", "why": "so"}]}
    assert "SeasonPolicy day evicts jobs/batch-1 (grade 3), not: so\n" in overview(
        decode(listing(aside=aside))
    )
    none = {"policy": "day", "evicts": True, "pods": []}
    assert "nobody is\n" in overview(decode(listing(aside=none)))


def test_one_is_shown_with_its_links() -> None:
    latest = found()
    document = msgspec.json.decode(msgspec.json.encode(item_document(latest.pods[0], latest, None)))
    text = details(decode_one(document))
    assert "shop/web-1, Pod on n1" in text
    assert "jobs/batch-1" in text
    assert "45%" in text


def test_what_is_no_list_is_refused() -> None:
    with pytest.raises(OperatorError):
        decode({"items": 3})
