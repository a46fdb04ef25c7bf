"""Which row of history a path and its query are about."""

from collections.abc import Iterable, Mapping

from nemutator_controller.history.row_keys import RowKey


class NotOneRowError(ValueError):
    """None is meant, or several."""

    def __init__(self, status: int, what: str, remedy: str = "") -> None:
        super().__init__(what)
        self.status = status
        self.remedy = remedy


def chosen(keys: Iterable[RowKey], named: Mapping[str, str], query: Mapping[str, str]) -> RowKey:
    """The one of *keys* of the workload that a path has *named*; raises `NotOneRowError`."""
    found = [
        key
        for key in keys
        if (key.namespace, key.owner) == (named["namespace"], named["name"])
        # As kubectl takes kinds.
        and key.owner_kind.casefold() == named["kind"].casefold()
    ]
    if not found:
        raise NotOneRowError(404, "nothing is known of this workload's use")
    containers = ", ".join(key.container for key in found)
    wanted = query.get("container")
    several = [key for key in found if wanted in (None, key.container)]
    if not several:
        raise NotOneRowError(404, "no such container", f"it has {containers}")
    if len(several) > 1:
        raise NotOneRowError(400, "container: missing", f"name one of {containers}")
    return several[0]
