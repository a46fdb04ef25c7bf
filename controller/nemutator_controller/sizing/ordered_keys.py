"""Keys in their order, which is kept: to put 20 000 of them in order takes longer than others can wait, and all advice asks for it each
time, whether a key has come or not."""

from nemutator_controller.sizing.keys import ContainerKey


class OrderedKeys:
    def __init__(self) -> None:
        self._ordered: list[ContainerKey] = []
        self._new: dict[ContainerKey, None] = {}
        """Not among the ordered ones yet. As they came: those of one workload come together, and are sorted faster."""
        self._gone = set[ContainerKey]()
        """Among them still."""

    def add(self, key: ContainerKey) -> None:
        if key in self._gone:
            self._gone.remove(key)
        else:
            self._new[key] = None

    def remove(self, key: ContainerKey) -> None:
        if key in self._new:
            del self._new[key]
        else:
            self._gone.add(key)

    def all(self) -> list[ContainerKey]:
        if self._gone:
            self._ordered = [key for key in self._ordered if key not in self._gone]
            self._gone.clear()
        if self._new:
            has_any = bool(self._ordered)
            self._ordered += sorted(self._new, key=_texts)
            if has_any:
                # Two runs that are in order are merged, and not put in order again.
                self._ordered.sort(key=_texts)
            self._new.clear()
        return self._ordered.copy()


def _texts(key: ContainerKey) -> tuple[str, str, str, str]:
    """As tuples, many are sorted faster."""
    return key.namespace, key.owner_kind, key.owner, key.container
