"""What a pod on a real node hears of changes, how soon, whose secrets it has, and what it starts by its image's
own word. What keeps the secrets is OpenBao, which has Vault's API and namespaces; the whole way is with Vault."""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nemutator_common import names
from nemutator_controller.mutations.image_commands import ImageCommand

from tests.e2e.first_light import scratch
from tests.e2e.first_light import team as teams
from tests.e2e.first_light.installation import NAMESPACE as OWN
from tests.e2e.first_light.installation import (
    delete_namespaces,
    install,
    uninstall,
    with_sample,
)
from tests.e2e.first_light.team import NAMESPACE, OTHERS, REACHED_S, READY_S, Team, only, ready
from tests.fakes.registries import FakeRegistry
from tests.testbed.building import made, unpacked
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.node.node import Node
from tests.testbed.parts.vault import Vault
from tests.testbed.running.waiting import until

# The first builds two images of Dockerfiles when the sources have changed.
pytestmark = pytest.mark.timeout(2000)

PATH = f"secret/data/{NAMESPACE}/followed"
FOLDER = f"{names.POD_DIRECTORY}/secrets"
ROTATIONS = 5

WATCHES = f"""\
import http.client, json, os, signal, socket, time
signal.signal(signal.SIGUSR1, lambda *_: os._exit(0))
def asked(path):
    connection = http.client.HTTPConnection("agent", timeout=60)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(60)
    connection.sock.connect("{names.POD_DIRECTORY}/agent.sock")
    connection.request("GET", path)
    return connection.getresponse()
def told(**what):
    print(json.dumps(what), flush=True)
told(began=open("{FOLDER}/followed").read())
after = ""
while True:
    try:
        stream = asked("/v1/watch" + after)
        while line := stream.readline():
            at, line = time.time(), json.loads(line)
            if "sequence" in line:
                after = f"?after={{line['sequence']}}"
            if line:
                word = json.loads(asked("/v1/secret/followed").read())["value"]
                told(line=line, at=at, word=word)
    except (OSError, http.client.HTTPException, ValueError, KeyError):
        pass
    time.sleep(0.1)
"""
"""Says with what it begins, follows all changes, over whatever becomes of the agent, and reads again what it is
told of; SIGUSR1 ends it."""

CHANGED = f"""\
import os
print(os.lstat("{FOLDER}/..data").st_ctime, open("{FOLDER}/followed").read())
"""
"""Since when the files are there, and what one holds."""


@pytest.fixture(scope="module")
def registry() -> Iterator[FakeRegistry]:
    """It wants a password."""
    with FakeRegistry() as fake:
        fake.token, fake.password = "t0ken", "reader:hunter2"
        yield fake


@pytest.fixture(scope="module")
def team(
    cluster: Cluster,
    node: Node,
    image: ImageStore,
    bao: Vault,
    registry: FakeRegistry,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Team]:
    with_sample(image, tmp_path_factory.mktemp("sample"))
    config = {"auths": {registry.host: {"username": "reader", "password": "hunter2"}}}
    cluster.apply(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OWN}},
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "nemutator-image-pull", "namespace": OWN},
            "type": "kubernetes.io/dockerconfigjson",
            "stringData": {".dockerconfigjson": json.dumps(config)},
        },
    )
    installation = install(
        cluster,
        node,
        image,
        bao,
        brain=f'image_registries = "{registry.url}"\n'
        'image_pull_secret_file = "/var/run/nemutator-image-pull/.dockerconfigjson"\n',
    )
    bao.call("POST", PATH, {"data": {"word": "word 0"}})
    team = teams.found(installation)
    yield team
    cluster.kubectl("delete", "clusterrolebinding", "operators")
    delete_namespaces(cluster, NAMESPACE, OTHERS)
    uninstall(cluster)


@pytest.fixture(scope="module")
def watcher(team: Team) -> str:
    """The name of a pod that has the secret as a file, and watches."""
    declared = {"nemutator.io/secret.followed": f"secret/{NAMESPACE}/followed#word"}
    deployment = teams.deployment("watcher", annotations=declared)
    only(deployment["spec"]["template"]["spec"]["containers"])["command"] = [
        "python",
        "-c",
        WATCHES,
    ]
    team.installation.cluster.apply(deployment)
    ready(team, "watcher")
    return str(only(team.pods("watcher"))["metadata"]["name"])


def said(team: Team, watcher: str) -> list[dict[str, Any]]:
    lines = team.kubectl("logs", watcher, "--container=app").splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def heard(team: Team, watcher: str) -> list[dict[str, Any]]:
    return [one for one in said(team, watcher) if "line" in one]


def in_file(team: Team, watcher: str) -> tuple[float, str]:
    shown = team.kubectl("exec", watcher, "--container=app", "--", "python", "-c", CHANGED)
    since, _, word = shown.strip().partition(" ")
    return float(since), word


def since(team: Team, watcher: str, word: str) -> tuple[float, float]:
    """When *word* was in the file, and when the watch brought it, once both have happened."""
    until(lambda: in_file(team, watcher)[1] == word, "the file follows", within_s=REACHED_S)

    def brought() -> list[float]:
        told = [one for one in heard(team, watcher) if "name" in one["line"]]
        return [one["at"] for one in told if one["word"] == word]

    until(brought, "who watches has it", within_s=REACHED_S)
    return in_file(team, watcher)[0], brought()[0]


def test_a_change_that_is_seen_is_in_the_file_and_with_who_watches(
    team: Team, watcher: str
) -> None:
    vault = team.installation.vault
    reached: dict[str, tuple[float, float]] = {}
    until(lambda: heard(team, watcher), "it watches", within_s=REACHED_S)
    for word in (f"word {number}" for number in range(1, ROTATIONS + 1)):
        vault.call("POST", PATH, {"data": {"word": word}})
        reached[word] = since(team, watcher, word)

    def seen() -> list[float]:
        """When the agent has seen each of them, as its records say."""
        return sorted(
            one["at"]
            for one in team.items("grants?limit=1000")
            if (one["operation"], one["pod"], one["secret"]) == ("rotate", watcher, "followed")
        )

    until(lambda: len(seen()) == ROTATIONS, "the audit has them", within_s=REACHED_S)
    for at, (word, (file, watch)) in zip(seen(), reached.items(), strict=True):
        print(
            f"{word}: {(file - at) * 1e3:.1f} ms to the file, {(watch - at) * 1e3:.1f} to a watch"
        )


def test_what_changed_while_the_agent_was_away_is_there_when_it_is_back(
    team: Team, watcher: str
) -> None:
    cluster = team.installation.cluster
    before = len(heard(team, watcher))

    def placed(selector: str) -> None:
        patch = f'{{"spec": {{"template": {{"spec": {{"nodeSelector": {selector}}}}}}}}}'
        where = ("daemonset", "nemutator-agent", f"--namespace={OWN}")
        cluster.kubectl("patch", *where, "--type=merge", f"--patch={patch}")

    def agents() -> list[Any]:
        component = "--selector=app.kubernetes.io/component=agent"
        found: list[Any] = cluster.get("pods", f"--namespace={OWN}", component)["items"]
        return found

    placed('{"nemutator.io/away": "yes"}')
    try:
        until(lambda: not agents(), "no agent is on the node", within_s=REACHED_S)
        team.installation.vault.call("POST", PATH, {"data": {"word": "meanwhile"}})
        assert in_file(team, watcher)[1] == f"word {ROTATIONS}"
    finally:
        placed("null")
    cluster.kubectl(
        "rollout", "status", "daemonset/nemutator-agent", f"--namespace={OWN}",
        f"--timeout={READY_S}s", within_s=READY_S + 10,
    )  # fmt: skip
    until(lambda: in_file(team, watcher)[1] == "meanwhile", "the file has it", within_s=REACHED_S)
    until(
        lambda: "meanwhile" in {one["word"] for one in heard(team, watcher)[before:]},
        "who watches has it",
        within_s=REACHED_S,
    )
    print("after it was away:", [one["line"] for one in heard(team, watcher)[before:]])
    team.installation.vault.call("POST", PATH, {"data": {"word": "afterwards"}})
    until(lambda: in_file(team, watcher)[1] == "afterwards", "and goes on", within_s=REACHED_S)
    assert only(team.pods("watcher"))["metadata"]["name"] == watcher


def test_a_container_that_restarts_inside_its_pod_begins_with_the_newest(
    team: Team, watcher: str
) -> None:
    team.installation.vault.call("POST", PATH, {"data": {"word": "before it restarts"}})
    until(
        lambda: in_file(team, watcher)[1] == "before it restarts",
        "the file follows",
        within_s=REACHED_S,
    )
    ends = "import os, signal; os.kill(1, signal.SIGUSR1)"
    # The process that asks for it may end with the container.
    with contextlib.suppress(KubectlError):
        team.kubectl("exec", watcher, "--container=app", "--", "python", "-c", ends)

    def restarts() -> int:
        pod = only(team.pods("watcher"))
        assert pod["metadata"]["name"] == watcher
        found = {one["name"]: one["restartCount"] for one in pod["status"]["containerStatuses"]}
        return int(found["app"])

    until(lambda: restarts() == 1, "it is another container of the same pod", within_s=REACHED_S)
    until(lambda: said(team, watcher), "it has begun", within_s=REACHED_S)
    assert said(team, watcher)[0] == {"began": "before it restarts"}


def test_a_pod_has_what_the_namespace_of_vault_has_that_it_names(team: Team, watcher: str) -> None:
    cluster, whole = team.installation.cluster, team.installation.vault
    there = whole.within("team-a")
    there.call("POST", PATH, {"data": {"word": "of the team"}})
    there.policy("reads", f'path "{PATH}" {{ capabilities = ["read"] }}')
    role = f"{NAMESPACE}.default"
    there.role(role, namespace=NAMESPACE, service_account="default", policies=["reads"])
    whole.call("POST", PATH, {"data": {"word": "of all"}})
    declared = {
        "nemutator.io/secret.followed": f"secret/{NAMESPACE}/followed#word",
        "nemutator.io/vault-namespace": "team-a",
    }
    within = teams.deployment("within", annotations=declared)
    waits = ["python", "-c", teams.WAITS]
    only(within["spec"]["template"]["spec"]["containers"])["command"] = waits
    cluster.apply(within)
    ready(team, "within")
    pod = str(only(team.pods("within"))["metadata"]["name"])
    assert in_file(team, pod)[1] == "of the team"
    until(lambda: in_file(team, watcher)[1] == "of all", "beside it", within_s=REACHED_S)
    there.call("POST", PATH, {"data": {"word": "of the team, later"}})
    until(lambda: in_file(team, pod)[1] == "of the team, later", "it", within_s=REACHED_S)
    assert in_file(team, watcher)[1] == "of all"
    team.kubectl("delete", "deployment", "within", "--wait=false")


def test_an_image_that_starts_something_by_itself_has_its_variables(
    team: Team, registry: FakeRegistry, image: ImageStore, tmp_path: Path
) -> None:
    starts = (scratch.PROGRAM, "-c", 'test -n "$WORD" && echo "it has $WORD"')
    registry.push("shop/starts", "1", {"amd64": ImageCommand(starts, ())})
    folder = tmp_path / "image"
    folder.mkdir()
    program = unpacked.program(made.debian("node"), "busybox")
    (folder / scratch.PROGRAM.removeprefix("/")).write_bytes(program.read_bytes())
    os.chmod(folder / scratch.PROGRAM.removeprefix("/"), 0o755)
    name = f"{registry.host}/shop/starts:1"
    image.from_folder(folder, name, entrypoint=starts)
    declared = {"nemutator.io/env.WORD": f"secret/{NAMESPACE}/db#user"}
    pod = scratch.pod("by-itself", declared, {"name": "app", "image": name})
    # Until its image is read, such a pod is refused, as its owner would have to make it again.
    pod["metadata"]["labels"] = {"nemutator.io/inject": "required"}

    def made_it() -> bool:
        try:
            team.installation.cluster.apply(pod)
        except KubectlError as refused:
            if "cannot be injected" in str(refused):
                return False
            raise
        return True

    until(made_it, "the brain has read what the image starts", within_s=REACHED_S)
    assert scratch.ended(team, "by-itself")["app"]["exitCode"] == 0
    assert team.kubectl("logs", "by-itself", "--container=app").strip() == "it has app"
    command = only(team.get("pod", "by-itself")["spec"]["containers"])["command"]
    assert command[-3:] == [part.replace("$", "$$") for part in starts]
    print("by itself:", command)
    team.kubectl("delete", "pod", "by-itself", "--wait=true")
