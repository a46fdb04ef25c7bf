import json
import tomllib
from typing import Any

import pytest
from nemutator_ctl.installation import files
from nemutator_ctl.installation.chart_values import ValuesError
from nemutator_ctl.installation.rendered_manifests import (
    WORKLOADS,
    chosen,
    everything,
    left_out,
    rendered,
)

Json = dict[str, Any]

SHIPPED = files.shipped()


def made(kubernetes: tuple[int, int] = (1, 36), **given: Any) -> list[Json]:
    return rendered(SHIPPED, chosen(SHIPPED, given), kubernetes=kubernetes)


def named(documents: list[Json]) -> dict[tuple[str, str], Json]:
    return {(each["kind"], each["metadata"]["name"]): each for each in documents}


def containers(documents: list[Json]) -> dict[str, Json]:
    specs = [each["spec"]["template"]["spec"] for each in documents if each["kind"] in WORKLOADS]
    return {each["name"]: each for spec in specs for each in spec["containers"]}


def told(documents: list[Json]) -> Json:
    text = named(documents)["ConfigMap", "nemutator-settings"]["data"]["settings.toml"]
    return tomllib.loads(text)


def test_without_values_it_is_what_the_manifests_hold() -> None:
    found = named(made())
    for when, document in SHIPPED.documents:
        place = document["kind"], document["metadata"]["name"]
        if place == ("ConfigMap", "nemutator-settings"):
            assert told(made()) == tomllib.loads(document["data"]["settings.toml"])
        elif place in found:
            own = found[place]
            own.get("spec", {}).get("template", {}).get("metadata", {}).pop("annotations", None)
            assert own == document
        else:
            assert when, place


def test_what_is_rendered_leaves_what_is_shipped_alone() -> None:
    before = json.dumps([document for _, document in SHIPPED.documents])
    made(kubeletRoot="/k", credentials={"enabled": False}, extraEnv=[{"name": "A", "value": "b"}])
    assert json.dumps([document for _, document in SHIPPED.documents]) == before


@pytest.mark.parametrize(
    ("off", "left"),
    [
        (["credentials"], {"observe", "admission", "brain"}),
        (["credentials", "admission"], {"observe", "brain"}),
        (["observe"], {"mount", "credentials", "admission", "brain"}),
        (["credentials", "observe"], {"admission", "brain"}),
    ],
)
def test_parts_are_switched_off_under_the_names_of_the_chart(
    off: list[str], left: set[str]
) -> None:
    documents = made((1, 36), **{part: {"enabled": False} for part in off})
    found = containers(documents)
    assert set(found) == left
    assert ("mount" in left) == any(
        each["securityContext"].get("privileged") for each in found.values()
    )
    assert bool(told(documents)["admission"]["init_image"]) == ("credentials" in left)
    agents = [each for each in documents if each["kind"] == "DaemonSet"]
    assert bool(agents) == bool(left & {"mount", "observe"})
    for agent in agents:
        pod = agent["spec"]["template"]["spec"]
        mounted = {each["name"] for one in pod["containers"] for each in one["volumeMounts"]}
        # Kubelet waits for every volume that a pod names.
        assert {each["name"] for each in pod["volumes"]} == mounted


def test_what_depends_on_the_cluster_is_taken_from_it() -> None:
    driver = ("CSIDriver", "agent.nemutator.io")
    assert named(made((1, 35)))[driver]["spec"]["serviceAccountTokenInSecrets"]
    assert "serviceAccountTokenInSecrets" not in named(made((1, 34)))[driver]["spec"]
    moved = made(kubeletRoot="/var/lib/k0s/kubelet")
    agent = named(moved)["DaemonSet", "nemutator-agent"]
    assert "/var/lib/kubelet" not in json.dumps(agent)
    assert "/var/lib/k0s/kubelet/plugins/agent.nemutator.io/volumes" in json.dumps(agent)
    assert told(moved)["mount"] == {"kubelet_root": "/var/lib/k0s/kubelet"}


def test_another_setting_makes_the_pods_anew() -> None:
    def checksums(**given: Any) -> set[str]:
        return {
            each["spec"]["template"]["metadata"]["annotations"]["checksum/settings"]
            for each in made(**given)
            if each["kind"] in WORKLOADS
        }

    (before,), (after,) = checksums(), checksums(settings={"brain": {"profiles": 7}})
    assert before != after


def test_what_somebody_chooses_for_pods_gets_there() -> None:
    documents = made(
        images={"registry": "registry.example", "controller": {"digest": "sha256:0"}},
        imagePullPolicy="Never",
        imagePullSecrets=[{"name": "pull"}],
        extraEnv=[{"name": "HTTPS_PROXY", "value": "p"}],
        resources={"brain": {"limits": {"memory": "4Gi"}}},
        brain={"storage": {"enabled": False}, "nodeSelector": {"a": "b"}},
        admission={"replicas": 3, "tolerations": [{"operator": "Exists"}]},
        priorityClasses=False,
        vault={"ca": "PEM"},
        metrics={"enabled": True, "namespace": "observability"},
    )
    found, objects = containers(documents), named(documents)
    assert found["mount"]["image"] == "registry.example/nemutator/agent:0.1.0"
    assert found["brain"]["image"] == "registry.example/nemutator/controller@sha256:0"
    assert {each["imagePullPolicy"] for each in found.values()} == {"Never"}
    assert all(each["env"][0]["name"] == "HTTPS_PROXY" for each in found.values())
    assert found["brain"]["resources"] == {"limits": {"memory": "4Gi"}}
    brain = objects["StatefulSet", "nemutator-brain"]["spec"]
    assert "volumeClaimTemplates" not in brain
    assert {"name": "data", "emptyDir": {}} in brain["template"]["spec"]["volumes"]
    assert brain["template"]["spec"]["nodeSelector"] == {"a": "b"}
    assert brain["template"]["spec"]["imagePullSecrets"] == [{"name": "pull"}]
    admission = objects["Deployment", "nemutator-admission"]["spec"]
    assert admission["replicas"] == 3
    assert admission["template"]["spec"]["tolerations"] == [{"operator": "Exists"}]
    assert "priorityClassName" not in json.dumps([brain, admission])
    settings = objects["ConfigMap", "nemutator-settings"]["data"]
    assert settings["vault-ca.crt"] == "PEM"
    assert told(documents)["credentials"]["vault_ca_file"] == "/etc/nemutator/vault-ca.crt"
    for each in documents:
        if each["kind"] == "NetworkPolicy":
            assert "observability" in json.dumps(each)


def test_optional_parts_come_with_their_images() -> None:
    documents = made(
        scheduler={"enabled": True, "image": "scheduler:1"},
        buffer={"enabled": True, "image": "pause:1"},
        nodes={"enabled": True},
        metrics={
            "enabled": True,
            "podMonitor": {"enabled": True, "labels": {"release": "p"}},
            "rules": {"enabled": True},
            "dashboards": {"enabled": True},
        },
    )
    found, objects = containers(documents), named(documents)
    assert (found["scheduler"]["image"], found["pause"]["image"]) == ("scheduler:1", "pause:1")
    assert told(documents)["brain"]["extender"] == "0.0.0.0:8423"
    assert ("ClusterRole", "nemutator-brain-nodes") in objects
    monitor = objects["PodMonitor", "nemutator"]
    assert monitor["metadata"]["labels"] == {"release": "p"}
    assert len(monitor["spec"]["podMetricsEndpoints"]) == 5
    assert objects["PrometheusRule", "nemutator"]["spec"] == SHIPPED.alerts
    assert set(objects["ConfigMap", "nemutator-dashboards"]["data"]) == set(SHIPPED.dashboards)
    assert len({(each["kind"], each["metadata"]["name"]) for each in documents}) == len(documents)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"vault": {"address": ""}}, "vault.address"),
        ({"metrics": {"podMonitor": {"enabled": True}}}, "metrics.enabled"),
        ({"scheduler": {"enabled": True}}, "scheduler.image"),
        ({"buffer": {"enabled": True}}, "buffer.image"),
        ({"credential": {"enabled": False}}, "did you mean credentials?"),
        ({"settings": {"brain": {"profilez": 1}}}, "did you mean profiles?"),
        ({"credentials": {"enabled": "false"}}, "credentials.enabled"),
    ],
)
def test_a_value_that_nothing_reads_or_that_lacks_another_is_refused(
    given: Json, said: str
) -> None:
    with pytest.raises(ValuesError, match=said.replace("?", r"\?")):
        chosen(SHIPPED, given)


def test_what_is_left_out_and_what_is_made_are_all_there_is() -> None:
    values = chosen(SHIPPED, {"credentials": {"enabled": False}, "admission": {"enabled": False}})
    on = set(named(rendered(SHIPPED, values, kubernetes=(1, 36))))
    off = set(named(left_out(SHIPPED, values)))
    definitions = set(named(list(SHIPPED.definitions)))
    assert not on & off
    assert (on | off) - definitions == set(named(everything(SHIPPED)))
    assert ("MutatingWebhookConfiguration", "nemutator") in off


def test_definitions_are_left_to_somebody_else_where_that_is_asked_for() -> None:
    kinds = [each["kind"] for each in made(crds={"install": False})]
    assert "CustomResourceDefinition" not in kinds
