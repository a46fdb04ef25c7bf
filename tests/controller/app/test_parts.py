import asyncio

from nemutator_common.supervising import Supervisor
from nemutator_controller.app.parts import Task, TaskPhase, add_tasks


async def test_tasks_start_by_phase_and_within_one_as_they_are_given() -> None:
    started: list[str] = []
    stop = asyncio.Event()

    def task(phase: TaskPhase, name: str) -> Task:
        async def body() -> None:
            started.append(name)
            if len(started) == len(tasks):
                stop.set()
            await asyncio.Event().wait()

        return Task(phase, name, body)

    tasks = [
        task(TaskPhase.WORK, "queue"),
        task(TaskPhase.LISTEN, "http"),
        task(TaskPhase.SAVE, "b"),
        task(TaskPhase.WATCH, "pods"),
        task(TaskPhase.SAVE, "a"),
    ]
    supervisor = Supervisor()
    add_tasks(supervisor, tasks)
    await supervisor.run(stop)
    assert started == ["b", "a", "pods", "http", "queue"]
