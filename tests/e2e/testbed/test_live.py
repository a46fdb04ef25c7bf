"""Running pods and workloads follow policies and tokens without a redeploy; it is taken back as any mutation is."""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

import pytest
from nemutator_controller.following.reverted_writes import REVERTS

from tests.e2e.testbed.webhook import Json, Webhook, create, define, pod, policy, standing
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.redis import Redis
from tests.testbed.running.ports import LOOPBACK
from tests.testbed.running.waiting import until

STAMP = "nemutator.io/mutation"
COLOR = "nemu_anno_value_color"


@pytest.fixture(scope="module")
def webhook(
    cluster: Cluster, redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Webhook]:
    define(cluster)
    folder = tmp_path_factory.mktemp("live")
    password = folder / "password"
    password.write_text(redis.password.reveal())
    settings = {
        "NEMUTATOR_BRAIN_TOKENS_REDIS": f"redis://{LOOPBACK}:{redis.port}/0",
        "NEMUTATOR_BRAIN_TOKENS_REDIS_PASSWORD_FILE": str(password),
    }
    redis.call("SET", COLOR, "blue")
    with standing(cluster, folder, brain=True, settings=settings) as hook:
        yield hook
    redis.call("DEL", COLOR)


def live(namespace: str, team: str) -> Json:
    made = policy("team", namespace, {"labels": {"set": {"team": team}}})
    made["spec"]["applyTo"] = "live"
    return made


def deployment(namespace: str) -> Json:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod()["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template,
        },
    }


@pytest.mark.timeout(300)  # a control plane that may be busy, and two processes with their imports
def test_running_pods_follow_a_policy_and_a_token(
    webhook: Webhook, redis: Redis, namespace: str
) -> None:
    cluster = webhook.cluster
    # As if admission had been down: nobody has seen it.
    early = create(cluster, namespace, pod("early"))["metadata"]
    cluster.apply(deployment(namespace))

    def seen(name: str, kind: str) -> Json:
        found: Json = cluster.get(kind, name, f"--namespace={namespace}")
        return found

    def metadata(name: str, kind: str = "pod") -> Json:
        found: Json = seen(name, kind)["metadata"]
        return found

    spec = seen("web", "deployment")["spec"]
    cluster.apply(live(namespace, "a"))

    def label(name: str, kind: str = "pod") -> str:
        return str(metadata(name, kind).get("labels", {}).get("team"))

    until(lambda: label("early") == "a", "the pod that was there follows", within_s=90)
    until(lambda: label("web", "deployment") == "a", "so does a workload", within_s=90)
    assert metadata("early")["uid"] == early["uid"]

    def replaced() -> bool:
        asked = pod(annotations={"color": COLOR})
        made = create(cluster, namespace, asked, "--dry-run=server")["metadata"]
        return bool(made["annotations"]["color"] == "blue" and made.get("labels"))

    until(replaced, "admission knows the token and the policy", within_s=90)
    create(cluster, namespace, pod("late", annotations={"color": COLOR}))
    assert label("late") == "a"
    cluster.apply(live(namespace, "b"))
    redis.call("SET", COLOR, "red")
    until(lambda: {label("early"), label("late")} == {"b"}, "both follow", within_s=90)
    until(lambda: label("web", "deployment") == "b", "the workload does, too", within_s=90)
    # Its template is as it was, so nothing is rolled.
    assert seen("web", "deployment")["spec"] == spec
    until(lambda: metadata("late")["annotations"]["color"] == "red", "so do tokens", within_s=90)
    stamp = json.loads(metadata("late")["annotations"][STAMP])
    before = {path: first for path, first, *_ in stamp["edits"]}
    assert before == {
        "metadata.annotations[color]": [COLOR],
        "metadata.labels[team]": [],
    }
    # Somebody else's value stays.
    cluster.kubectl("label", "pod", "early", "team=theirs", "--overwrite", f"-n={namespace}")
    cluster.apply(live(namespace, "c"))
    until(lambda: label("late") == "c", "the other one follows", within_s=90)
    assert label("early") == "theirs"
    # Previewed, a policy writes nothing and takes nothing back.
    previewed = live(namespace, "d")
    previewed["spec"]["mode"] = "Preview"
    cluster.apply(previewed)
    of_workload = json.loads(metadata("web", "deployment")["annotations"][STAMP])["id"]
    for which in (f"--pod={namespace}/late", of_workload):
        done = subprocess.run(
            [
                sys.executable, "-m", "nemutator_ctl", "rollback", which, "--yes",
                f"--data-dir={webhook.data}",
            ],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        print(done.stdout)
        assert done.returncode == 0, done
    assert "team" not in metadata("web", "deployment").get("labels", {})
    assert STAMP not in metadata("web", "deployment").get("annotations", {})
    after = metadata("late")
    assert after["annotations"]["color"] == COLOR
    assert "team" not in after.get("labels", {})
    cluster.kubectl("delete", "mutationpolicy", "team")


@pytest.mark.timeout(300)  # a control plane that may be busy, and two processes with their imports
def test_what_a_live_policy_has_written_goes_when_it_is_deleted(
    webhook: Webhook, namespace: str
) -> None:
    cluster = webhook.cluster
    for name in ("left", "edited", "applied"):
        create(cluster, namespace, pod(name))
    cluster.apply(deployment(namespace))
    cluster.apply(live(namespace, "a"))

    def metadata(name: str, kind: str = "pod") -> Json:
        found: Json = cluster.get(kind, name, f"--namespace={namespace}")
        of_it: Json = found["metadata"]
        return of_it

    def label(name: str, kind: str = "pod") -> str:
        return str(metadata(name, kind).get("labels", {}).get("team"))

    def all_follow() -> bool:
        return {label("left"), label("edited"), label("applied"), label("web", "deployment")} == {
            "a"
        }

    until(all_follow, "pods and the workload follow", within_s=90)
    cluster.kubectl("label", "pod", "edited", "team=theirs", "--overwrite", f"-n={namespace}")
    of_theirs = {"name": "applied", "namespace": namespace, "labels": {"team": "a"}}
    theirs = {"apiVersion": "v1", "kind": "Pod", "metadata": of_theirs}
    server_side = ("apply", "--server-side", "--field-manager=argocd", "--filename=-")
    cluster.kubectl(*server_side, given=json.dumps(theirs))
    cluster.kubectl("delete", "mutationpolicy", "team")
    until(lambda: label("left") == "None", "the pod is as before", within_s=90)
    until(lambda: label("web", "deployment") == "None", "so is the workload", within_s=90)
    assert STAMP not in metadata("left").get("annotations", {})
    assert STAMP not in metadata("web", "deployment").get("annotations", {})
    notes = cluster.get("events", f"--namespace={namespace}")["items"]
    told = {each["involvedObject"]["name"] for each in notes if each["reason"] == "LiveMetadata"}
    assert (label("edited"), label("applied")) == ("theirs", "a")
    assert {"edited", "applied"} <= told


@pytest.mark.timeout(300)  # a control plane that may be busy, and two processes with their imports
def test_an_operator_that_keeps_reverting_is_given_way_to(webhook: Webhook, namespace: str) -> None:
    cluster = webhook.cluster
    here = f"--namespace={namespace}"
    for name in ("owned", "free"):
        create(cluster, namespace, pod(name))
    cluster.apply(live(namespace, "a"))

    def metadata(name: str) -> Json:
        of_it: Json = cluster.get("pod", name, here)["metadata"]
        return of_it

    def has(name: str, value: str) -> bool:
        return str(metadata(name).get("labels", {}).get("team")) == value

    reverts = 0

    def reconcile() -> None:
        """As an operator does that owns all metadata of its pods."""
        nonlocal reverts
        found = metadata("owned")
        if "team" in found.get("labels", {}) or STAMP in found.get("annotations", {}):
            mine = {"metadata": {"labels": {"team": None}, "annotations": {STAMP: None}}}
            cluster.kubectl(
                "patch", "pod", "owned", "--type=merge", f"--patch={json.dumps(mine)}", here
            )
            reverts += 1

    def told() -> bool:
        reconcile()
        notes = cluster.get("events", here)["items"]
        return any(
            each["involvedObject"]["name"] == "owned"
            and "whenever nemutator has written it" in each["message"]
            for each in notes
            if each["reason"] == "LiveMetadata"
        )

    until(told, "people are told that it is given way to", within_s=120)
    assert reverts == REVERTS
    version = metadata("owned")["resourceVersion"]
    for value in ("b", "c"):
        cluster.apply(live(namespace, value))
        until(partial(has, "free", value), "the other pod follows", within_s=90)
    assert metadata("owned")["resourceVersion"] == version
    cluster.kubectl("delete", "mutationpolicy", "team")


@pytest.mark.timeout(300)
def test_images_and_selectors_of_what_is_new_are_those_of_tokens(
    webhook: Webhook, redis: Redis, namespace: str
) -> None:
    cluster = webhook.cluster
    tokens = {
        "nemu_image_app": "20.04",
        "nemu_selectors_replace_list": "app",
        "nemu_selector_label_app": "example.org/name",
        "nemu_selector_label_value_app": "shop",
    }
    for key, value in tokens.items():
        redis.call("SET", key, value)
    try:
        webhook.until_called(namespace)
        chosen = {"selectors": {"tokens": True}}
        cluster.apply(policy("names", namespace, chosen, applyTo="template"))

        def made(*more: str) -> Json:
            text = json.dumps(deployment(namespace))
            printed = cluster.kubectl("apply", "--filename=-", "--output=json", *more, given=text)
            spec: Json = json.loads(printed)["spec"]
            return spec

        until(
            lambda: "app" not in made("--dry-run=server")["selector"]["matchLabels"],
            "policy and tokens are known",
            within_s=120,
        )
        spec = made()
        expected = {"example.org/name": "shop"}
        assert spec["selector"]["matchLabels"] == expected
        assert spec["template"]["metadata"]["labels"] == expected
        # Images are those of pods alone: a template keeps the name that its author has written.
        assert spec["template"]["spec"]["containers"][0]["image"] == "app:1"
        created = create(cluster, namespace, pod())
        assert created["spec"]["containers"][0]["image"] == "docker.io/library/app:20.04"
        cluster.kubectl("delete", "mutationpolicy", "names")
    finally:
        redis.call("DEL", *tokens)
