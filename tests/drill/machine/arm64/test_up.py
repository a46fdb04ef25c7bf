"""`nemutator up` on arm64, by the same tests as on x86_64: figures, advice, profiles, a user's own."""

import pytest

from tests.e2e.machine.test_up import *

pytestmark = pytest.mark.timeout(3600)
