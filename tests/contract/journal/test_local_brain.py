"""The whole way where there is no cluster: applied, changed, listed, taken back, by API and command."""

import json
from pathlib import Path
from typing import cast

import msgspec
import pytest
from aiohttp import web
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.journal.endpoint import explained
from nemutator_controller.journal.manifests import LARGEST

from tests.contract.journal.standing_files import Standing, template
from tests.fakes.brains import standing_brain
from tests.fakes.command_lines import CommandLine
from tests.fakes.decisions import CPU, TEAM, decision
from tests.fakes.manifests import deployment, policy


async def test_by_api_a_foreign_edit_in_the_file_survives_what_is_taken_back(
    standing: Standing,
) -> None:
    await standing.apply(policy())
    applied = await standing.apply(deployment())
    assert [edit["policy"] for edit in applied["edits"]] == ["defaults"] * 2
    document = json.loads(standing.file.read_bytes())
    assert template(document)["metadata"]["labels"]["team"] == "blue"

    status, listed = await standing.ask("GET", "/api/v1/mutations?namespace=default")
    assert status == 200
    (mutation,) = listed["items"]
    assert (mutation["id"], mutation["state"]) == (applied["id"], "observed")

    template(document)["metadata"]["labels"]["team"] = "green"
    template(document)["metadata"]["labels"]["theirs"] = "too"
    standing.file.write_text(json.dumps(document))

    rollback = f"/api/v1/mutations/{applied['id']}/rollback"
    status, plan = await standing.ask("POST", f"{rollback}?plan=true")
    assert {step["path"]: step["verdict"] for step in plan["steps"]} == {
        "metadata.labels[team]": "conflict",
        "containers[name=app].resources.requests.cpu": "reverse",
    }
    assert json.loads(standing.file.read_bytes()) == document
    status, done = await standing.ask("POST", rollback)
    assert (status, done["state"]) == (200, "partly")
    now = template(json.loads(standing.file.read_bytes()))
    assert now["metadata"]["labels"] == {"app": "web", "team": "green", "theirs": "too"}
    assert now["spec"] == template(deployment())["spec"]

    status, shown = await standing.ask("GET", f"/api/v1/mutations/{applied['id']}")
    assert (shown["state"], len(shown["reversals"])) == ("partly", 1)
    assert await standing.brain.metric("nemutator_reversals_total") == 1


async def test_a_policy_is_opened_as_yaml_and_saved_from_it(standing: Standing) -> None:
    await standing.apply(policy())
    await standing.apply(deployment())
    path = "/api/v1/policies"
    status, opened = await standing.ask("GET", f"{path}/defaults")
    assert (status, opened["text"].splitlines()[1]) == (200, "kind: MutationPolicy")
    edited = {key: opened[key] for key in ("name", "version")}
    # An emoji, a text from right to left and a comment.
    edited["text"] = opened["text"].replace("blue", '"green"  # \U0001f980 \u0627') + "# the end\n"
    status, tried = await standing.ask("POST", f"{path}/preview", edited)
    assert (status, tried["changed"], tried["mode"]) == (200, 1, "Apply")
    status, saved = await standing.ask("POST", path, edited)
    assert (status, saved["outcome"]) == (200, "changed")
    _, again = await standing.ask("GET", f"{path}/defaults")
    assert again["text"] == opened["text"].replace("blue", "green")

    status, refused = await standing.ask("GET", f"{path}/others")
    assert (status, "no policy is called 'others'" in refused["error"]) == (404, True)
    for wrong, why in (
        (edited | {"text": opened["text"].replace("defaults", "others")}, "line 4: metadata.name"),
        (edited | {"text": opened["text"].replace("labels", "label")}, "unknown field"),
        (edited | {"text": "a: &x [1]\nb: [*x, *x]\n"}, "line 2: aliases are not taken"),
        (edited | {"text": "a: " + "[" * 10_000}, "line 1: nested too deeply"),
        (edited | {"text": "a: !!python/object/apply:os.system [id]\n"}, "line 1: could not"),
        (edited | {"text": "a: " + "x" * 70_000}, "larger than"),
        (edited | {"document": {}}, "text: expected"),
        ({"version": opened["version"]}, "text: expected"),
        ({"document": {}}, "apiVersion and kind"),
        (edited | {"version": "7" * 200}, "version: too long"),
    ):
        for asked in (path, f"{path}/preview"):
            status, refused = await standing.ask("POST", asked, wrong)
            assert (status, why in refused["error"]) == (409, True), refused


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("GET", "/api/v1/mutations?limit=0", None, 400, "limit"),
        ("GET", "/api/v1/mutations?limit=1e9", None, 400, "limit"),
        ("GET", f"/api/v1/mutations?namespace={'x' * 300}", None, 400, "too long"),
        ("GET", "/api/v1/mutations/none", None, 404, "no such mutation"),
        ("POST", "/api/v1/mutations/none/rollback", None, 404, "no such mutation"),
        ("POST", "/api/v1/mutations/none/rollback?plan=perhaps", None, 400, "true or false"),
        ("POST", "/api/v1/mutations/marked/rollback", None, 400, "NAMESPACE/NAME"),
        ("POST", "/api/v1/mutations/marked/rollback?pod=x", None, 400, "NAMESPACE/NAME"),
        ("POST", "/api/v1/mutations/marked/rollback?pod=a/..%2fb", None, 400, "NAMESPACE/NAME"),
        ("POST", "/api/v1/mutations/marked/rollback?pod=a/b", None, 409, "not there any more"),
        ("POST", "/api/v1/mutations/marked/rollback?pod=a/..", None, 409, "small letters"),
        ("POST", "/api/v1/objects", [], 400, "expected an object"),
        ("POST", "/api/v1/objects", deployment("../x"), 409, "small letters"),
        ("POST", "/api/v1/objects", {**deployment(), "kind": "Gadget"}, 400, "kind: "),
    ],
)
async def test_nonsense_is_refused_with_a_remedy(
    standing: Standing, method: str, path: str, body: object, status: int, said: str
) -> None:
    found, answer = await standing.ask(method, path, body)
    assert (found, said in answer["error"]) == (status, True), answer
    assert answer["remedy"]


async def test_a_damaged_file_keeps_nobody_from_applying_something_else(
    standing: Standing,
) -> None:
    await standing.apply(policy())
    for kept in ("MutationPolicy/_/zz", "Deployment/default/old"):
        file = standing.root / "objects" / f"{kept}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b'{"spec": {"x": "\xff"}}')
    applied = await standing.apply(deployment())
    assert (applied["outcome"], len(applied["edits"])) == ("created", 2)
    (warning,) = applied["warnings"]
    assert warning.startswith("MutationPolicy zz: its file is damaged")
    status, listed = await standing.ask("GET", "/api/v1/objects")
    assert (status, len(listed["items"])) == (200, 2)
    status, answer = await standing.ask("POST", "/api/v1/objects", deployment("old"))
    assert status == 409
    assert "Deployment old: its file is damaged" in answer["error"]


async def test_what_is_too_large_with_its_changes_is_refused_and_not_journaled(
    standing: Standing,
) -> None:
    await standing.apply(policy())
    large = deployment("large")
    large["spec"]["x"] = [1] * 200_000
    assert (await standing.apply(large))["outcome"] == "created"
    larger = deployment("larger")
    larger["spec"]["x"] = ""
    larger["spec"]["x"] = "x" * (LARGEST - len(json.dumps(larger)))
    status, answer = await standing.ask("POST", "/api/v1/objects", larger)
    assert (status, "with the changes of policies" in answer["error"]) == (409, True)
    _, listed = await standing.ask("GET", "/api/v1/mutations")
    assert [item["subject"]["name"] for item in listed["items"]] == ["large"]


async def test_without_space_it_is_said_what_was_not_finished_and_to_make_room() -> None:
    async def full(request: web.Request) -> web.Response:
        raise StoreUnavailableError("full")

    response = await explained(full, "rollback")(cast("web.Request", None))
    assert response.status == 507
    said = json.loads(str(response.text))
    assert said["error"].startswith("rollback was not finished: the database: no space left")
    assert said["remedy"].startswith("make room")


async def test_what_was_applied_is_listed_and_shown(standing: Standing) -> None:
    await standing.apply(policy())
    await standing.apply(deployment())
    _, listed = await standing.ask("GET", "/api/v1/objects")
    assert [item["kind"] for item in listed["items"]] == ["Deployment", "MutationPolicy"]
    assert "manifest" not in listed["items"][0]
    _, shown = await standing.ask("GET", "/api/v1/objects?kind=Deployment&name=web")
    assert shown["items"][0]["manifest"]["metadata"]["name"] == "web"


async def test_decisions_of_admission_come_by_the_stream_once(standing: Standing) -> None:
    record = msgspec.to_builtins(decision())
    batch = {"writer": "admission-1", "epoch": "e1", "first": 1, "records": [record]}
    for _ in range(2):
        status, ack = await standing.ask("POST", "/uplink/v1/streams/decisions", batch)
        assert (status, ack["seq"]) == (200, 1)
    _, listed = await standing.ask("GET", "/api/v1/mutations")
    (mutation,) = listed["items"]
    assert (mutation["id"], mutation["state"], mutation["writer"]) == (
        *("d1", "answered", "admission-1"),
    )
    status, tombstones = await standing.ask("GET", "/uplink/v1/tombstones")
    assert (status, tombstones["tombstones"]) == (200, [])


async def test_the_journal_survives_the_brain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, nemutator = tmp_path / "data", CommandLine(tmp_path / "data", capsys)
    async with standing_brain(root) as brain:
        first = Standing(brain, root, nemutator)
        await first.apply(policy())
        applied = await first.apply(deployment())
    async with standing_brain(root) as brain:
        second = Standing(brain, root, nemutator)
        path = f"/api/v1/mutations/{applied['id']}/rollback"
        status, done = await second.ask("POST", path)
        assert (status, done["state"]) == (200, "reversed")
        assert json.loads(second.file.read_bytes()) == deployment()


async def test_what_stays_taken_back_is_listed_and_forgotten(standing: Standing) -> None:
    await standing.apply(policy())
    applied = await standing.apply(deployment())
    await standing.ask("POST", f"/api/v1/mutations/{applied['id']}/rollback")
    assert (await standing.apply(deployment()))["edits"] == []
    _, listed = await standing.ask("GET", "/api/v1/tombstones")
    where = listed["items"][0]
    assert {item["path"] for item in listed["items"]} == {TEAM, CPU}
    assert (where["kind"], where["name"], where["policy"]) == ("Deployment", "web", "defaults")
    status, _ = await standing.ask("POST", "/api/v1/tombstones/forget")
    assert status == 400
    forget = f"/api/v1/tombstones/forget?namespace={where['namespace']}&workload=Deployment/web"
    _, gone = await standing.ask("POST", forget)
    assert gone["items"] == listed["items"]
    assert len((await standing.apply(deployment()))["edits"]) == 2


async def test_a_policy_and_an_object_can_be_deleted(standing: Standing) -> None:
    await standing.apply(policy())
    await standing.apply(deployment())
    _, listed = await standing.ask("GET", "/api/v1/objects")
    namespace = listed["items"][0]["namespace"]
    path = f"/api/v1/objects?kind=Deployment&name=web&namespace={namespace}"
    assert (await standing.ask("DELETE", path))[0] == 200
    assert (await standing.ask("DELETE", path))[0] == 404
    assert (await standing.ask("DELETE", "/api/v1/objects?kind=MutationPolicy&name=defaults"))[
        0
    ] == 200
    assert (await standing.ask("DELETE", "/api/v1/objects?kind=../x&name=y"))[0] == 409
    assert (await standing.ask("GET", "/api/v1/objects"))[1]["items"] == []
    assert (await standing.apply(deployment()))["edits"] == []


async def test_a_policy_is_tried_on_what_was_applied_and_saved_as_it_was_read(
    standing: Standing,
) -> None:
    await standing.apply(policy())
    await standing.apply(deployment())
    path = "/api/v1/policies"
    status, listed = await standing.ask("GET", path)
    [item] = listed["items"]
    assert (status, item["name"], item["mode"], item["fault"]) == (200, "defaults", "Apply", "")
    document = item["document"]
    document["spec"]["mutations"][0]["labels"]["set"]["team"] = "green"
    edited = {"document": document, "version": item["version"]}
    before = standing.file.read_bytes()
    status, tried = await standing.ask("POST", f"{path}/preview", edited)
    assert (status, tried["objects"], tried["changed"]) == (200, 1, 1)
    [edit] = tried["items"][0]["edits"]
    assert (edit["path"], edit["before"], edit["after"]) == (TEAM, ["blue"], ["green"])
    assert standing.file.read_bytes() == before

    status, saved = await standing.ask("POST", path, edited)
    assert (status, saved["outcome"]) == (200, "changed")
    status, refused = await standing.ask("POST", path, edited)
    assert (status, "another one by now" in refused["error"]) == (409, True)
    faulty = {"document": {**document, "spec": {"mode": "Never"}}}
    status, refused = await standing.ask("POST", f"{path}/preview", faulty)
    assert (status, "mode" in refused["error"]) == (409, True)
    applied = await standing.apply(deployment("other"))
    assert [each["after"] for each in applied["edits"] if each["path"] == TEAM] == [["green"]]
