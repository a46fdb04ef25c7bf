"""The same way by command: what people type, and what they read."""

import json
from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode

from tests.contract.journal.standing_files import Standing, template
from tests.fakes.manifests import deployment, policy


@pytest.mark.slow
async def test_by_command_everything_is_applied_and_taken_back(
    standing: Standing, tmp_path: Path
) -> None:
    files = tmp_path / "both.yaml"
    # The policy second: it counts for what stands in the same file.
    files.write_text("\n---\n".join(map(json.dumps, (deployment(), policy()))))
    tried = await standing.nemutator("policy", "test", files)
    assert tried.code == ExitCode.OK, tried.err
    assert '  + metadata.labels[team]: "blue"' in tried.out
    applied = await standing.nemutator("apply", files)
    assert applied.code == ExitCode.OK, applied.err
    assert applied.out.startswith("MutationPolicy defaults created\nDeployment default/web created")
    again = await standing.nemutator("apply", files)
    assert again.out == "MutationPolicy defaults unchanged\nDeployment default/web unchanged\n"

    listed = await standing.nemutator("mutations", "-o", "json")
    (mutation,) = json.loads(listed.out)["items"]
    table = await standing.nemutator("mutations", "-n", "default")
    assert mutation["id"] in table.out
    assert "Deployment default/web" in table.out
    one = await standing.nemutator("mutations", mutation["id"])
    assert "by defaults" in one.out

    plan = await standing.nemutator("rollback", mutation["id"], "--plan")
    assert plan.code == ExitCode.OK
    assert "metadata.labels[team]: is removed" in plan.out
    asked = await standing.nemutator("rollback", mutation["id"])
    assert asked.code == ExitCode.USAGE
    assert "--yes" in asked.err
    done = await standing.nemutator("rollback", mutation["id"], "--yes")
    assert done.code == ExitCode.OK, done.err
    assert done.out.endswith("  reversed\n")
    assert json.loads(standing.file.read_bytes()) == deployment()
    twice = await standing.nemutator("rollback", mutation["id"], "--yes")
    assert twice.code == ExitCode.OK
    assert "already" in twice.out


@pytest.mark.slow
async def test_what_cannot_be_done_says_why_and_what_to_do(
    standing: Standing, tmp_path: Path
) -> None:
    unknown = await standing.nemutator("rollback", "no-such/id", "--yes")
    assert unknown.code == ExitCode.FAILED
    assert "no such mutation" in unknown.err
    assert "remedy: " in unknown.err
    bad = tmp_path / "bad.yaml"
    bad.write_text(json.dumps({**policy(), "spec": {"mutations": []}}))
    applied = await standing.nemutator("apply", bad)
    assert applied.code == ExitCode.USAGE
    assert "spec.mutations: expected `array` of length >= 1" in applied.err
    tried = await standing.nemutator("policy", "test", bad)
    assert tried.code == ExitCode.FAILED
    assert "MutationPolicy defaults: spec.mutations: expected `array` of length >= 1" in tried.err
    unnamed = await standing.nemutator("rollback", "--pod", "x", "--yes")
    assert unnamed.code == ExitCode.USAGE
    assert "--pod 'x': write it as NAMESPACE/NAME" in unnamed.err
    missing = await standing.nemutator("apply", tmp_path / "none.yaml")
    assert missing.code == ExitCode.USAGE
    assert "none.yaml: No such file or directory" in missing.err


@pytest.mark.slow
async def test_what_is_refused_is_named_and_the_rest_is_applied(
    standing: Standing, tmp_path: Path
) -> None:
    files = tmp_path / "mixed.yaml"
    gadget = {"apiVersion": "v1", "kind": "Gadget", "metadata": {"name": "g"}, "spec": {}}
    pieces = (deployment("first"), gadget, deployment("third"), policy())
    files.write_text("\n---\n".join(map(json.dumps, pieces)))
    applied = await standing.nemutator("apply", files)
    assert applied.code == ExitCode.USAGE
    assert applied.err.startswith(f"nemutator: {files}: Gadget g: kind: expected MutationPolicy")
    heads = [line for line in applied.out.splitlines() if not line.startswith(" ")]
    assert [head.partition("  (")[0] for head in heads] == [
        *("MutationPolicy defaults created", "Deployment default/first created"),
        "Deployment default/third created",
    ]
    again = await standing.nemutator("apply", "-o", "json", files)
    assert again.code == ExitCode.USAGE
    assert [item["outcome"] for item in json.loads(again.out)["items"]] == ["unchanged"] * 3


@pytest.mark.slow
async def test_a_rollback_that_leaves_everything_as_it_is_ends_with_a_no(
    standing: Standing,
) -> None:
    await standing.apply(policy())
    id_ = (await standing.apply(deployment()))["id"]
    document = json.loads(standing.file.read_bytes())
    template(document)["metadata"]["labels"]["team"] = "green"
    app = template(document)["spec"]["containers"][0]
    app["resources"]["requests"]["cpu"] = "2"
    standing.file.write_text(json.dumps(document))
    plan = await standing.nemutator("rollback", id_, "--plan")
    for words in ((), ("--yes",)):
        ran = await standing.nemutator("rollback", id_, *words)
        assert ran.code == ExitCode.FAILED, ran.err
    assert (plan.code, plan.out.count("stays as it is")) == (ExitCode.OK, 2)


@pytest.mark.slow
async def test_a_file_without_documents_is_named(standing: Standing, tmp_path: Path) -> None:
    empty, full = tmp_path / "empty.yaml", tmp_path / "full.yaml"
    empty.write_text("---\n# nothing\n")
    full.write_text(json.dumps(policy()))
    alone = await standing.nemutator("apply", empty)
    assert alone.code == ExitCode.USAGE
    assert alone.err.startswith(f"nemutator: {empty} is empty\n")
    assert "nothing was applied" in alone.err
    both = await standing.nemutator("apply", empty, full)
    assert (both.code, both.out) == (ExitCode.OK, "MutationPolicy defaults created\n")
    assert both.err == f"nemutator: {empty} is empty\n"
