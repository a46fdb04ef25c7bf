"""A bucket that speaks S3 on loopback, over TLS, in a folder: versitygw."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.secret import Secret

from tests.fakes.kube.certificates import AuthorityFiles
from tests.testbed.building import made
from tests.testbed.parts.asking import is_well
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.run import Run

READY_S = 60.0
BUCKET = "team"
WELL = "/well"


@dataclass(frozen=True, slots=True)
class S3:
    """How to reach it, by the one key that it knows."""

    port: int
    region: str
    key_id: str
    secret: Secret
    authority: Path
    """The file of who has signed its certificate."""
    kept: Path
    """The folder of the bucket: a file for each object, under its key."""
    daemon: Daemon

    @property
    def url(self) -> str:
        return f"https://{LOOPBACK}:{self.port}/{BUCKET}"


def begin(run: Run) -> S3:
    """Start it in *run*, with an empty bucket, and return when it answers."""
    program = made.versitygw()
    port = free_port()
    folder = run.folder("s3")
    # A folder at the top is a bucket; what each object has besides its content lies apart, because a
    # file system may have no extended attributes.
    kept = run.folder("s3/buckets") / BUCKET
    kept.mkdir(mode=0o700)
    authority = AuthorityFiles(folder, "s3-ca")
    authority.server_context()  # writes the files of a certificate for loopback
    region, key_id, secret = "test-region-1", "testbed", Secret(secrets.token_urlsafe(30))
    daemon = run.daemon(
        "s3",
        [
            program,
            f"--port={LOOPBACK}:{port}",
            f"--region={region}",
            f"--cert={folder / 'server.crt'}",
            f"--key={folder / 'server.key'}",
            f"--health={WELL}",
            "posix",
            f"--sidecar={run.folder('s3/attributes')}",
            kept.parent,
        ],
        environment={"ROOT_ACCESS_KEY_ID": key_id, "ROOT_SECRET_ACCESS_KEY": secret.reveal()},
        ready=lambda: is_well(port, WELL, tls=True),
        within_s=READY_S,
    )
    return S3(port, region, key_id, secret, authority.file, kept, daemon)
