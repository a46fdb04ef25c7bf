"""nemutator where most people have it: another kernel, systemd, control groups of version 2.

Linux 6.1 has no SO_PEERPIDFD: what identity shows there, it shows by pidfd_open alone.
"""

import pytest

from tests.e2e.machine import on_any_kernel
from tests.testbed.parts.machine.machine import Machine

pytestmark = pytest.mark.timeout(1800)


def test_it_is_a_node_as_most_are(guest: Machine) -> None:
    on_any_kernel.it_is_a_node_as_most_are(guest)


def test_doctor_misses_nothing_there(guest: Machine) -> None:
    on_any_kernel.doctor_misses_nothing(guest)


def test_callers_are_known_and_mistaken_for_nobody_by_pidfd_open_alone(guest: Machine) -> None:
    on_any_kernel.callers_are_mistaken_for_nobody(guest, by_connection=False)


def test_whoever_has_a_callers_number_after_it_is_refused_there_too(guest: Machine) -> None:
    on_any_kernel.a_recycled_number_is_refused(guest, by_connection=False)


def test_pods_are_known_by_their_groups_in_a_namespace_and_impostors_refused(
    guest: Machine,
) -> None:
    on_any_kernel.passes(
        guest, "tests/e2e/test_cgroup_namespace.py", "tests/e2e/test_mounting.py", "--noconftest"
    )


def test_a_volume_is_its_pods_alone(guest: Machine) -> None:
    on_any_kernel.a_volume_is_its_pods_alone(guest)
