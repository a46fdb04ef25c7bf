"""Several clusters on one PostgreSQL: each has a schema of its own, so that its name is in the key of all that it keeps.

No query can meet another cluster's rows by forgetting a condition, clusters upgrade one by one, and one that is gone
is one `DROP SCHEMA`.
"""

PREFIX = "nemutator_"


def schema_of(cluster: str) -> str:
    """Where *cluster* keeps its tables; empty: where PostgreSQL puts them, for a database of one cluster."""
    return PREFIX + cluster if cluster else ""


def cluster_of(schema: str) -> str | None:
    """The cluster that keeps its tables in *schema*; None: it is none of ours."""
    name = schema.removeprefix(PREFIX)
    return name if name and name != schema else None
