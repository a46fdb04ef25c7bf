"""The Helm chart and the kustomization install what deploy/manifests holds, and know every setting."""

import json
from typing import Any

import yaml
from nemutator_common import __version__, names, settings

from scripts.chart import CHART, DEPLOY, templates
from scripts.chart_schema import ROLES
from scripts.installed import TARGET, render
from scripts.reference import schemas
from tests.house.test_manifests import documents


def test_what_is_made_of_the_manifests_is_up_to_date() -> None:
    for name, text in templates().items():
        path = CHART / name
        assert path.is_file(), f"{path} is missing: make fmt writes it"
        assert path.read_text() == text, f"{path}: make fmt writes it anew"


def test_nothing_is_left_of_what_was_made_once() -> None:
    by_hand = {"NOTES.txt", "_helpers.tpl", "settings.yaml", "monitoring.yaml", "uninstall.yaml"}
    found = {path.name for path in (CHART / "templates").iterdir()}
    made = {name.removeprefix("templates/") for name in templates() if "templates/" in name}
    assert found == made | by_hand


def test_the_chart_has_the_version_of_what_it_installs() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == __version__


def test_each_value_of_the_chart_stands_in_its_schema() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())

    def hold(values: dict[str, Any], known: dict[str, Any], where: str) -> None:
        if known.get("additionalProperties") is not False:
            return
        assert set(values) <= set(known["properties"]), where
        for name, value in values.items():
            if isinstance(value, dict):
                hold(value, known["properties"][name], f"{where}.{name}")

    hold(yaml.safe_load((CHART / "values.yaml").read_text()), schema, "values")


def test_the_schema_knows_every_setting_of_each_process_in_a_cluster() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())["properties"]["settings"]
    of_schema = {
        role: set(schema["properties"][role]["properties"]) for role in names.ROLES if role in ROLES
    }
    declared = {
        each.role: {field.name for field in settings.fields(each) if field.table}
        for each in schemas()
        if each.role in ROLES
    }
    assert of_schema == declared


def test_the_parts_that_can_be_switched_off_are_around_what_belongs_to_them() -> None:
    agent = templates()["templates/agent.yaml"]
    privileged = agent.index("privileged: true")
    opened = agent.rindex("{{- if .Values.credentials.enabled }}", 0, privileged)
    assert agent.index("- name: mount", opened) < privileged
    for kind in ("Deployment", "MutatingWebhookConfiguration"):
        assert any(document["kind"] == kind for document in documents(kind))
        made = "".join(templates().values())
        before = made[: made.index(f"kind: {kind}\n")]
        assert "{{- if .Values.admission.enabled }}" in before[before.rindex("{{- if") :]


def test_the_kustomization_names_every_file() -> None:
    listed = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())["resources"]
    there = [
        str(path.relative_to(DEPLOY))
        for folder in ("crds", "manifests")
        for path in (DEPLOY / folder).iterdir()
    ]
    assert sorted(listed) == sorted(there)


def test_the_command_that_installs_has_what_the_chart_has() -> None:
    assert TARGET.read_text() == render(), f"{TARGET}: make fmt writes it anew"
