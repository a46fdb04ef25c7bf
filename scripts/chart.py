"""Writes the templates of the Helm chart from deploy/manifests, deploy/scheduler, deploy/buffers, deploy/nodes, deploy/oversell and deploy/scaling: one source of what is installed.

A template is a manifest with conditions around its documents and containers, and with values in some of
its lines. What the rules here do not know stays as it is, so a change of a manifest needs no change here.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from scripts.chart_schema import schema

DEPLOY = Path(__file__).parents[1] / "deploy"
CHART = DEPLOY / "helm" / "nemutator"
OPTIONAL = (
    DEPLOY / "scheduler" / "scheduler.yaml",
    DEPLOY / "buffers" / "buffer.yaml",
    DEPLOY / "nodes" / "nodes.yaml",
    DEPLOY / "scaling" / "scaling.yaml",
    DEPLOY / "oversell" / "oversell.yaml",
)
WRITTEN = "{{- /* Written by `make fmt` from deploy/%s: change that. */}}\n"

# The Namespace is there before a release is. Settings come from values (templates/settings.yaml).
LEFT_OUT = frozenset({"namespace.yaml", "settings.yaml"})

Condition = tuple[tuple[str, ...], ...]
"""Values that switch something on: one of each group has to be true."""

CREDENTIALS: Condition = (("credentials.enabled",),)
OBSERVE: Condition = (("observe.enabled",),)
ADMISSION: Condition = (("admission.enabled",),)
SCHEDULER: Condition = (("scheduler.enabled",),)
POLICIES: Condition = (("networkPolicy.enabled",),)
AGENT: Condition = (("credentials.enabled", "observe.enabled"),)
WHEN: dict[str, Condition] = {
    "admission.yaml": ADMISSION,
    "webhooks.yaml": ADMISSION,
    "agent.yaml": AGENT,
    "scheduler.yaml": SCHEDULER,
    "buffer.yaml": (("buffer.enabled",),),
    "nodes.yaml": (("nodes.enabled",),),
    "scaling.yaml": (("scaling.enabled",),),
    "oversell.yaml": (("oversell.enabled",),),
}
"""By file: when its documents are installed."""

WHEN_OF: dict[tuple[str, str], Condition] = {
    ("CSIDriver", "agent.nemutator.io"): CREDENTIALS,
    ("NetworkPolicy", "nemutator-agent"): POLICIES + AGENT,
    ("NetworkPolicy", "nemutator-admission"): POLICIES + ADMISSION,
    ("NetworkPolicy", "nemutator-brain"): POLICIES,
    ("NetworkPolicy", "nemutator-extender"): POLICIES + SCHEDULER,
}
"""By kind and name: where that differs."""

CONTAINER_WHEN: dict[str, Condition] = {
    "mount": CREDENTIALS,
    "credentials": CREDENTIALS,
    "observe": OBSERVE,
}

VOLUMES: dict[str, Condition] = {
    **dict.fromkeys(("mount", "credentials", "volumes", "kubelet", "audit-key"), CREDENTIALS),
    **dict.fromkeys(("observe", "cgroup"), OBSERVE),
}
"""Of the agent's pod: which part each is for. Kubelet waits for all that a pod names."""

UNSET = frozenset({"scheduler", "buffer"})
"""What reads no settings of ours."""

WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet"})


def templates() -> dict[str, str]:
    """By path in the chart, what is written there."""
    made = {}
    for path in (*sorted((DEPLOY / "manifests").glob("*.yaml")), *OPTIONAL):
        if path.name not in LEFT_OUT:
            made[f"templates/{path.name}"] = _template(path)
    made["templates/crds.yaml"] = "".join(_definitions())
    made["templates/_defaults.tpl"] = _defaults()
    made["values.schema.json"] = json.dumps(schema(), indent=2) + "\n"
    for path in sorted((DEPLOY / "alerts").glob("*.yaml")):
        if not path.name.endswith(".test.yaml"):
            made[f"files/{path.name}"] = path.read_text()
    for path in sorted((DEPLOY / "dashboards").glob("*.json")):
        made[f"files/{path.name}"] = path.read_text()
    return made


def _template(path: Path) -> str:
    text = path.read_text()
    if "{{" in text:
        raise ValueError(f"{path.name}: Helm would take its braces for a template")
    parts = re.split(r"(?m)^---\n", text)
    return WRITTEN % path.relative_to(DEPLOY) + "".join(_document(path.name, one) for one in parts)


def _document(file: str, text: str) -> str:
    found: dict[str, Any] = yaml.safe_load(text)
    kind, name = found["kind"], found["metadata"]["name"]
    lines = text.splitlines()
    if kind in WORKLOADS:
        component = found["metadata"]["labels"]["app.kubernetes.io/component"]
        made = _workload(lines, component)
    else:
        made = _plain(lines)
    body = "\n".join(["---", *made]) + "\n"
    when = condition(file, kind, name)
    return f"{{{{- if {_spoken(when)} }}}}\n{body}{{{{- end }}}}\n" if when else body


def condition(file: str, kind: str, name: str) -> Condition:
    """When an object of *file* is installed; empty: always."""
    return WHEN_OF.get((kind, name)) or WHEN.get(file, ())


def _spoken(when: Condition) -> str:
    """*when*, as Helm's templates say it."""
    groups = [" ".join(f".Values.{name}" for name in group) for group in when]
    any_of = [
        f"or {one}" if len(group) > 1 else one for group, one in zip(when, groups, strict=True)
    ]
    if len(when) == 1:
        return any_of[0]
    return "and " + " ".join(
        f"({one})" if len(group) > 1 else one for group, one in zip(when, any_of, strict=True)
    )


def _plain(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if line.strip() == "serviceAccountTokenInSecrets: true":
            yield from _if('semverCompare ">=1.35-0" .Capabilities.KubeVersion.Version', [line])
        else:
            yield _valued(line)


def _valued(line: str) -> str:
    """*line* with what the values say, where they say anything about it."""
    for pattern, given in (
        (r"metadata\.name: monitoring\b", "metadata.name: {{ .Values.metrics.namespace }}"),
        (r"/var/lib/kubelet\b", "{{ .Values.kubeletRoot }}"),
        (
            r"image: nemutator/(agent|controller):\S+",
            r'image: {{ include "nemutator.image" (list . .Values.images.\1) }}',
        ),
        (
            r"image: kube-scheduler:\S+",
            'image: {{ required "scheduler.image: that of your own scheduler" .Values.scheduler.image }}',
        ),
        (
            r"image: pause:\S+",
            'image: {{ required "buffer.image: one that does nothing for ever" .Values.buffer.image }}',
        ),
        (r"\{storage: \S+?\}", "{storage: {{ .Values.brain.storage.size }}}"),
    ):
        line = re.sub(pattern, given, line)
    return line


def _workload(lines: list[str], component: str) -> Iterator[str]:
    values = f".Values.{component}"
    container, closing = "", ""
    in_volumes = False
    index = 0
    while index < len(lines):
        line = lines[index]
        deep = len(line) - len(line.lstrip())
        in_volumes = (in_volumes and deep > 6) or line == "      volumes:"
        block = _end_of(lines, index)
        if named := re.fullmatch(r" {8}- name: (\S+)", line):
            name = named[1]
            whens = VOLUMES if in_volumes else CONTAINER_WHEN
            when = whens.get(name) if component == "agent" else None
            if closing:
                yield closing
            closing = "{{- end }}" if when else ""
            if when:
                yield f"{{{{- if {_spoken(when)} }}}}"
            container = container if in_volumes else name
        elif deep <= 6 and closing and line.strip() and not line.lstrip().startswith("#"):
            yield closing
            closing = ""
        match line.strip():
            case stripped if stripped.startswith("serviceAccountName:"):
                yield line
                yield from _pod(component)
            case "resources:":
                yield f"{{{{- with index .Values.resources {json.dumps(container)} }}}}"
                yield "          resources: {{- toYaml . | nindent 12 }}"
                yield "{{- else }}"
                yield from lines[index:block]
                yield "{{- end }}"
                index = block - 1
            case "env:":
                yield line
                yield from _with(".Values.extraEnv", 12)
            case "ports:" if component == "brain":
                yield from _with(".Values.extraEnv", 12, before="          env:")
                yield line
            case "volumeClaimTemplates:":
                yield from _claim(lines[index:block])
                index = block - 1
            case stripped if stripped.startswith("replicas:") and component != "buffer":
                yield line[:deep] + f"replicas: {{{{ {values}.replicas }}}}"
            case stripped if stripped.startswith("priorityClassName: system-"):
                yield from _if(".Values.priorityClasses", [line])
            case stripped if stripped.startswith("image:"):
                yield _valued(line)
                yield "{{- with .Values.imagePullPolicy }}"
                yield "          imagePullPolicy: {{ . }}"
                yield "{{- end }}"
            case stripped if (
                stripped.startswith("labels:") and deep == 6 and component not in UNSET
            ):
                yield line
                yield "      annotations:"
                yield "        # So that pods are made anew when their settings are others."
                yield (
                    "        checksum/settings: "
                    '{{ include "nemutator.settingsText" . | sha256sum | quote }}'
                )
            case _:
                yield _valued(line)
        index += 1
    if closing:
        yield closing


def _end_of(lines: list[str], start: int) -> int:
    """The first line after *start* that is not deeper than it."""
    deep = len(lines[start]) - len(lines[start].lstrip())
    for index in range(start + 1, len(lines)):
        line = lines[index]
        if line.strip() and len(line) - len(line.lstrip()) <= deep:
            return index
    return len(lines)


def _pod(component: str) -> Iterator[str]:
    for name, value in (
        ("imagePullSecrets", ".Values.imagePullSecrets"),
        ("nodeSelector", f".Values.{component}.nodeSelector"),
        *(
            [("tolerations", f".Values.{component}.tolerations")]
            if component not in ("agent", "buffer")
            else []
        ),
    ):
        yield from _with(value, 8, before=f"      {name}:")


def _with(value: str, deep: int, before: str | None = None) -> Iterator[str]:
    yield f"{{{{- with {value} }}}}"
    if before:
        yield before
    yield f"{{{{- toYaml . | nindent {deep} }}}}"
    yield "{{- end }}"


def _if(condition: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"{{{{- if {condition} }}}}"
    yield from map(_valued, lines)
    yield "{{- end }}"


def _claim(lines: list[str]) -> Iterator[str]:
    yield "{{- if .Values.brain.storage.enabled }}"
    for line in lines:
        yield _valued(line)
        if line.strip().startswith("accessModes:"):
            yield "{{- with .Values.brain.storage.className }}"
            yield "        storageClassName: {{ . }}"
            yield "{{- end }}"
    yield "{{- else }}"
    yield "        - name: data"
    yield "          emptyDir: {}"
    yield "{{- end }}"


def _definitions() -> Iterator[str]:
    """In templates and not in `crds/`: Helm never upgrades what lies there."""
    yield WRITTEN % "crds"
    yield "{{- if .Values.crds.install }}\n"
    for path in sorted((DEPLOY / "crds").glob("*.json")):
        definition = json.loads(path.read_text())
        if "{{" in path.read_text():
            raise ValueError(f"{path.name}: Helm would take its braces for a template")
        # With a definition go all objects of its kind: nobody's policies go with a release.
        definition["metadata"].setdefault("annotations", {})["helm.sh/resource-policy"] = "keep"
        yield f"---\n{json.dumps(definition, indent=2)}\n"
    yield "{{- end }}\n"


def _defaults() -> str:
    """The settings of deploy/manifests, and the ports where metrics are served, as documents."""
    text = (DEPLOY / "manifests" / "settings.yaml").read_text()
    settings = tomllib.loads(yaml.safe_load(text)["data"]["settings.toml"])
    ports = {
        container["name"]: port["containerPort"]
        for path in sorted((DEPLOY / "manifests").glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text())
        if document["kind"] in WORKLOADS
        for container in document["spec"]["template"]["spec"]["containers"]
        for port in container["ports"]
        if port["name"].startswith("metrics-")
    }
    return (
        WRITTEN % "manifests"
        + f'{{{{- define "nemutator.defaults" }}}}\n{json.dumps(settings, indent=2)}\n{{{{- end }}}}\n'
        + f'{{{{- define "nemutator.metricsPorts" }}}}\n{json.dumps(ports)}\n{{{{- end }}}}\n'
    )


def main() -> int:
    for name, text in templates().items():
        path = CHART / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
