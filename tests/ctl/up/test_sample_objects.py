"""What is put up is what the policies' own code understands, and changes something."""

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import declarations
from nemutator_controller.policies.model import policy_from_document
from nemutator_ctl.edits import ShownObject
from nemutator_ctl.up import sample_objects
from nemutator_ctl.up.command_lines import Typed
from nemutator_ctl.up.sample_objects import PutUp


def test_the_policy_has_no_fault_and_is_applied() -> None:
    policy = policy_from_document(sample_objects.POLICY)
    assert policy.spec.mode == "Apply"
    assert sample_objects.MANIFEST["metadata"]["namespace"] in policy.spec.match.namespaces


def test_the_secret_has_a_name_that_can_be_asked_for() -> None:
    assert declarations.is_name(sample_objects.SECRET)


POLICY = ShownObject("MutationPolicy", "", "sample-owners")
SHOP = ShownObject("Deployment", "sample", "shop")


def test_only_what_is_not_there_is_put_up() -> None:
    assert sample_objects.absent([]) == [sample_objects.POLICY, sample_objects.MANIFEST]
    assert sample_objects.absent([SHOP]) == [sample_objects.POLICY]
    assert sample_objects.absent([POLICY]) == [sample_objects.MANIFEST]
    assert sample_objects.absent([SHOP, POLICY]) == []


def test_what_only_shares_a_name_is_something_else() -> None:
    others = [
        replace(SHOP, namespace="default"),
        replace(SHOP, kind="Pod"),
        replace(POLICY, name="x"),
    ]
    assert sample_objects.absent(others) == [sample_objects.POLICY, sample_objects.MANIFEST]


DATA = Path("/data dir")
TYPED = Typed("nemutator", DATA, named=True)


def text(there: PutUp) -> str:
    return sample_objects.to_try(there, TYPED, objects=DATA / "objects")


def test_each_job_has_a_command_that_can_be_copied() -> None:
    said = text(PutUp(secret="greeting", mutation="7f"))
    option = "--data-dir '/data dir'"
    url = "http://nemutator/v1/secret/greeting"
    assert f"curl --silent --unix-socket '/data dir/agent.sock' {url}\n" in said
    assert f"nemutator advise {option}\n" in said
    assert f"nemutator rollback {option} 7f\n" in said
    profiled = sample_objects.profiled(12, TYPED)
    assert f"nemutator profile {option} pid:12 --seconds 10\n" in profiled
    assert "flame graph" in profiled


def test_where_nothing_can_be_rolled_back_the_text_says_how_to_make_something() -> None:
    said = text(PutUp(secret="greeting", mutation=None))
    assert "nemutator rollback" not in said
    assert "nothing is left to roll back" in said
    file = "'/data dir/objects/Deployment/sample/shop.json'"
    assert f"nemutator apply --data-dir '/data dir' {file}\n" in said


def test_what_is_missing_is_told_with_its_remedy() -> None:
    said = sample_objects.not_shown("no BPF\n  remedy: run as root")
    assert said == "  Not shown\n    no BPF\n      remedy: run as root\n\n"


@given(st.text())
def test_what_others_say_cannot_draw_on_the_terminal(problem: str) -> None:
    assert sample_objects.not_shown(problem).replace("\n", "").isprintable()
