import pytest
from nemutator_controller.editing.refusals import READ_AGAIN, not_edited
from nemutator_controller.kube.failures import (
    AlreadyExistsError,
    ForbiddenError,
    KubeError,
    NotFoundError,
    UnavailableError,
)


@pytest.mark.parametrize(
    ("error", "remedy", "again"),
    [
        (ForbiddenError("patch it", "no"), "RBAC", False),
        (NotFoundError("patch it", "no"), "gone", False),
        (AlreadyExistsError("create it", "no"), READ_AGAIN, False),
        (UnavailableError("list them", "no"), "later", True),
    ],
)
def test_what_the_api_server_refuses_has_a_remedy(
    error: KubeError, remedy: str, again: bool
) -> None:
    told = not_edited(error)
    assert str(told) == str(error)
    assert remedy in told.remedy
    assert told.again is again
