"""Alembic runs this, always with the connection and in the transaction that the brain passes."""

from alembic import context
from nemutator_controller.database.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
context.run_migrations()
