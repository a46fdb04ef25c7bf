"""Old objects and the real garbage collector, in a process of their own: it has one collector for all."""

import subprocess
import sys

PATIENCE_S = 120.0

BEGIN = """
import gc, weakref
from nemutator_common.old_objects import OldObjects

class Cycle:
    def __init__(self):
        self.itself = self

def is_gone(cycle):
    return cycle() is None

gc.disable()
gc.collect()
"""

FEW = """
OldObjects(few=10_000_000).watch()
cycle = Cycle()
seen = weakref.ref(cycle)
gc.collect(1)
del cycle
gc.collect()
print(gc.get_freeze_count() > 1_000, is_gone(seen))
kept = [str(number) for number in range(1_000_000)]
gc.collect(1)
print(gc.get_freeze_count() == 0)
gc.collect()
print(is_gone(seen), gc.get_freeze_count() > 1_000)
"""

MANY = """
OldObjects(few=1_000, growth=4.0, fewest=1).watch()
cycle = Cycle()
seen = weakref.ref(cycle)
gc.collect(1)
del cycle
blocks = __import__("sys").getallocatedblocks()
kept = [str(number) for number in range(2 * blocks)]
gc.collect(1)
gc.collect()
print(is_gone(seen))
kept += [str(number) for number in range(3 * blocks)]
gc.collect(1)
gc.collect()
print(is_gone(seen), gc.get_freeze_count() > 1_000)
"""

REPLACED = """
aside = OldObjects(few=1)
aside.watch()
gc.enable()
requests = [[] for _ in range(100_000)]
for _ in range(3):
    aside.examine_new()
for number in range(len(requests)):
    requests[number] = []
print(len(gc.get_objects(generation=0)) > 50_000)
for _ in range(3):
    aside.examine_new()
print(len(gc.get_objects(generation=0)) + len(gc.get_objects(generation=1)) < 1_000)
"""

GROWN = """
aside = OldObjects(few=10_000_000)
aside.watch()
cycle = Cycle()
seen = weakref.ref(cycle)
gc.collect(1)
del cycle
kept = [str(number) for number in range(1_000_000)]
for _ in range(4):
    aside.examine_new()
print(is_gone(seen), gc.get_freeze_count() > 1_000)
"""

REFERRED_TO = """
OldObjects().watch()
one = Cycle()
other = {"refers to": one}
seen = weakref.ref(one)
gc.collect(1)
one.itself = None
before = gc.get_freeze_count()
del one, other
print(is_gone(seen), gc.get_freeze_count() < before)
"""


def said_by(program: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program],
        stdout=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return done.stdout.split()


def test_survivors_are_set_aside_and_few_are_examined_again_when_memory_has_grown() -> None:
    aside, spared, back, examined, aside_again = said_by(FEW)
    assert (aside, spared) == ("True", "False")
    assert back == "True", "the next full collection examines all"
    assert (examined, aside_again) == ("True", "True")


def test_old_ones_that_are_due_are_examined_when_new_ones_are() -> None:
    assert said_by(GROWN) == ["True", "True"]


def test_many_are_examined_again_only_when_there_is_a_multiple() -> None:
    spared, examined, aside = said_by(MANY)
    assert (spared, examined, aside) == ("False", "True", "True")


def test_new_objects_that_take_the_places_of_old_ones_are_examined_by_time() -> None:
    python_examines_none, few_are_left = said_by(REPLACED)
    assert python_examines_none == "True", "without us they would become ever more"
    assert few_are_left == "True"


def test_what_is_set_aside_still_goes_with_the_last_reference_to_it() -> None:
    assert said_by(REFERRED_TO) == ["True", "True"]
