"""The audit of secrets, put together: what the agents granted and denied."""

from nemutator_common.audit_keys import installation_key

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, StoredStream
from nemutator_controller.grants.endpoint import GrantsApi
from nemutator_controller.grants.sql import SqlGrants


def grants_part(context: BrainContext) -> Part:
    store = SqlGrants(context.database, process=context.process)
    key_file = context.settings.audit_key_file
    key = installation_key(key_file) if key_file else None
    return Part(
        routes=GrantsApi(store, process=context.process, audit_key=key).routes(),
        streams={"grants": StoredStream("agent", store.record)},
    )
