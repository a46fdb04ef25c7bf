from nemutator_controller.hysteresis import DOWN_TIMES
from nemutator_controller.neighbours.looked_nodes import LookedNode
from nemutator_controller.neighbours.model import Neighbourhood, NeighbourRole
from nemutator_controller.neighbours.verdicts import LEAST_TOP, Verdicts
from nemutator_controller.neighbours.week_grades import LEAST_TIMES

from tests.controller.neighbours.graded import link, looked, placed

NOW = 1_700_000_000.0
WEB, BATCH, IDLE = placed("web-1"), placed("batch-1", namespace="jobs"), placed("idle-1")
NODE = looked([WEB, BATCH, IDLE], link(0, 1))
VICTIM, AGGRESSOR = NeighbourRole.VICTIM, NeighbourRole.AGGRESSOR


def verdicts(share: float = 0.5, most: int = 1_000) -> Verdicts:
    return Verdicts(share=share, most=most)


def after(
    given: Verdicts, *nodes: LookedNode, times: int = 2, nodes_count: int = 1
) -> Neighbourhood:
    found = Neighbourhood()
    for number in range(times):
        found = given.conclude(nodes, nodes_count=nodes_count, now=NOW + 60 * number)
    return found


def test_a_victim_and_its_aggressor_have_grades_and_reasons_and_others_are_not_listed() -> None:
    found = after(verdicts(), NODE)
    web, batch = (
        next(one for one in found.pods if one.name == name) for name in ("web-1", "batch-1")
    )
    assert len(found.pods) == 2
    assert web.grades[VICTIM].now == 3
    assert web.grades[AGGRESSOR].now == 0
    assert batch.grades[AGGRESSOR].now == 2
    assert web.why[VICTIM].endswith("when jobs/batch-1 is busy")
    assert web.why_within[VICTIM].endswith("when a pod of another namespace is busy")
    assert web.containers == ("app",)
    assert {(one.kind, one.name): one.grades[VICTIM].now for one in found.workloads} == {
        ("Deployment", "web"): 3,
        ("Deployment", "batch"): 0,
    }
    assert found.known_pods == {"uid-web-1", "uid-batch-1", "uid-idle-1"}
    assert found.containers == 3


def test_one_look_is_no_verdict() -> None:
    assert after(verdicts(), NODE, times=1).pods == ()


def test_what_is_usual_is_known_after_an_hour_of_looks() -> None:
    given = verdicts()
    early = after(given, NODE, times=LEAST_TIMES - 1)
    assert early.pods[0].grades[VICTIM].usual is None
    late = after(given, NODE, times=1)
    web = next(one for one in late.pods if one.name == "web-1")
    assert (web.grades[VICTIM].usual, web.grades[VICTIM].worst) == (3, 3)


def test_who_was_bad_this_week_is_still_listed_when_it_is_quiet() -> None:
    given = verdicts()
    after(given, NODE, times=LEAST_TIMES)
    found = after(given, looked([WEB, BATCH, IDLE]), times=DOWN_TIMES)
    batch = next(one for one in found.pods if one.name == "batch-1")
    assert (batch.grades[AGGRESSOR].now, batch.grades[AGGRESSOR].worst) == (0, 2)


def test_while_nobody_can_tell_the_grade_stays_and_is_not_known() -> None:
    given = verdicts()
    after(given, NODE)
    found = after(given, looked([WEB, BATCH, IDLE], untold="its clock has jumped"), times=20)
    assert found.untold == {"its clock has jumped": 3}
    assert found.known_pods == frozenset()
    web = next(one for one in found.pods if one.name == "web-1")
    assert web.grades[VICTIM].now is None
    assert web.why[VICTIM] == "its clock has jumped"


def test_what_containers_of_one_pod_do_to_each_other_is_nobodys_doing() -> None:
    assert after(verdicts(), looked([WEB, WEB], link(0, 1))).links == ()


def test_containers_that_nobody_knows_are_left_out() -> None:
    found = after(verdicts(), looked([WEB, None], link(0, 1)))
    assert (found.links, found.containers) == ((), 1)


def test_the_worst_are_as_many_as_the_nodes_allow_and_keep_their_place() -> None:
    pods = [placed(f"p{n}-1") for n in range(20)]
    links = [link(n, 19, victim_now=4.0 - n / 10) for n in range(19)]
    given = verdicts(share=0.5)
    found = after(given, looked(pods, *links), nodes_count=2)
    assert found.top == LEAST_TOP
    top = [one.name for one in found.pods if one.is_top[VICTIM]]
    assert len(top) == LEAST_TOP
    assert after(given, looked(pods, *links), nodes_count=20).top == 10
    # A few places further down it still is one of them.
    fewer = looked(pods, *[link(n, 19, victim_now=4.0) for n in range(5)])
    kept = verdicts(share=0.0)
    first = after(kept, fewer)
    names = {one.name for one in first.pods if one.is_top[VICTIM]}
    worse = looked(
        pods, *[link(n, 19, victim_now=4.0 if f"p{n}-1" not in names else 3.0) for n in range(5)]
    )
    later = after(kept, worse, times=DOWN_TIMES)
    assert names <= {one.name for one in later.pods if one.is_top[VICTIM]}


def test_ten_thousand_pods_of_one_day_are_bounded() -> None:
    given = verdicts(most=50)
    for batch in range(10):
        pods = [placed(f"job{batch}x{n}-1") for n in range(1_000)]
        found = given.conclude([looked(pods)], nodes_count=1, now=NOW + 60 * batch)
        assert found.pods == ()
    assert given.unplaced > 0
