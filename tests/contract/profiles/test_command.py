"""`nemutator profile` and `nemutator advise`, against a real brain."""

import asyncio
from pathlib import Path

from nemutator_common.errors import ExitCode
from nemutator_common.profiles import pprof

from tests.fakes.brains import standing_brain
from tests.fakes.command_lines import CommandLine
from tests.fakes.profiles import heap_content, off_cpu_content
from tests.fakes.profiling_agents import FakeAgent


async def test_a_profile_is_asked_for_shown_and_saved(
    tmp_path: Path, nemutator: CommandLine
) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        file = tmp_path / "x.pb.gz"
        async with asyncio.TaskGroup() as group:
            ran = group.create_task(
                nemutator("profile", "pid:123", "--threads", "--seconds", "1", "-o", file)
            )
            [request] = await agent.requests(wait_s=20)
            assert (request.measure, request.threads) == ("cpu", True)
            await agent.report(request, "running")
            await agent.report(request, "done")
        found = ran.result()
        assert found.code == ExitCode.OK, found.err
        assert "pid 123 on n1: 2 samples in 1.0 s at 99 Hz" in found.out
        assert "lost: 1 (stack_map_full 1)" in found.out
        assert "  grade: 100 % of stacks reach their root; 75 % of calls" in found.out
        assert "main.work" in found.out
        assert f"/api/v1/profiles/{request.id}/flamegraph" in found.out
        assert f"saved: {file}" in found.err
        assert pprof.decode(file.read_bytes()).recorded == 2


async def test_a_heap_is_asked_for_shown_and_saved(tmp_path: Path, nemutator: CommandLine) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        file = tmp_path / "x.folded"
        async with asyncio.TaskGroup() as group:
            ran = group.create_task(nemutator("profile", "pid:123", "--heap", "-o", file))
            [request] = await agent.requests(wait_s=20)
            assert (request.measure, request.seconds, request.hz) == ("heap", 0.0, 0)
            assert not request.threads
            heap = {"pprof": heap_content(), "recorded": 1, "seconds": 0.0, "hz": 0}
            await agent.report(request, "done", **heap)
        found = ran.result()
        assert found.code == ExitCode.OK, found.err
        assert "pid 123 on n1: 3.00 MiB in use in 3 objects" in found.out
        assert "as of garbage collection 9" in found.out
        assert "main.go:7" in found.out
        assert file.read_text() == f"main.keep {3 << 20}\n"
        async with brain.local.get(f"/api/v1/profiles/{request.id}/flamegraph") as answer:
            assert '"unit":"bytes"' in await answer.text()


async def test_time_off_the_cpu_is_asked_for_shown_and_drawn(
    tmp_path: Path, nemutator: CommandLine
) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        async with asyncio.TaskGroup() as group:
            ran = group.create_task(nemutator("profile", "pid:123", "--off-cpu", "--seconds", "5"))
            [request] = await agent.requests(wait_s=20)
            assert (request.measure, request.seconds, request.hz) == ("off-cpu", 5.0, 0)
            waits = {"pprof": off_cpu_content(), "recorded": 2 * 10**9, "seconds": 5.0, "hz": 0}
            await agent.report(request, "done", **waits)
        found = ran.result()
        assert found.code == ExitCode.OK, found.err
        assert "pid 123 on n1: blocked for 2.000 s in 5.0 s" in found.out
        assert "main.wait" in found.out
        async with brain.local.get(f"/api/v1/profiles/{request.id}/flamegraph") as answer:
            assert '"unit":"nanoseconds"' in await answer.text()


async def test_a_cpu_profile_is_not_taken_for_a_heap(
    tmp_path: Path, nemutator: CommandLine
) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        async with asyncio.TaskGroup() as group:
            ran = group.create_task(nemutator("profile", "pid:123", "--heap"))
            [request] = await agent.requests(wait_s=20)
            status, _ = await agent.report(request, "done")
        assert status == 400
        assert ran.result().code == ExitCode.FAILED
        assert "no profile" in ran.result().err


async def test_a_refusal_names_its_reason_and_is_an_exit_code(
    tmp_path: Path, nemutator: CommandLine
) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        async with asyncio.TaskGroup() as group:
            ran = group.create_task(nemutator("profile", "cgroup:/x"))
            [request] = await agent.requests(wait_s=20)
            await agent.report(request, "refused", reason="no such cgroup: look at topology")
        assert ran.result().code == ExitCode.FAILED
        assert "no such cgroup: look at topology" in ran.result().err
        assert ran.result().out == ""


async def test_what_cannot_be_asked_is_explained(tmp_path: Path, nemutator: CommandLine) -> None:
    async with standing_brain(tmp_path / "data"):
        ran = await nemutator("profile", "shop/cart-1")
        assert ran.code == ExitCode.FAILED
        assert "no pod 'shop/cart-1' is known" in ran.err


async def test_without_a_target_it_lists_what_there_is_and_takes_a_name(
    tmp_path: Path, nemutator: CommandLine
) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        ran = await nemutator("profile")
        assert (ran.code, ran.err) == (ExitCode.OK, "")
        assert "pid:1 " in ran.out
        assert "cgroup:/system.slice/unit-1.service" in ran.out
        ran = await nemutator("profile", "--node", "n9")
        assert "There is nothing to profile" in ran.out
        async with asyncio.TaskGroup() as group:
            asked = group.create_task(nemutator("profile", "unit:unit-0", "--seconds", "1"))
            [request] = await agent.requests(wait_s=20)
            await agent.report(request, "done")
        assert asked.result().code == ExitCode.OK, asked.result().err
        assert "cgroup /system.slice/unit-0.service on n1" in asked.result().out


async def test_profiles_of_a_workload_are_merged_for_the_compiler_and_for_people(
    tmp_path: Path, nemutator: CommandLine
) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        agent = FakeAgent(brain)
        await agent.appear()
        for _ in range(2):
            async with brain.local.post(
                "/api/v1/profiles", json={"target": {"kind": "pid", "value": "1"}}
            ) as asked:
                assert (await asked.json())["workload"] == "sshd"
            [request] = await agent.requests()
            await agent.report(request, "done")
        file = tmp_path / "default.pgo"
        ran = await nemutator("pgo", "sshd", "-o", file)
        assert (ran.code, ran.err) == (ExitCode.OK, f"saved: {file}\n")
        # Four samples at 99 Hz.
        assert ran.out.startswith("2 profiles: 0.0 s of CPU time in functions of Go, in 2 stacks")
        merged = pprof.decode(file.read_bytes())
        assert sum(weight for _, weight in merged.stacks) == 4 * round(1e9 / 99)
        ran = await nemutator("flame", "workload:sshd")
        assert "sshd: 4 samples in 2.0 s at 99 Hz in 2 stacks" in ran.out
        ran = await nemutator("diff", "workload:sshd", str(file))
        assert ran.code == ExitCode.OK, ran.err
        ran = await nemutator("pgo", "nothing")
        assert (ran.code, "there are profiles of sshd" in ran.err) == (ExitCode.FAILED, True)
        heap = tmp_path / "heap.pb.gz"
        heap.write_bytes(heap_content())
        ran = await nemutator("pgo", str(heap))
        assert (ran.code, "a profile of the heap" in ran.err) == (ExitCode.USAGE, True)


async def test_a_bare_number_may_be_meant_as_a_process(
    tmp_path: Path, nemutator: CommandLine
) -> None:
    async with standing_brain(tmp_path / "data"):
        ran = await nemutator("profile", "1234")
        assert ran.code == ExitCode.FAILED
        assert "write pid:1234 for a process" in ran.err


async def test_without_any_use_advice_says_what_to_expect(
    tmp_path: Path, nemutator: CommandLine
) -> None:
    async with standing_brain(tmp_path / "data"):
        ran = await nemutator("advise")
        assert ran.code == ExitCode.OK
        assert "quarter of a minute" in ran.out
        ran = await nemutator("advise", "-o", "json", "-n", "x")
        assert '"items": []' in ran.out
