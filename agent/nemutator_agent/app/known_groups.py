"""Control groups for the profiler, found and named as the reports find and name them."""

import os
from collections.abc import Iterable, Iterator, Sequence

from nemutator_agent.profiler.targets import GroupDirectory, ProcessPlace
from nemutator_agent.usage.cached_files import read_once
from nemutator_agent.usage.cgroup_files import parse_memberships
from nemutator_agent.usage.group_names import SHORT_ID, name_group
from nemutator_agent.usage.hierarchies import place, with_ancestors
from nemutator_agent.usage.malformed import MalformedError
from nemutator_agent.usage.mounted import mounted_hierarchies


class KnownGroups:
    """It is asked once per profile, and keeps only where hierarchies are mounted."""

    def __init__(self, *, root: str = "") -> None:
        self._proc = f"{root}/proc"
        self._root = root
        self._hierarchies = mounted_hierarchies(root=root)

    def directories(self, path: str) -> Sequence[GroupDirectory]:
        return tuple(self._directories(path))

    def _directories(self, path: str) -> Iterator[GroupDirectory]:
        for hierarchy in self._hierarchies:
            directory = hierarchy.directory(path)
            if directory is not None and os.path.isdir(self._root + directory):
                yield GroupDirectory(self._root + directory, hierarchy.controllers)

    def of_pod(self, uid: str) -> Iterable[str]:
        wanted = uid.encode()
        # Processes of one group have the same text; the systemd driver writes _ for -.
        contents = {
            content
            for name in os.listdir(self._proc)
            if name.isdecimal()
            and (content := read_once(f"{self._proc}/{name}/cgroup"))
            and (wanted in content or wanted.replace(b"-", b"_") in content)
        }
        return {path for content in contents for path in self._pods(content, uid)}

    def place_of(self, pid: int) -> ProcessPlace:
        content = read_once(f"{self._proc}/{pid}/cgroup") or b""
        try:
            placement = place(parse_memberships(content), self._hierarchies)
        except MalformedError:
            return ProcessPlace()
        namings = [name_group(path) for _, path in placement.groups]
        pod = next((one.pod_uid for one in namings if one.pod_uid), "")
        container = next((one.container_id for one in namings if one.container_id), "")
        return ProcessPlace(pod, container[:SHORT_ID])

    def _pods(self, content: bytes, uid: str) -> Iterator[str]:
        try:
            placement = place(parse_memberships(content), self._hierarchies)
        except MalformedError:
            return
        for _, group in placement.groups:
            for path in with_ancestors(group):
                naming = name_group(path)
                if naming.kind == "pod" and naming.pod_uid == uid:
                    yield path
