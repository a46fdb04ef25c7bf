"""Why a policy was not read, tried or saved, and what a person can do about it."""

from nemutator_controller.kube.failures import ForbiddenError, KubeError, NotFoundError

READ_AGAIN = "somebody may have changed it meanwhile: open it again, and repeat your change"


class NotEditedError(Exception):
    """Why nothing was read or changed, and what a person can do about it."""

    def __init__(self, what: str, remedy: str, *, again: bool = False) -> None:
        """*again*: the same may be possible later."""
        super().__init__(what)
        self.remedy = remedy
        self.again = again


def not_edited(error: KubeError) -> NotEditedError:
    if error.retry:
        return NotEditedError(str(error), "ask again later", again=True)
    if isinstance(error, ForbiddenError):
        return NotEditedError(str(error), "ask an administrator to grant you that by RBAC")
    if isinstance(error, NotFoundError):
        return NotEditedError(str(error), "it is gone: copy your text, and make it anew")
    return NotEditedError(str(error), READ_AGAIN)
