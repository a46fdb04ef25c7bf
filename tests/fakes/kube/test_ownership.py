"""Server-side apply: who owns which field, what a conflict says, what goes when nobody wants it."""

from tests.fakes.kube.conversation import Conversation, Json

PATH = "/api/v1/namespaces/default/configmaps/settings"
APPLY = {"Content-Type": "application/apply-patch+yaml"}
MERGE = {"Content-Type": "application/merge-patch+json"}


def settings(**data: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": data}


async def applied(api: Conversation, body: Json, manager: str, **query: str) -> tuple[int, Json]:
    return await api.ask("PATCH", PATH, body, headers=APPLY, fieldManager=manager, **query)


async def test_apply_creates_and_writes_down_the_owner(api: Conversation) -> None:
    code, manifest = await applied(api, settings(a="1"), "one")
    assert code == 201
    (entry,) = manifest["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("one", "Apply")
    assert entry["fieldsV1"] == {"f:data": {"f:a": {}}}


async def test_a_foreign_field_is_a_conflict_unless_forced(api: Conversation) -> None:
    await applied(api, settings(a="1", b="1"), "one")
    code, status = await applied(api, settings(a="2"), "two")
    assert (code, status["reason"]) == (409, "Conflict")
    assert status["message"] == 'Apply failed with 1 conflict: conflict with "one": .data.a'
    assert status["details"]["causes"] == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.a"}
    ]
    code, manifest = await applied(api, settings(a="2"), "two", force="true")
    assert (code, manifest["data"]) == (200, {"a": "2", "b": "1"})
    owned = {entry["manager"]: entry["fieldsV1"] for entry in manifest["metadata"]["managedFields"]}
    assert owned == {"one": {"f:data": {"f:b": {}}}, "two": {"f:data": {"f:a": {}}}}


async def test_the_same_value_is_shared_and_stays_while_somebody_wants_it(
    api: Conversation,
) -> None:
    await applied(api, settings(a="1"), "one")
    await applied(api, settings(a="1"), "two")
    _, manifest = await applied(api, settings(c="3"), "one")
    assert manifest["data"] == {"a": "1", "c": "3"}
    _, manifest = await applied(api, settings(), "two")
    assert manifest["data"] == {"c": "3"}


async def test_an_update_takes_the_field_from_whoever_applied_it(api: Conversation) -> None:
    await applied(api, settings(a="1"), "one")
    patch = {"data": {"a": "9"}}
    await api.ask("PATCH", PATH, patch, headers=MERGE, fieldManager="editor")
    code, status = await applied(api, settings(a="1"), "one")
    assert (code, status["message"].split(": ")[1]) == (409, 'conflict with "editor" using v1')


async def test_apply_twice_changes_nothing(api: Conversation) -> None:
    _, first = await applied(api, settings(a="1"), "one")
    _, second = await applied(api, settings(a="1"), "one")
    assert second == first


async def test_apply_needs_a_manager(api: Conversation) -> None:
    code, status = await api.ask("PATCH", PATH, settings(), headers=APPLY)
    assert (code, "fieldManager: Required value" in status["message"]) == (422, True)


async def test_containers_are_merged_by_name(api: Conversation) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments/web"

    def deployment(*containers: Json) -> Json:
        template = {"spec": {"containers": list(containers)}}
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {"template": template},
        }

    app, sidecar = {"name": "app", "image": "app:1"}, {"name": "sidecar", "image": "s:1"}
    await api.ask("PATCH", path, deployment(app), headers=APPLY, fieldManager="one")
    code, manifest = await api.ask(
        "PATCH", path, deployment(sidecar), headers=APPLY, fieldManager="two"
    )
    assert manifest["spec"]["template"]["spec"]["containers"] == [app, sidecar]
    code, manifest = await api.ask("PATCH", path, deployment(), headers=APPLY, fieldManager="two")
    assert (code, manifest["spec"]["template"]["spec"]["containers"]) == (200, [app])
