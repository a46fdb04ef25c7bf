"""What has to hold on a guest with any kernel that we support: drills show it on the other ones."""

import json
import re
import shlex

from tests.testbed.building.made import MACHINES
from tests.testbed.parts.machine.machine import Machine

SOURCE = "/opt/nemutator/source"
TESTS_S = 1800.0


def it_is_a_node_as_most_are(guest: Machine) -> None:
    assert guest.run("uname", "-r").startswith(f"{guest.kernel}.")
    assert guest.run("uname", "-m") == f"{MACHINES[guest.architecture]}\n"
    assert guest.run("stat", "-fc", "%T", "/sys/fs/cgroup") == "cgroup2fs\n"
    assert guest.run("cat", "/proc/1/comm") == "systemd\n"


def doctor_misses_nothing(guest: Machine) -> None:
    findings = json.loads(guest.run("nemutator", "doctor", "-o", "json"))["findings"]
    states = {finding["check"]: finding["state"] for finding in findings}
    assert states["BTF"] == "ok"
    assert {check for check, state in states.items() if state != "ok"} == set()
    found = {finding["check"]: finding["found"] for finding in findings}
    assert ("by their numbers" in found["callers"]) is not names_who_connects(guest.kernel)
    assert ("hides its caller" in found["processor"]) is (guest.architecture == "arm64")


def names_who_connects(kernel: str) -> bool:
    """Whether it has SO_PEERPIDFD."""
    return tuple(map(int, kernel.split("."))) >= (6, 5)


def passes(guest: Machine, *words: str, within_s: float = TESTS_S, **environment: str) -> list[str]:
    """Runs tests there, of which one passes at least; why others were skipped."""
    variables = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
    tests = "python3 -m pytest -q -rs -p no:cacheprovider --timeout=900"
    ran = guest.sh(f"cd {SOURCE} && {' '.join([*variables, tests, *words])}", within_s=within_s)
    lines = ran.splitlines()
    assert re.search(r"^[1-9]\d* passed", lines[-1]), ran
    return [line for line in lines if line.startswith("SKIPPED")]


def a_worker_that_was_taken_over_can_do_nothing(guest: Machine) -> None:
    passes(guest, "tests/contract/inspection/test_confinement.py")


def callers_are_mistaken_for_nobody(guest: Machine, *, by_connection: bool) -> None:
    skipped = passes(guest, "tests/hostile/identity/test_callers.py")
    assert all("SO_PEERPIDFD needs Linux 6.5" in line for line in skipped), skipped
    assert bool(skipped) is not by_connection, skipped


def a_recycled_number_is_refused(guest: Machine, *, by_connection: bool) -> None:
    holds = [*(["SO_PEERPIDFD"] if by_connection else []), "pidfd_open"]
    ran = guest.sh(
        f"cd {SOURCE} && unshare --pid --fork --mount-proc"
        f" python3 -m tests.e2e.recycled_pid {' '.join(holds)}"
    )
    late = {"SO_PEERPIDFD": "refused", "pidfd_open": "unproven"}
    assert ran == "".join(f"{hold} alive {late[hold]}\n" for hold in holds)


def a_volume_is_its_pods_alone(guest: Machine) -> None:
    ran = guest.sh(f"cd {SOURCE} && python3 -m tests.e2e.machine.csi_volume 2>/tmp/csi_volume.log")
    answers = json.loads(ran)
    assert answers.pop("mounts left") == 0
    steps = {who: (status, json.loads(body)["step"]) for who, (status, body) in answers.items()}
    # Who is let in learns that Vault is away.
    assert steps == {
        "a container of the pod": (503, "vault"),
        "its subgroup": (503, "vault"),
        "another pod": (403, "other pod"),
        "a subgroup of another pod with the pod's name": (403, "other pod"),
        "a delegated subtree with the pod's name": (403, "position"),
        "the node": (403, "position"),
        "who has moved away": (403, "other pod"),
    }
