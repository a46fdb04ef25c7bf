"""`nemutator report` of a real `nemutator up`: it says much, and no secret that was put anywhere."""

import json
import os
import secrets
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.standing import COMMAND, Standing, standing

RUN_S = 240


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing(tmp_path_factory.mktemp("report")) as up:
        yield up


def nemutator(up: Standing, *words: str, given: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *words],
        input=given,
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
        env={**os.environ, "NEMUTATOR_DATA_DIR": str(up.data_dir)},
    )


def contents(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as packed:
        return {
            member.name.partition("/")[2]: opened.read()
            for member in packed
            if (opened := packed.extractfile(member)) is not None
        }


@pytest.mark.timeout(600)
def test_a_report_has_what_helps_and_no_secret(up: Standing, tmp_path: Path) -> None:
    kept, changed, typed = (f"hunter2-{secrets.token_hex(8)}" for _ in range(3))
    assert nemutator(up, "secret", "set", "db", given=kept).returncode == 0
    policy = {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "MutationPolicy",
        "metadata": {"name": "seeded"},
        "spec": {
            "mode": "Apply",
            "match": {"namespaces": ["shop"]},
            "mutations": [{"labels": {"set": {"team": changed}}}],
        },
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"containers": [{"name": "web", "image": "web"}]},
    }
    manifests = []
    for document in (policy, pod):
        manifests.append(tmp_path / f"{document['kind']}.json")
        manifests[-1].write_text(json.dumps(document))
    applied = nemutator(up, "apply", *map(str, manifests))
    assert applied.returncode == 0, applied.stderr
    # Where a program is told its password on the command line.
    told = subprocess.Popen(["sleep", "600", f"--{typed}"], stderr=subprocess.DEVNULL)
    talks = subprocess.Popen(["bash", "-c", f": {typed}; read"], stdin=subprocess.PIPE)
    try:
        archive = tmp_path / "report.tar.gz"
        made = nemutator(up, "report", str(archive))
        assert made.returncode == 0, made.stderr
        assert made.stdout == f"{archive}\n"
    finally:
        for each in (told, talks):
            each.kill()
            each.communicate()
    found = contents(archive)
    listed = json.loads(found["brain/mutations.json"])["items"]
    assert [one["subject"]["name"] for one in listed] == ["web"]
    assert {"about.json", "brain/nodes.json", "metrics/brain.txt", "problems.txt"} <= set(found)
    assert b"nemutator_reports_stored_total" in found["metrics/brain.txt"]
    token = (up.data_dir / "link-token").read_text().strip() if _has_token(up) else kept
    for name, content in found.items():
        for secret in (kept, changed, typed, token):
            assert secret.encode() not in content, name
    assert archive.stat().st_mode & 0o777 == 0o600
    again = nemutator(up, "report", str(archive))
    assert again.returncode == 1
    assert "File exists" in again.stderr


def _has_token(up: Standing) -> bool:
    return (up.data_dir / "link-token").is_file()


def test_where_nothing_runs_the_report_says_so(tmp_path: Path) -> None:
    ran = subprocess.run(
        [*COMMAND, "report", str(tmp_path / "r.tar.gz"), f"--data-dir={tmp_path / 'none'}"],
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    assert ran.returncode == 0
    assert "no nemutator runs on" in ran.stderr
    assert b"no nemutator runs on" in contents(tmp_path / "r.tar.gz")["problems.txt"]
