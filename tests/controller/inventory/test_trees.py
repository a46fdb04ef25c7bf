from nemutator_controller.inventory.documents import Used
from nemutator_controller.inventory.trees import namespace_branches

from tests.fakes.inventory import shop

GI = 1 << 30


def test_a_tree_goes_down_to_containers_and_adds_up() -> None:
    [namespace] = namespace_branches(shop().workloads.values())
    assert (namespace.name, namespace.sums.pods.count) == ("shop", 3)
    branches = {each.workload.name: each for each in namespace.workloads}
    web = branches["web"]
    assert sorted(each.name for each in web.pods) == ["web-1", "web-2"]
    [one] = [each for each in web.pods if each.name == "web-1"]
    assert (one.node, one.phase, one.ready, one.restarts) == ("n1", "Running", True, 2)
    assert one.used == Used(0.25, 1 << 28)
    [app] = one.containers
    assert (app.name, app.is_init, app.oom_ended, app.throttled) == ("app", False, True, 0.5)
    assert (app.requests, app.used) == (Used(0.5, GI), Used(0.25, 1 << 28))
    assert sum(each.requests.memory_bytes or 0 for each in web.pods) == 2 * GI
    [waiting] = branches["db-1"].pods
    assert waiting.containers[0].used == Used(None, None)
