"""Two clusters, each with a control plane of its own, on one PostgreSQL: each shows the other, also once that is away, and a
second cluster of the same name is refused."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nemutator_common.errors import ExitCode
from nemutator_controller.inventory.fleet.published import STALE_S

from tests.drill.two_brains import database_settings
from tests.e2e.testbed.in_cluster.installation import (
    READY_S,
    REPORTS,
    Installation,
    brain,
    ended,
    installed,
    nemutator,
    reports,
)
from tests.testbed.parts import control_plane
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.postgres_databases import new_database
from tests.testbed.running.run import running
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(1800)

PATIENCE_S = 240.0
LISTS = (["nodes"], ["workloads"], ["top"], ["top", "nodes"])


@contextlib.contextmanager
def another_cluster() -> Iterator[Cluster]:
    with running() as run:
        yield control_plane.begin(run)


@contextlib.contextmanager
def named(
    cluster: Cluster, name: str, folder: Path, database: dict[str, str]
) -> Iterator[Installation]:
    folder.mkdir()
    with (
        new_namespace(cluster, name) as namespace,
        installed(
            cluster, namespace, folder, NEMUTATOR_BRAIN_CLUSTER_NAME=name, **database
        ) as made,
    ):
        made.pod("agent-k", made.nodes[0], "nemutator-agent")
        token = made.token("nemutator-agent", pod="agent-k")
        said = made.ask(made.uplink, REPORTS, token=token, body=reports(made.nodes[0]))
        assert said.status == 200, said.body
        yield made


def told(one: Installation, *words: str) -> Any:
    token = one.token("viewer", audience="")
    ran = nemutator(one, token, one.directory, *words, "-o", "json")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def clusters(one: Installation) -> dict[str, Any]:
    return {each["name"]: each for each in told(one, "clusters")["items"]}


def node_names(one: Installation, cluster: str) -> set[str]:
    return {node["name"] for node in told(one, "nodes", f"--cluster={cluster}")["items"]}


def test_two_clusters_show_each_other_and_two_of_one_name_do_not_meet(
    cluster: Cluster, postgres: Postgres, tmp_path: Path
) -> None:
    with (
        new_database(postgres, tmp_path) as server,
        another_cluster() as other,
    ):
        postgres.sql(f"GRANT CREATE ON DATABASE {server.database} TO {server.user}")
        database = database_settings(server)
        with (
            named(cluster, "east", tmp_path / "east", database) as east,
            named(other, "west", tmp_path / "west", database) as west,
        ):
            each_shows_the_other(east, west)
            a_third_of_the_same_name_is_refused(west, tmp_path / "third", database)
            one_goes_away(east, west)


def each_shows_the_other(east: Installation, west: Installation) -> None:
    for one in (east, west):
        until(lambda: set(clusters(one)) == {"east", "west"}, "both are there", within_s=PATIENCE_S)  # noqa: B023 - called here
    for one, other, name in ((east, west, "west"), (west, east, "east")):
        assert set(other.nodes) <= node_names(one, name)
        assert not set(one.nodes) & node_names(one, name)
        for words in LISTS:
            told(one, *words, f"--cluster={name}")
        document = told(one, "clusters")
        nodes = [each["summary"]["nodes"]["nodes"] for each in document["items"]]
        assert document["totals"]["nodes"]["nodes"] == sum(nodes)
        assert [each["here"] for each in document["items"]].count(True) == 1
        assert not any(each["stale"] for each in document["items"])
    print("each shows the other one, in", len(LISTS), "lists")


def a_third_of_the_same_name_is_refused(
    west: Installation, folder: Path, database: dict[str, str]
) -> None:
    """A brain in the western cluster that calls itself by the eastern one's name."""
    folder.mkdir()
    third = Installation(west.cluster, west.namespace, folder, 0, 0, west.nodes)
    process = third.process = brain(third, NEMUTATOR_BRAIN_CLUSTER_NAME="east", **database)
    try:
        code = process.wait(READY_S)
    finally:
        ended(third)
    said = (folder / "brain.log").read_text()
    assert code == ExitCode.SETTINGS, said[-2000:]
    assert "another cluster's" in said
    print("refused:", [line for line in said.splitlines() if "another cluster's" in line][-1][:400])


def one_goes_away(east: Installation, west: Installation) -> None:
    ended(west)
    until(lambda: clusters(east)["west"]["stale"], "west is stale", within_s=STALE_S + PATIENCE_S)
    document = told(east, "clusters")
    assert document["totals"]["stale"] == 1
    assert set(west.nodes) <= node_names(east, "west")
    shown = nemutator(east, east.token("viewer", audience=""), east.directory, "clusters")
    print(shown.stdout)
    assert shown.returncode == 0
