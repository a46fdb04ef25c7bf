import pytest
from nemutator_agent.identity.attesting import LearningWitness, PodWitness, RuleWitness
from nemutator_agent.identity.facts import Facts
from nemutator_agent.identity.pods import PodsRoot
from nemutator_agent.identity.refusals import RefusedError
from nemutator_agent.identity.rules import Rule, parse_rule

UID = "0a1b2c3d-0000-4111-8222-333344445555"
OTHER = "ffffffff-0000-4111-8222-333344445555"
IN_POD = Facts(f"0::/kubepods/burstable/pod{UID}/x\n", 1, None)
SERVICE = Facts("1:memory:/m\n0::/system.slice/app.service/worker\n", 1, "/usr/bin/app")


def test_the_sockets_pod_and_the_kernels_pod_must_be_one() -> None:
    witness = PodWitness(PodsRoot("", "/kubepods"))
    witness.admit(IN_POD, UID)
    with pytest.raises(RefusedError) as refused:
        witness.admit(IN_POD, OTHER)
    assert refused.value.step == "other pod"


@pytest.mark.parametrize("uid", ["", "pod", UID.upper(), UID.replace("-", "_"), f"{UID} "])
def test_uids_are_compared_as_they_are(uid: str) -> None:
    with pytest.raises(RefusedError):
        PodWitness(PodsRoot("", "/kubepods")).admit(IN_POD, uid)


@pytest.mark.parametrize(
    "rule",
    [
        "uid=1000",
        "exe=/usr/bin/app",
        "cgroup=/system.slice/app.service",
        "cgroup=/system.slice",
        "cgroup=/system.slice/app.service/worker",
        "cgroup=memory:/m",
        "uid=1000,exe=/usr/bin/app,cgroup=/system.slice",
    ],
)
def test_a_rule_admits_when_all_its_parts_hold(rule: str) -> None:
    RuleWitness().admit(1000, SERVICE, [parse_rule("uid=1"), parse_rule(rule)])


@pytest.mark.parametrize(
    "rule",
    [
        "uid=1001",
        "exe=/usr/bin/ap",
        "exe=/usr/bin/app (deleted)",
        "cgroup=/system.slice/app",
        "cgroup=/app.service",
        "cgroup=memory:/system.slice",
        "cgroup=cpu:/m",
        "uid=1000,exe=/usr/bin/other",
        "uid=1001,exe=/usr/bin/app",
    ],
)
def test_a_rule_refuses_when_one_part_does_not(rule: str) -> None:
    with pytest.raises(RefusedError) as refused:
        RuleWitness().admit(1000, SERVICE, [parse_rule(rule)])
    assert refused.value.step == "rule"


def test_no_rule_and_an_empty_rule_admit_nobody() -> None:
    for rules in ([], [Rule()]):
        with pytest.raises(RefusedError):
            RuleWitness().admit(0, SERVICE, rules)


def test_a_program_that_may_not_be_seen_is_no_program() -> None:
    with pytest.raises(RefusedError):
        RuleWitness().admit(1000, Facts("0::/\n", 1, None), [parse_rule("exe=/usr/bin/app")])


def test_without_version_2_systemds_hierarchy_names_services() -> None:
    facts = Facts("2:name=systemd:/system.slice/app.service\n1:memory:/\n", 1, None)
    RuleWitness().admit(1, facts, [parse_rule("cgroup=/system.slice/app.service")])


OWN_GROUP = f"/kubepods/burstable/pod{OTHER}/{'a' * 64}"


def test_who_sees_no_pods_admits_nobody_before_it_has_learnt() -> None:
    witness = LearningWitness("0::/\n", "")
    facts = Facts(f"0::/../../pod{UID}/{'b' * 64}\n", 1, None)
    with pytest.raises(RefusedError):
        witness.admit(facts, UID)
    with pytest.raises(ValueError, match="pods_root"):
        witness.learn("")
    witness.learn(f":/kubepods@{OWN_GROUP}")
    witness.admit(facts, UID)
    with pytest.raises(RefusedError, match="is in pod"):
        witness.admit(facts, OTHER)


def test_what_is_known_already_is_not_learnt_anew() -> None:
    witness = LearningWitness("0::/\n", f":/kubepods@{OWN_GROUP}")
    witness.learn("nonsense")
    witness.admit(Facts(f"0::/../../pod{UID}/{'b' * 64}\n", 1, None), UID)


def test_of_a_root_that_is_set_the_own_place_is_learnt() -> None:
    """Whoever names kubelet's root cannot name a container that is another one at each start."""
    witness = LearningWitness("0::/\n", "/kubepods")
    facts = Facts(f"0::/../../pod{UID}/{'b' * 64}\n", 1, None)
    witness.learn("")
    with pytest.raises(RefusedError, match="does not know its place"):
        witness.admit(facts, UID)
    # What is set stays so, whatever mount takes for it.
    witness.learn(f":/elsewhere@{OWN_GROUP}")
    witness.admit(facts, UID)


def test_of_another_hierarchy_no_place_is_learnt() -> None:
    own = "4:memory:/\n0::/\n"
    witness = LearningWitness(own, ":/kubepods")
    witness.learn(f"memory:/kubepods@{OWN_GROUP}")
    with pytest.raises(RefusedError, match="does not know its place"):
        witness.admit(Facts(f"4:memory:/\n0::/../../pod{UID}/x\n", 1, None), UID)


def test_a_setting_that_makes_no_sense_is_said_at_once() -> None:
    with pytest.raises(ValueError, match="expected"):
        LearningWitness("0::/\n", "nonsense")
