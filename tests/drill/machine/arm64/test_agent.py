"""The agent on arm64: what it misses, who its callers are, and a pod's volume."""

import pytest

from tests.e2e.machine import on_any_kernel
from tests.testbed.parts.machine.machine import Machine

pytestmark = pytest.mark.timeout(3600)


def test_it_is_a_node_as_most_are(guest: Machine) -> None:
    on_any_kernel.it_is_a_node_as_most_are(guest)


def test_doctor_misses_nothing_there(guest: Machine) -> None:
    on_any_kernel.doctor_misses_nothing(guest)


def test_callers_are_known_and_mistaken_for_nobody(guest: Machine) -> None:
    on_any_kernel.callers_are_mistaken_for_nobody(guest, by_connection=False)
    on_any_kernel.a_recycled_number_is_refused(guest, by_connection=False)


def test_pods_are_known_by_their_groups_in_a_namespace_and_impostors_refused(
    guest: Machine,
) -> None:
    on_any_kernel.passes(
        guest, "tests/e2e/test_cgroup_namespace.py", "tests/e2e/test_mounting.py", "--noconftest"
    )


def test_a_volume_is_its_pods_alone(guest: Machine) -> None:
    on_any_kernel.a_volume_is_its_pods_alone(guest)


def test_a_worker_that_was_taken_over_can_do_nothing(guest: Machine) -> None:
    on_any_kernel.a_worker_that_was_taken_over_can_do_nothing(guest)


def test_the_kernel_samples_programs_and_counts_groups(guest: Machine) -> None:
    on_any_kernel.passes(guest, "tests/contract/profiler", "tests/contract/usage", "-m", "e2e")
