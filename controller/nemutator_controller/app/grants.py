"""The audit of secrets, put together: what the agents granted and denied."""

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, StoredStream
from nemutator_controller.grants.endpoint import GrantsApi
from nemutator_controller.grants.sql import SqlGrants


def grants_part(context: BrainContext) -> Part:
    store = SqlGrants(context.database, process=context.process)
    return Part(
        routes=GrantsApi(store, process=context.process).routes(),
        streams={"grants": StoredStream("agent", store.record)},
    )
