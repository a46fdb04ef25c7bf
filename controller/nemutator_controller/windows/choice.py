"""Whether a pod may be looked at unasked, by what it declares and what the installation is set to."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nemutator_common.names import PROFILE_WINDOWS, SKIP

from nemutator_controller.kube.label_selectors import Selector


@dataclass(frozen=True, slots=True)
class DeclaredPod:
    namespace: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class WindowChoice:
    namespaces: frozenset[str] = frozenset()
    """Empty: all."""
    selector: Selector = field(default_factory=Selector)

    def allows(self, pod: DeclaredPod) -> bool:
        """A word that is not understood means that its owner wanted something: then it is left alone."""
        return (
            pod.annotations.get(PROFILE_WINDOWS, "on") == "on"
            and pod.annotations.get(SKIP) != "true"
            and (not self.namespaces or pod.namespace in self.namespaces)
            and self.selector.matches(pod.labels)
        )
