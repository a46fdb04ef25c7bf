"""Where large contents are kept outside of the database, from the settings."""

from nemutator_common.process import Process

from nemutator_controller.app.http_accounts import reread, wrong
from nemutator_controller.objects.s3 import S3Objects
from nemutator_controller.setting_checks import is_private
from nemutator_controller.settings.brain import BrainSettings


def object_store(settings: BrainSettings, process: Process) -> S3Objects | None:
    """The bucket that *settings* name; None: the database keeps all. Raises `OperatorError`."""
    bucket = settings.objects
    if not bucket:
        return None
    secret = reread(settings.objects_secret_key_file, process)
    if not settings.objects_access_key or secret is None:
        what = "a bucket is used by a key"
        raise wrong("objects", what, "set objects_access_key and objects_secret_key_file, too")
    if "/" not in bucket.split("://", 1)[1].rstrip("/"):
        what = f"no bucket is named in {bucket}"
        raise wrong("objects", what, "write it behind the host, as https://HOST/BUCKET")
    if not bucket.startswith("https://") and not is_private(bucket):
        what = f"contents of profiles would be readable by everybody on the way to {bucket}"
        raise wrong("objects", what, "name it by https://")
    return S3Objects(
        bucket=bucket,
        region=settings.objects_region,
        access_key=settings.objects_access_key,
        secret_key=secret,
        clock=process.clock,
        ca=reread(settings.objects_ca_file, process),
    )
