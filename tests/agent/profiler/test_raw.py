from nemutator_agent.profiler.raw import RawProfile, RawRow


def test_lost_samples_are_cpu_time_too() -> None:
    raw = RawProfile(
        hz=50,
        started_at=1.0,
        seconds=2.0,
        rows=(RawRow(7, (0x10,), (), (0, 0), 60),),
        recorded=60,
        lost={"stacks_full": 30, "rows_full": 10},
        cpu_seconds=2.0,
    )
    assert raw.sampled_cpu_seconds == 2.0
