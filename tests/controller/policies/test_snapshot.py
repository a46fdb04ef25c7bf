"""Policies are applied in the order of their names, and a faulty one stops nobody else's."""

from typing import Any

from nemutator_controller.mutations.texts import Texts
from nemutator_controller.policies.snapshot import FOLLOWED_STILL, MOST, NO_SEASON, snapshot_of

GOOD = {"mutations": [{"labels": {"set": {"a": "b"}}}]}


def test_the_faulty_are_left_aside_with_their_reason() -> None:
    policies = snapshot_of({"z": GOOD, "bad": {"mutations": []}, "a": GOOD, "worse": None})
    assert [policy.name for policy in policies.sound] == ["a", "z"]
    assert set(policies.faulty) == {"bad", "worse"}
    assert policies.faulty["bad"].startswith("spec.mutations: ")


def test_of_a_workload_the_template_is_changed_first() -> None:
    template = GOOD | {"applyTo": "template"}
    policies = snapshot_of({"a": GOOD, "b": template, "c": GOOD})
    assert [policy.name for policy in policies.for_pods] == ["a", "c"]
    assert [policy.name for policy in policies.for_manifest("Deployment")] == ["b", "a", "c"]
    assert policies.for_manifest("Pod") == policies.for_pods


def test_of_one_that_becomes_faulty_the_last_good_form_is_followed() -> None:
    before = snapshot_of({"a": GOOD})
    broken: Any = {"a": {"mutations": []}, "b": {"mutations": []}}
    policies = snapshot_of(broken, before)
    assert policies.sound == before.sound
    assert policies.faulty["a"].endswith(FOLLOWED_STILL)
    assert not policies.faulty["b"].endswith(FOLLOWED_STILL)
    # It is followed for as long as it is broken, and no longer than it is there.
    assert snapshot_of(broken, policies).sound == before.sound
    other = {"mutations": [{"labels": {"set": {"a": "c"}}}]}
    [mended] = snapshot_of({"a": other}, policies).sound
    assert mended.spec.mutations[0].labels == Texts(set={"a": "c"})
    assert snapshot_of({}, policies).sound == ()


def test_those_of_another_time_are_not_followed() -> None:
    window = {"from": "22:00", "to": "06:00"}
    policies = snapshot_of({"a": GOOD, "b": GOOD | {"when": {"windows": [window]}}})
    assert [each.name for each in policies.at(12 * 3600, NO_SEASON).for_pods] == ["a"]
    assert [each.name for each in policies.at(23 * 3600, NO_SEASON).for_pods] == ["a", "b"]
    always = snapshot_of({"a": GOOD})
    assert always.at(0, NO_SEASON) is always


def test_there_is_an_end_to_them() -> None:
    policies = snapshot_of({f"{number:05}": GOOD for number in range(MOST + 1)})
    assert len(policies.sound) == MOST
    assert policies.faulty == {f"{MOST:05}": f"more than {MOST} policies: merge some"}


def test_a_policy_of_seasons_is_followed_in_them_alone() -> None:
    office = {"windows": [{"from": "09:00", "to": "17:00"}]}
    policies = snapshot_of(
        {
            "busy": {"when": {"season": ["peak"]}, **GOOD},
            "busy-office": {"when": {"season": ["peak"], **office}, **GOOD},
        }
    )

    def followed(hour: int, *names: str) -> list[str]:
        return [each.name for each in policies.at(hour * 3600, frozenset(names)).for_pods]

    assert followed(12) == []
    assert followed(12, "busy", "busy-office") == ["busy", "busy-office"]
    assert followed(20, "busy", "busy-office") == ["busy"]


def test_a_time_that_names_nothing_is_a_fault() -> None:
    of = {"namespace": "shop", "kind": "Deployment", "name": "web"}
    windows = [{"from": "09:00", "to": "17:00"}]
    policies = snapshot_of(
        {"a": {"when": {}, **GOOD}, "b": {"when": {"windows": windows, "of": of}, **GOOD}}
    )
    assert policies.faulty["a"].startswith("spec.when: name at least one of windows and season")
    assert policies.faulty["b"].startswith("spec.when.of: a workload's season")
