"""Which containers are started with the pod's variables, and by which command."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.edits import apply_edits, reversed_edits
from nemutator_controller.mutations.exec_commands import DELIVERY, PROGRAM, starts_of
from nemutator_controller.mutations.image_commands import (
    AWAITED,
    NO_IMAGE_COMMANDS,
    ImageCommand,
    NoImageCommand,
)
from nemutator_controller.mutations.injection import INIT_CONTAINER, Injector
from nemutator_controller.policies.plans import Situation, plan

from tests.controller.mutations.pods import Json, pruned

COMMAND = "nemutator.io/command."
OURS = {"name": INIT_CONTAINER, "args": ["nemutator_init", *DELIVERY]}


def started(*words: str) -> list[str]:
    return [PROGRAM, "--", *words]


def starts(
    *containers: Json, annotations: dict[str, str] | None = None, **spec: Any
) -> tuple[dict[str, list[str]], str]:
    """The commands by container, and the warnings as one text."""
    all_containers = {"containers": list(containers), **spec}
    known = starts_of(all_containers, INIT_CONTAINER, annotations or {}, NO_IMAGE_COMMANDS)
    found = {start.container: list(start.command) for start in known.found}
    return found, "\n".join(known.warnings)


def test_what_is_written_down_is_what_our_program_becomes() -> None:
    found = starts({"name": "a", "command": ["run", "x"]}, {"name": "b", "command": ["sh"]})
    assert found == ({"a": started("run", "x"), "b": started("sh")}, "")


@pytest.mark.parametrize("none", [{}, {"command": None}, {"command": []}, {"args": ["serve"]}])
def test_a_container_without_a_command_is_named_with_what_to_write(none: Json) -> None:
    found, warning = starts({"name": "a", "command": ["x"]}, {"name": "web"} | none)
    assert found == {"a": started("x")}
    assert warning.endswith("these start without the pod's variables: web")
    assert "without a `command`" in warning
    assert "nemutator.io/command.<container>" in warning


def test_an_annotation_says_what_the_image_starts() -> None:
    given = {f"{COMMAND}web": '["/entrypoint", "a b"]', f"{COMMAND}a": '["y"]'}
    found, warning = starts({"name": "web"}, {"name": "a", "command": ["x"]}, annotations=given)
    assert found == {"web": started("/entrypoint", "a b"), "a": started("x")}
    assert warning == "nemutator.io/command.a: not needed, because the container has a command"


@pytest.mark.parametrize("text", ["", "serve", "[]", '[""]', "[1]", '{"a": 1}', '"x"', "[" * 9000])
def test_an_annotation_that_is_no_command_is_named(text: str) -> None:
    found, warning = starts({"name": "web"}, annotations={f"{COMMAND}web": text})
    assert found == {}
    assert warning.startswith("nemutator.io/command.web: expected a JSON array of words")


def test_init_containers_and_sidecars_behind_ours_are_started_so_and_those_before_are_not() -> None:
    before, behind = ({"name": name, "command": ["x"]} for name in ("early", "late"))
    sidecar = {"name": "proxy", "command": ["p"], "restartPolicy": "Always"}
    found, _ = starts(initContainers=[before, OURS, behind, sidecar])
    assert found == {"late": started("x"), "proxy": started("p")}
    # Ours will be the first where it is not there yet.
    found, _ = starts(initContainers=[before, behind])
    assert found == {"early": started("x"), "late": started("x")}


@pytest.mark.parametrize("command", [[PROGRAM, "--", "x"], ["/wrap", PROGRAM, "--", "x"]])
def test_who_is_started_so_already_stays_so(command: list[str]) -> None:
    assert starts({"name": "a", "command": command}) == ({"a": command}, "")


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"volumes": [{"name": "nemutator-exec", "configMap": {}}]}, "is something else: rename"),
        ({"initContainers": [{"name": INIT_CONTAINER, "args": ["nemutator_init"]}]}, "lacks the"),
    ],
)
def test_where_the_program_cannot_come_nothing_is_started_by_it(spec: Json, why: str) -> None:
    found, warning = starts({"name": "a", "command": ["x"]}, **spec)
    assert found == {}
    assert warning.startswith("started without the pod's variables: ")
    assert why in warning


@pytest.mark.parametrize(
    "path", ["/run/nemutator-exec", "/run//nemutator-exec/", "/run/nemutator-exec/x"]
)
def test_a_container_that_has_something_else_there_is_left_alone(path: str) -> None:
    container = {"name": "a", "command": ["x"], "volumeMounts": [{"name": "m", "mountPath": path}]}
    found, warning = starts(container, {"name": "b", "command": ["y"]})
    assert found == {"b": started("y")}
    assert warning == "/run/nemutator-exec is taken in containers[name=a]"


commands = st.none() | st.lists(st.text(max_size=6), max_size=3)
texts = st.none() | st.text(max_size=6) | st.lists(st.text(max_size=4), max_size=3).map(json.dumps)


@st.composite
def pods(draw: st.DrawFn) -> Json:
    annotations = {"nemutator.io/env.TOKEN": "secret/app#token"}
    spec: dict[str, list[Json]] = {}
    for field, names in (("containers", ("a", "b")), ("initContainers", ("i", "j"))):
        spec[field] = []
        for name in names:
            command, text = draw(commands), draw(texts)
            spec[field].append({"name": name} | ({} if command is None else {"command": command}))
            if text is not None:
                annotations[f"{COMMAND}{name}"] = text
    return {"metadata": {"annotations": annotations}, "spec": spec}


SITUATION = Situation(
    subject=Subject(api_version="v1", kind="Pod", namespace="default", name="web"),
    namespace_labels={"nemutator.io/inject": "enabled"},
    injector=Injector("nemutator/agent:1"),
)


@given(pods())
def test_a_second_look_adds_nothing_and_taking_it_back_restores_all(manifest: Json) -> None:
    edits = plan(manifest, SITUATION, []).edits
    made = apply_edits(manifest, edits, "Pod")
    assert plan(made, SITUATION, []).edits == ()
    assert pruned(apply_edits(made, reversed_edits(edits), "Pod")) == pruned(manifest)
    for field in ("containers", "initContainers"):
        for before, after in zip(manifest["spec"][field], made["spec"][field][-2:], strict=True):
            command = after.get("command")
            if before.get("command"):
                assert command == started(*before["command"])
            elif command:
                text = manifest["metadata"]["annotations"][f"{COMMAND}{before['name']}"]
                assert command == started(*json.loads(text))


class Images(dict[str, ImageCommand | NoImageCommand]):
    """An `ImageCommands`."""

    def of(self, image: str) -> ImageCommand | NoImageCommand:
        return self[image]


IMAGES = Images(
    shell=ImageCommand(("/entrypoint.sh",), ("serve", "--all")),
    plain=ImageCommand((), ("serve",)),
    bare=ImageCommand((), ()),
    money=ImageCommand(("sh", "-c", "echo $(HOME) $1 $$"), ()),
    away=NoImageCommand("no registry answers"),
    fresh=NoImageCommand("it is being read", soon=True),
)


@pytest.mark.parametrize(
    ("container", "command"),
    [
        ({"image": "shell"}, started("/entrypoint.sh", "serve", "--all")),
        ({"image": "shell", "args": ["x"]}, started("/entrypoint.sh")),
        ({"image": "shell", "args": []}, started("/entrypoint.sh", "serve", "--all")),
        ({"image": "plain"}, started("serve")),
        ({"image": "plain", "args": ["x"]}, started()),
        ({"image": "bare", "args": ["x"]}, started()),
        # kubelet makes one of each two.
        ({"image": "money"}, started("sh", "-c", "echo $$(HOME) $$1 $$$$")),
        ({"image": "shell", "command": ["own"]}, started("own")),
    ],
)
def test_the_command_of_an_image_is_started_as_the_runtime_would(
    container: Json, command: list[str]
) -> None:
    known = starts_of({"containers": [{"name": "a", **container}]}, INIT_CONTAINER, {}, IMAGES)
    assert [list(start.command) for start in known.found] == [command]
    assert (known.warnings, known.awaited) == ((), ())
    [start] = known.found
    assert start.reason == (
        "" if "command" in container else f"the entrypoint of {container['image']}"
    )


def test_an_annotation_wins_over_the_image() -> None:
    given = {f"{COMMAND}a": '["own"]'}
    pod = {"containers": [{"name": "a", "image": "shell"}]}
    [start] = starts_of(pod, INIT_CONTAINER, given, IMAGES).found
    assert list(start.command) == started("own")


def test_an_image_that_is_not_known_says_why() -> None:
    images = ("away", "fresh", "bare", "shell")
    pod = {"containers": [{"name": f"c-{image}", "image": image} for image in images]}
    known = starts_of(pod, INIT_CONTAINER, {}, IMAGES)
    assert [start.container for start in known.found] == ["c-shell"]
    assert known.awaited == ("fresh",)
    assert known.warnings[:3] == (
        "image away: no registry answers",
        "image fresh: it is being read",
        "image bare: it has no command, and neither has its container",
    )
    assert known.warnings[3].endswith("variables: c-away, c-fresh, c-bare")


def test_a_pod_that_requires_us_waits_for_its_image_and_others_do_not() -> None:
    pod: Json = {
        "metadata": {"annotations": {"nemutator.io/env.A": "secret/a#b"}},
        "spec": {"containers": [{"name": "a", "image": "fresh"}]},
    }
    situation = replace(SITUATION, images=IMAGES)
    planned = plan(pod, situation, ())
    assert planned.edits
    assert not planned.refused
    pod["metadata"]["labels"] = {"nemutator.io/inject": "required"}
    refused = plan(pod, situation, ()).refused
    assert refused.endswith(f"image fresh: {AWAITED}")
    pod["spec"]["containers"][0]["image"] = "shell"
    planned = plan(pod, situation, ())
    assert not planned.refused
    [edit] = [edit for edit in planned.edits if edit.path == "containers[name=a].command"]
    assert (edit.before, edit.after) == ((), (started("/entrypoint.sh", "serve", "--all"),))
    assert edit.reason == "the entrypoint of shell"
