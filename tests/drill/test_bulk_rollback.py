"""Three hundred mutations are taken back by policy, namespace and time, and each try is killed, or the brain is.

On a real API server, among pods and workloads that others have changed, and whose names others have taken by then.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.testbed.webhook import Json, Webhook, asking, define, pod, policy, standing
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.running.waiting import until

OBJECTS = int(os.environ.get("DRILL_OBJECTS", "300"))
MOST_TRIES = 40
PATIENCE_S = 300
LABELS = {"a": "team", "b": "tier"}
FOREIGN, GONE = 10, 7
"""Each of so many was changed by somebody else, or is gone by then."""


@pytest.fixture(scope="module")
def webhook(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Webhook]:
    define(cluster)
    with standing(cluster, tmp_path_factory.mktemp("bulk"), brain=True) as hook:
        yield hook


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    with new_namespace(cluster, "bulk") as name:
        yield name


def command(webhook: Webhook, *words: str) -> list[str]:
    return [sys.executable, "-m", "nemutator_ctl", *words, f"--data-dir={webhook.data}"]


def run(webhook: Webhook, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(webhook, *words), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def pods(cluster: Cluster, namespace: str) -> dict[str, dict[str, str]]:
    """The labels of each."""
    found = cluster.get("pods", f"--namespace={namespace}")["items"]
    return {each["metadata"]["name"]: each["metadata"].get("labels", {}) for each in found}


def make(webhook: Webhook, namespace: str) -> None:
    cluster = webhook.cluster
    with asking(cluster) as connection:
        for number in range(OBJECTS):
            connection.request(
                "POST",
                f"/api/v1/namespaces/{namespace}/pods",
                body=json.dumps(pod(f"p{number}", labels={"own": "x"})),
                headers={
                    "Authorization": f"Bearer {cluster.admin_token}",
                    "Content-Type": "application/json",
                },
            )
            answer = connection.getresponse()
            made: Any = json.load(answer)
            assert answer.status == 201, made
            assert made["metadata"]["labels"] == {"own": "x", "team": "a", "tier": "b"}


def standing_in(webhook: Webhook, *words: str) -> list[Json]:
    shown = run(webhook, "mutations", *words, "--limit=1000", "--output=json")
    assert shown.returncode == 0, shown
    return [each for each in json.loads(shown.stdout)["items"] if each["state"] != "reversed"]


@pytest.mark.drill
@pytest.mark.timeout(3_600)  # some minutes, on a machine that does nothing else
def test_a_rollback_that_is_killed_again_and_again_comes_to_its_end(
    webhook: Webhook, namespace: str
) -> None:
    cluster, dice = webhook.cluster, random.Random("bulk")
    webhook.until_called(namespace)
    cluster.apply(
        *(
            policy(f"{namespace}-{name}", namespace, {"labels": {"set": {label: name}}})
            for name, label in LABELS.items()
        )
    )
    for label in LABELS.values():
        webhook.until_known(namespace, label)
    since = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(time.time() - 1))}"
    make(webhook, namespace)
    for number in range(0, OBJECTS, FOREIGN):
        cluster.kubectl(
            "label", "pod", f"p{number}", "team=theirs", "own=y", "--overwrite", f"-n={namespace}"
        )
    gone = [f"pod/p{number}" for number in range(1, OBJECTS, GONE) if number % FOREIGN]
    cluster.kubectl("delete", *gone, f"-n={namespace}", "--grace-period=0", "--force")
    left = OBJECTS - len(gone)
    until(lambda: len(pods(cluster, namespace)) == left, "some are gone", within_s=PATIENCE_S)
    until(
        lambda: len(standing_in(webhook, f"--namespace={namespace}")) == OBJECTS,
        "the brain has all decisions",
        within_s=PATIENCE_S,
    )
    foreign = {f"p{number}" for number in range(0, OBJECTS, FOREIGN)}

    def having(label: str, value: str) -> int:
        return sum(each.get(label) == value for each in pods(cluster, namespace).values())

    # Of one policy first: what the other one has written stays.
    words = (f"--policy={namespace}-a", f"--namespace={namespace}", f"--since={since}")
    tries = kills = brains = 0
    while having("team", "a"):
        tries += 1
        assert tries <= MOST_TRIES
        process = subprocess.Popen(
            command(webhook, "rollback", *words, "--yes"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        assert process.stdout is not None
        enough = dice.randrange(5, 60)
        for number, _ in enumerate(process.stdout):
            if number == enough:
                if dice.random() < 0.4 and webhook.brain is not None:
                    webhook.brain.kill()
                    webhook.brain.begin_again()
                    brains += 1
                else:
                    process.kill()
                    kills += 1
                break
        process.stdout.close()
        process.wait(PATIENCE_S)
        until(
            lambda: run(webhook, "mutations", "--limit=1").returncode == 0,
            "the brain answers",
            within_s=PATIENCE_S,
        )
    after = pods(cluster, namespace)
    assert having("tier", "b") == left
    assert {name for name, labels in after.items() if labels.get("team") == "theirs"} == foreign
    assert having("own", "y") == len(foreign)

    # Then all, in one run.
    done = run(webhook, "rollback", f"--namespace={namespace}", "--yes")
    after = pods(cluster, namespace)
    assert having("tier", "b") == 0, done
    assert {name for name, labels in after.items() if labels.get("team") == "theirs"} == foreign
    assert all(labels["own"] in ("x", "y") for labels in after.values())
    open_ = standing_in(webhook, f"--namespace={namespace}")
    # Those that are gone, and those of which somebody else's part stays.
    names = {each["subject"]["name"] for each in open_}
    assert names == foreign | {each.removeprefix("pod/") for each in gone}
    print(
        f"\n{OBJECTS} mutations, {tries} tries, {kills} commands and {brains} brains killed:"
        f" {left - len(foreign)} taken back whole, {len(foreign)} but for others' values,"
        f" {len(gone)} of pods that were gone"
    )
