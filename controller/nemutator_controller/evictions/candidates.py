"""Which pods may be evicted now, so that their workload goes on."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from nemutator_controller.evictions.records import EvictablePod, OwningWorkload


def candidates(
    pods: Sequence[EvictablePod], wanted: Collection[EvictablePod]
) -> Iterator[EvictablePod]:
    """One pod, of those *wanted*, of each workload that can spare one of its *pods*.

    One that is not ready serves nobody, and may be waiting for the very secret that has changed: it comes
    first. One that is ready has to wait until all others of its workload are.
    """
    together: defaultdict[OwningWorkload, list[EvictablePod]] = defaultdict(list)
    for pod in pods:
        if pod.workload is not None:
            together[pod.workload].append(pod)
    for several in together.values():
        outdated = [pod for pod in several if pod in wanted]
        waiting = [pod for pod in outdated if not pod.is_ready]
        if waiting:
            yield waiting[0]
        elif outdated and all(pod.is_ready for pod in several):
            yield outdated[0]
