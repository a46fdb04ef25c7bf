"""Objects and edits of them, as hypothesis makes them up."""

from typing import Any

from hypothesis import strategies as st
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.known_tokens import Why
from nemutator_controller.mutations.paths import (
    TEMPLATES,
    FieldStep,
    ItemStep,
    KeyStep,
    Path,
    annotation,
    label,
)
from nemutator_controller.policies.plans import MutationPlan

Json = Any

KINDS = ("Pod", "Deployment", "CronJob")

texts = st.text(st.characters(codec="utf-8"), max_size=8)
keys = st.sampled_from(["team", "a/b", "a~b", "a]b", "x=y", 'q"q', "", "ü"]) | texts
amounts = st.sampled_from(["100m", "1", "64Mi", "2Gi"])
quantities = st.dictionaries(st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), amounts)
leaves = st.none() | st.booleans() | st.integers(-3, 3) | texts
unknown: st.SearchStrategy[Json] = leaves | st.just({"deep": [{}, None, [1, {"er": ""}]]})
names = ("app", "side", "a]b")


@st.composite
def containers(draw: st.DrawFn, least: int = 0) -> list[Json]:
    chosen = draw(st.lists(st.sampled_from(names), min_size=least, max_size=3, unique=True))
    return [draw(container(name)) for name in chosen]


@st.composite
def container(draw: st.DrawFn, name: str) -> Json:
    made: dict[str, Json] = {"name": name, "image": draw(texts), "unknown": draw(unknown)}
    for section in draw(st.sets(st.sampled_from(["resources", "limits", "volumeMounts"]))):
        if section == "resources":
            made["resources"] = draw(st.just({}) | st.fixed_dictionaries({"requests": quantities}))
        elif section == "limits":
            made.setdefault("resources", {})["limits"] = draw(quantities)
        else:
            made["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    return made


@st.composite
def templates(draw: st.DrawFn) -> Json:
    metadata: dict[str, Json] = {"unknown": draw(unknown)}
    for field in ("labels", "annotations"):
        if draw(st.booleans()):
            metadata[field] = draw(st.none() | st.dictionaries(keys, texts, max_size=3))
    spec: dict[str, Json] = {"containers": draw(containers(least=1)), "unknown": draw(unknown)}
    if draw(st.booleans()):
        spec["initContainers"] = draw(containers())
    if draw(st.booleans()):
        spec["volumes"] = [{"name": "data", "emptyDir": {}}]
    return {"metadata": metadata, "spec": spec}


def wrapped(kind: str, template: Json) -> Json:
    if kind == "Pod":
        return {"kind": kind, **template}
    if kind == "CronJob":
        return {"kind": kind, "spec": {"jobTemplate": {"spec": {"template": template}}}}
    return {"kind": kind, "metadata": {"name": "x"}, "spec": {"template": template, "replicas": 2}}


@st.composite
def manifests(draw: st.DrawFn) -> tuple[str, Json]:
    """A kind and an object of it."""
    kind = draw(st.sampled_from(KINDS))
    return kind, wrapped(kind, draw(templates()))


@st.composite
def writable(draw: st.DrawFn, manifest: Json, kind: str) -> Path:
    """The path of something that can be written in *manifest*."""
    path: Path = draw(
        st.one_of(
            keys.map(label),
            keys.map(annotation),
            st.sampled_from(containers_of(manifest, kind)).flatmap(_of_container),
            st.just(Path((FieldStep("volumes"), ItemStep("name", "nemutator")))),
            st.just(Path((FieldStep("initContainers"), ItemStep("name", "nemutator-init")))),
            keys.map(lambda key: Path((FieldStep("nodeSelector"), KeyStep(key)))),
        )
    )
    return path


def containers_of(manifest: Json, kind: str) -> list[str]:
    template = manifest
    for name in TEMPLATES[kind]:
        template = template[name]
    return [each["name"] for each in template["spec"]["containers"]]


def _of_container(name: str) -> st.SearchStrategy[Path]:
    begin = Path((FieldStep("containers"), ItemStep("name", name)))
    resources = begin / FieldStep("resources")
    return st.sampled_from(
        [
            resources / FieldStep("requests") / FieldStep("cpu"),
            resources / FieldStep("limits") / KeyStep("nvidia.com/gpu"),
            begin / FieldStep("volumeMounts") / ItemStep("mountPath", "/run/nemutator"),
            begin / FieldStep("image"),
        ]
    )


def fitting(path: Path) -> st.SearchStrategy[Json]:
    """Values for what *path* names: an item must be found again by what names it."""
    last = path.steps[-1]
    if isinstance(last, ItemStep):
        return st.fixed_dictionaries({last.by: st.just(last.value), "unknown": unknown})
    return texts


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, Json, list[tuple[Path, Json]]]:
    """A kind, an object, and what to write into it."""
    kind, manifest = draw(manifests())
    paths = draw(st.lists(writable(manifest, kind), max_size=8))
    return kind, manifest, [(path, draw(fitting(path))) for path in paths]


Case = tuple[str, Json, list[tuple[Path, Json]]]
ME = Author("labels", "team", "because")


def drafted(case: Case) -> Draft:
    kind, manifest, wanted = case
    draft = Draft(manifest, kind)
    for path, value in wanted:
        draft.set(path, value, ME)
    return draft


def edit(path: str, before: Any, after: Any) -> Edit:
    """None: nothing is there."""
    return Edit(
        path=path,
        before=() if before is None else (before,),
        after=() if after is None else (after,),
        verb="labels",
        policy="p",
    )


def pruned(value: Json) -> Json:
    """Without empty maps and lists: to Kubernetes they are the same as none."""
    if isinstance(value, dict):
        return {
            key: kept
            for key, inner in value.items()
            if (kept := pruned(inner)) is not None and kept not in ({}, [])
        }
    return [pruned(inner) for inner in value] if isinstance(value, list) else value


def whys(planned: MutationPlan) -> tuple[Why, ...]:
    """Of each placeholder that stays, why."""
    return tuple(each.why for each in planned.unresolved)
