from nemutator_common import names
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import SWITCHED, value_at
from nemutator_controller.seasons.day_book import CLUSTER
from nemutator_controller.seasons.records import IN_FORCE, FoundSeason, SeasonedPolicy
from nemutator_controller.seasons.verdicts import SeasonVerdict


def test_a_switch_is_a_path_of_each_kind_of_policy() -> None:
    document = {"metadata": {"annotations": {str(names.IN_FORCE): "true"}}}
    for kind in SWITCHED:
        assert value_at(document, parse_path(IN_FORCE), kind) == ("true",)
        assert value_at({"metadata": {}}, parse_path(IN_FORCE), kind) == ()


def test_a_policy_follows_the_cluster_unless_it_names_a_workload() -> None:
    policy = SeasonedPolicy(kind="SizingPolicy", name="p", seasons=("peak",))
    assert (policy.of, policy.key) == (CLUSTER, ("SizingPolicy", "p"))


def test_what_was_not_told_yet_is_unknown() -> None:
    found = FoundSeason(verdict=SeasonVerdict(seasonal=None, reason="so"))
    assert (found.state.season, found.plan) == ("unknown", None)
