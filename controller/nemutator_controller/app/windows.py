"""The choice of pods for quiet windows, put together."""

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part
from nemutator_controller.kube.label_selectors import SelectorError, parse_selector
from nemutator_controller.settings.brain import BrainSettings
from nemutator_controller.windows.choice import DeclaredPod, WindowChoice
from nemutator_controller.windows.endpoint import WindowPodsApi


class NoDeclaredPods:
    """The `NodePods` off clusters, where nobody knows what a pod declares."""

    def find(self, node: str, uid: str) -> DeclaredPod | None:
        return None


def windows_part(context: BrainContext) -> Part:
    pods = context.cluster.declared if context.cluster else NoDeclaredPods()
    api = WindowPodsApi(pods, window_choice(context.settings), context.process.meter)
    return Part(uplink=api.routes())


def window_choice(settings: BrainSettings) -> WindowChoice:
    try:
        selector = parse_selector(settings.window_selector)
    except SelectorError as error:
        raise OperatorError(
            f"brain.window_selector: {error}",
            remedy="write it as for `kubectl get --selector`",
            code=ExitCode.SETTINGS,
        ) from error
    return WindowChoice(frozenset(settings.chosen_namespaces), selector)
