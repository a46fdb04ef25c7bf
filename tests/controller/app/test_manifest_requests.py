import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from nemutator_common.names import STANDS_FOR
from nemutator_controller.app.manifest_requests import requested_by, requests_of_files
from nemutator_controller.journal.stand_ins import StandIn
from nemutator_controller.sizing.keys import ContainerKey, Requested

WEB = StandIn("unit", "web.service")
KEY = ContainerKey("system.slice", "unit", "web.service", "-")


def container(name: str, **requests: object) -> dict[str, Any]:
    return {"name": name, "resources": {"requests": requests}}


def deployment(stands_for: object, *containers: object) -> dict[str, Any]:
    return {
        "kind": "Deployment",
        "metadata": {"name": "web", "annotations": {STANDS_FOR: stands_for}},
        "spec": {"template": {"spec": {"containers": list(containers)}}},
    }


def now(folder: Path, keys: dict[StandIn, list[ContainerKey]]) -> dict[ContainerKey, Requested]:
    requests = requests_of_files(folder, lambda wanted: keys.get(wanted, []))
    return dict(asyncio.run(requests.now()))


def saved(folder: Path, name: str, document: object) -> None:
    file = folder / "Deployment" / "shop" / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document))


def test_a_manifest_requests_for_what_it_stands_for() -> None:
    both = container("app", cpu="1", memory="256Mi"), container("helper", cpu="250m")
    assert requested_by(deployment("unit/web.service", *both)) == {WEB: Requested(1250, 256 << 20)}
    named = requested_by(deployment("app=unit/web.service helper=unit/b.service", *both))
    assert named == {
        WEB: Requested(1000, 256 << 20),
        StandIn("unit", "b.service"): Requested(250, None),
    }


def test_a_pod_does_as_well_as_a_template_and_a_number_as_well_as_its_text() -> None:
    metadata = {"name": "web", "annotations": {STANDS_FOR: "unit/web.service"}}
    pod = {"kind": "Pod", "metadata": metadata, "spec": {"containers": [container("app", cpu=2)]}}
    assert requested_by(pod) == {WEB: Requested(2000, None)}


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"metadata": {"name": "web"}, "spec": {"containers": [container("app", cpu="1")]}},
        deployment("nothing at all", container("app", cpu="1")),
        deployment(7, container("app", cpu="1")),
        deployment("unit/web.service"),
        deployment("unit/web.service", "app", {"name": 7}, {"name": "app", "resources": []}),
        deployment("unit/web.service", container("app", cpu="much", memory=None)),
        deployment("unit/web.service", container("app", cpu="-1", memory=True)),
        {**deployment("unit/web.service"), "spec": {"template": 7, "containers": {}}},
    ],
)
def test_what_stands_for_nothing_or_names_no_amount_requests_nothing(
    document: dict[str, Any],
) -> None:
    assert requested_by(document) == {}


def test_what_is_stored_counts_for_the_only_one_of_its_name(tmp_path: Path) -> None:
    saved(tmp_path, "a", deployment("unit/web.service", container("app", cpu="1")))
    saved(tmp_path, "b", deployment("unit/web.service", container("app", cpu="4")))
    saved(tmp_path, "c", deployment("unit/two.service", container("app", cpu="4")))
    (tmp_path / "Deployment" / "shop" / "torn.json").write_text("{")
    two = [KEY, ContainerKey("user.slice", "unit", "two.service", "-")]
    found = now(tmp_path, {WEB: [KEY], StandIn("unit", "two.service"): two})
    assert found == {KEY: Requested(1000, None)}


def test_a_folder_that_cannot_be_read_is_no_reason_to_give_no_advice(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert now(tmp_path / "file", {WEB: [KEY]}) == {}
