from dataclasses import replace

import pytest
from nemutator_agent.identity.attestors import LearningPodAttestor, PodAttestor, admit_by_rules
from nemutator_agent.identity.facts import ProcessFacts
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.pods import PodsRoot
from nemutator_agent.identity.rules import CallerRule, parse_rule

UID = "0a1b2c3d-0000-4111-8222-333344445555"
OTHER = "ffffffff-0000-4111-8222-333344445555"
IN_POD = ProcessFacts(f"0::/kubepods/burstable/pod{UID}/x\n", 1, None)
SERVICE = ProcessFacts("1:memory:/m\n0::/system.slice/app.service/worker\n", 1, "/usr/bin/app")


def test_the_sockets_pod_and_the_kernels_pod_must_be_one() -> None:
    attestor = PodAttestor(PodsRoot("", "/kubepods"))
    attestor.admit(IN_POD, UID)
    with pytest.raises(AttestationError) as refused:
        attestor.admit(IN_POD, OTHER)
    assert refused.value.step == "other pod"


@pytest.mark.parametrize("uid", ["", "pod", UID.upper(), UID.replace("-", "_"), f"{UID} "])
def test_uids_are_compared_as_they_are(uid: str) -> None:
    with pytest.raises(AttestationError):
        PodAttestor(PodsRoot("", "/kubepods")).admit(IN_POD, uid)


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
    admit_by_rules(1000, SERVICE, [parse_rule("uid=1"), parse_rule(rule)])


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
    with pytest.raises(AttestationError) as refused:
        admit_by_rules(1000, SERVICE, [parse_rule(rule)])
    assert refused.value.step == "rule"


def test_no_rule_and_an_empty_rule_admit_nobody() -> None:
    for rules in ([], [CallerRule()]):
        with pytest.raises(AttestationError):
            admit_by_rules(0, SERVICE, rules)


def test_a_program_that_may_not_be_seen_is_no_program() -> None:
    with pytest.raises(AttestationError):
        admit_by_rules(1000, ProcessFacts("0::/\n", 1, None), [parse_rule("exe=/usr/bin/app")])


def test_without_version_2_systemds_hierarchy_names_services() -> None:
    facts = ProcessFacts("2:name=systemd:/system.slice/app.service\n1:memory:/\n", 1, None)
    admit_by_rules(1, facts, [parse_rule("cgroup=/system.slice/app.service")])


OWN_GROUP = f"/kubepods/burstable/pod{OTHER}/{'a' * 64}"


def test_who_sees_no_pods_admits_nobody_before_it_has_learnt() -> None:
    attestor = LearningPodAttestor("0::/\n", "")
    facts = ProcessFacts(f"0::/../../pod{UID}/{'b' * 64}\n", 1, None)
    with pytest.raises(AttestationError):
        attestor.admit(facts, UID)
    with pytest.raises(ValueError, match="pods_root"):
        attestor.learn("")
    attestor.learn(f":/kubepods@{OWN_GROUP}")
    attestor.admit(facts, UID)
    with pytest.raises(AttestationError, match="is in pod"):
        attestor.admit(facts, OTHER)


def test_what_is_known_already_is_not_learnt_anew() -> None:
    attestor = LearningPodAttestor("0::/\n", f":/kubepods@{OWN_GROUP}")
    attestor.learn("nonsense")
    attestor.admit(ProcessFacts(f"0::/../../pod{UID}/{'b' * 64}\n", 1, None), UID)


def test_of_a_root_that_is_set_the_own_place_is_learnt() -> None:
    """Whoever names kubelet's root cannot name a container that is another one at each start."""
    attestor = LearningPodAttestor("0::/\n", "/kubepods")
    facts = ProcessFacts(f"0::/../../pod{UID}/{'b' * 64}\n", 1, None)
    attestor.learn("")
    with pytest.raises(AttestationError, match="does not know its place"):
        attestor.admit(facts, UID)
    # What is set stays so, whatever mount takes for it.
    attestor.learn(f":/elsewhere@{OWN_GROUP}")
    attestor.admit(facts, UID)


def test_of_another_hierarchy_no_place_is_learnt() -> None:
    own = "4:memory:/\n0::/\n"
    attestor = LearningPodAttestor(own, ":/kubepods")
    attestor.learn(f"memory:/kubepods@{OWN_GROUP}")
    with pytest.raises(AttestationError, match="does not know its place"):
        attestor.admit(ProcessFacts(f"4:memory:/\n0::/../../pod{UID}/x\n", 1, None), UID)


def test_a_setting_that_makes_no_sense_is_said_at_once() -> None:
    with pytest.raises(ValueError, match="expected"):
        LearningPodAttestor("0::/\n", "nonsense")


def test_who_may_have_anothers_number_is_refused_although_the_pod_is_right() -> None:
    with pytest.raises(AttestationError) as refused:
        PodAttestor(PodsRoot("", "/kubepods")).admit(replace(IN_POD, proven=False), UID)
    assert refused.value.step == "start"


def test_a_rule_for_a_user_needs_no_proof_of_the_process_and_others_do() -> None:
    young = replace(SERVICE, proven=False)
    admit_by_rules(1000, young, [parse_rule("uid=1000")])
    admit_by_rules(1000, young, [parse_rule("exe=/usr/bin/app"), parse_rule("uid=1000")])
    for rule in ("uid=1000,exe=/usr/bin/app", "cgroup=/system.slice/app.service"):
        with pytest.raises(AttestationError) as refused:
            admit_by_rules(1000, young, [parse_rule(rule)])
        assert refused.value.step == "start"
