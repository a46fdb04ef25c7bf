"""The audit of secrets, put together: what the agents granted and denied, and what follows from it."""

from collections.abc import Sequence

from nemutator_common.audit_keys import installation_keys
from nemutator_common.secret import Secret

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, StoredStream, Task, TaskPhase
from nemutator_controller.evictions.restarting import RotationRestarts
from nemutator_controller.grants.endpoint import GrantsApi
from nemutator_controller.grants.sql import SqlGrants


def grants_part(context: BrainContext) -> Part:
    store = SqlGrants(context.database, process=context.process)
    tasks = []
    if context.cluster:
        restarts = RotationRestarts(
            context.cluster.restartable,
            store,
            context.cluster.rotations,
            context.process,
            per_minute=context.settings.restarts_per_minute,
        )
        tasks.append(Task(TaskPhase.WORK, "restart pods", restarts.run, alone=True))
    key_file = context.settings.audit_key_file
    of_file = installation_keys(key_file) if key_file else ()

    def audit_keys() -> Sequence[Secret]:
        return of_file or (context.cluster.registrar.audit_keys if context.cluster else ())

    return Part(
        routes=GrantsApi(store, process=context.process, audit_keys=audit_keys).routes(),
        streams={"grants": StoredStream("agent", store.record)},
        tasks=tasks,
    )
