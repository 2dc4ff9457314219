"""What holds for every test: the clock of a busy machine fails none, and what was imported is no garbage."""

import gc

from hypothesis import HealthCheck, settings

settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


def pytest_collection_finish():
    """Leave what is loaded by now out of every garbage collection to come, and collect less often than for small programs."""
    gc.freeze()
    gc.set_threshold(20_000, 50, 50)
