"""Reports of a machine that does not exist."""

from nemutator_common.wire import Machine, Pressures, Report


def report(at: float = 1.0, *, system: str = "Debian") -> Report:
    return Report(
        taken_at=at,
        machine=Machine(
            kernel="6.1.0",
            system=system,
            cpus=2,
            memory_bytes=1000,
            boot_id="b",
            cpu_cores=None,
            memory_used_bytes=1,
            swap_used_bytes=0,
            load_1m=0.0,
            pressures=Pressures(),
        ),
        workloads=(),
        processes=(),
        missing=(),
    )
