"""`nemutator up` of the version before leaves a data directory, this version goes on with it, and the one before refuses it then."""

import contextlib
import os
import sqlite3
import subprocess
from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode
from nemutator_controller.database.schema import HEAD

from tests.drill import version_before
from tests.e2e.standing import Person, Standing, standing
from tests.testbed.fixtures import skipped_when_missing
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(900)

PACKAGES = ("agent", "bpf", "common", "controller", "initcontainer")
WAIT_S = 300.0

POLICY = """\
apiVersion: nemutator.io/v1alpha1
kind: MutationPolicy
metadata: {name: team}
spec:
  mode: Apply
  match: {namespaces: [shop]}
  mutations:
    - labels: {set: {team: shop}}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example/web}]}
"""


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Person:
    """Somebody who has the version before, with the packages that are installed here."""
    with skipped_when_missing():
        commit = version_before.found()
    tree = version_before.unpacked(commit, tmp_path_factory.mktemp("before"))
    print("the version before:", commit)
    path = os.pathsep.join(str(tree / package) for package in PACKAGES)
    return Person(environment={"PYTHONPATH": path})


def test_a_data_directory_is_taken_over_whole_and_not_given_back(
    before: Person, tmp_path: Path
) -> None:
    policy, deployment = tmp_path / "policy.yaml", tmp_path / "web.yaml"
    policy.write_text(POLICY)
    deployment.write_text(DEPLOYMENT)
    with standing(tmp_path, person=before) as old:
        assert form(old.data_dir) < HEAD
        applied = old.run("apply", str(policy), str(deployment))
        assert applied.code == 0, applied.stderr
        set_to(old, before, "before")
        until(lambda: histories(old) > 0, "use is in the history", within_s=WAIT_S)
        mutations, rows = ids(old), histories(old)
        assert mutations
    with standing(tmp_path) as new:
        assert form(new.data_dir) == HEAD
        assert ids(new) == mutations
        assert histories(new) >= rows
        given = new.run("exec", "--env", "PASSWORD=db", "--", "printenv", "PASSWORD")
        assert given.stdout.strip() == "before", given.stderr
        taken = new.run("rollback", mutations[0], "--yes")
        assert taken.code == 0, taken.stderr
        print("mutations:", mutations, "rows of history:", rows, histories(new), taken.stdout)
    refused = before.run("up", "--data-dir", new.data_dir, "--console", "127.0.0.1:0")
    print("refused:", refused.code, refused.stdout, refused.stderr)
    assert refused.code in (ExitCode.DATABASE, ExitCode.CHILD_DIED)
    assert "a newer nemutator has written it" in refused.stdout + refused.stderr
    with standing(tmp_path) as again:
        assert ids(again) == mutations


def form(data_dir: Path) -> str:
    """Which migration its database has had last."""
    return str(in_database(data_dir, "SELECT version_num FROM alembic_version"))


def ids(up: Standing) -> list[str]:
    return [one["id"] for one in up.api("/api/v1/mutations").document["items"]]


def histories(up: Standing) -> int:
    """Of what there is a history that has been saved."""
    return int(str(in_database(up.data_dir, "SELECT count(*) FROM history_rows")))


def in_database(data_dir: Path, asked: str) -> object:
    where = f"file:{data_dir}/nemutator.db?mode=ro"
    with contextlib.closing(sqlite3.connect(where, uri=True)) as connection:
        ((found,),) = connection.execute(asked).fetchall()
    return found


def set_to(up: Standing, person: Person, value: str) -> None:
    words = ("secret", "set", "db", "--data-dir", up.data_dir)
    with person.start(
        *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        _, complaint = process.communicate(value.encode(), timeout=WAIT_S)
    assert process.returncode == 0, complaint
