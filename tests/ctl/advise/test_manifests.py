from typing import Any

from nemutator_ctl.advise.manifests import manifest_parts
from nemutator_ctl.advise.view import decode

from tests.ctl.advise.test_view import item


def parts(*items: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    return manifest_parts(decode({"items": list(items)}))


def test_containers_of_one_workload_are_one_part() -> None:
    limits = {"cpu": None, "memory": "230M"}
    (found,), left = parts(item(state="firm", limits=limits), item(state="firm", container="log"))
    assert left == 0
    assert found["apiVersion"] == "apps/v1"
    assert found["metadata"] == {"name": "cart", "namespace": "shop"}
    requests = {"cpu": "200m", "memory": "230M"}
    assert found["spec"]["template"]["spec"]["containers"] == [
        {"name": "app", "resources": {"requests": requests, "limits": {"memory": "230M"}}},
        {"name": "log", "resources": {"requests": requests}},
    ]


def test_a_cron_job_has_its_template_deeper() -> None:
    (found,), _ = parts(item(state="firm", owner_kind="CronJob"))
    assert (
        found["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["name"] == "app"
    )


def test_what_is_not_firm_or_has_no_template_is_counted() -> None:
    nothing = {"cpu": None, "memory": None}
    assert parts(
        item(), item(state="firm", owner_kind="unit"), item(state="firm", requests=nothing)
    ) == ([], 3)
