"""What was taken back of a template is named as the template's: it stopped policies for its pods, too."""

from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    # What the brain itself has written is about manifests without a cluster, or around a template.
    op.execute(
        "UPDATE tombstones SET path = 'template.' || path WHERE path NOT LIKE 'workload.%'"
        " AND path NOT LIKE 'template.%' AND decision IN (SELECT id FROM decisions WHERE writer <> 'brain'"
        " AND kind IN ('Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'))"
    )
