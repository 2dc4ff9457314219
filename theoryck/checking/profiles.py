"""Profiles: how much may be spent on a claim and with which error rates, immutable and by name.

Budgets are counted in random numbers drawn, not in seconds, so that a verdict is the same on a slow machine and for any number
of workers; only a user's sampler of unknown cost is limited by the clock, and then the record says so.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """Budgets and error rates of a session.

    ``instances`` is the largest number of generated instances a claim is tested on.  ``random_numbers`` is what one claim may
    draw in all, shared by its instances, in units of a sampler's declared cost; ``seconds`` limits a sampler that declares none.
    ``false_refute_rate`` holds for the whole session and is divided over claims and instances; ``false_support_rate`` and
    ``within``, the tolerated discrepancy of an exponent, hold for each instance. ``level`` is that of the intervals shown,
    ``exact_digits`` what exact values are computed to. ``certificate_seconds`` are those that the certificates of one claim may
    cost, by what their quantities declare, shared by its instances. ``looks`` are the fractions of the budget after which the
    evidence is judged; the error rates are shared over them. With ``every_route_settles`` Monte Carlo must decide by itself
    even where exact values already did, with ``inconclusive_fails`` what is undecided makes a run fail.

    >>> PROFILES["quick"].within
    0.15
    """

    name: str
    instances: int
    random_numbers: float
    seconds: float
    within: float
    false_refute_rate: float = 1e-2
    false_support_rate: float = 0.025
    level: float = 0.95
    looks: tuple[float, ...] = (1 / 256, 1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
    exact_digits: int = 20
    certificate_seconds: float = 2.0
    every_route_settles: bool = False
    inconclusive_fails: bool = False


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("quick", instances=4, random_numbers=6e8, seconds=8.0, within=0.15),
        Profile(
            "standard",
            instances=8,
            random_numbers=4e10,
            seconds=100.0,
            within=0.05,
            certificate_seconds=30.0,
            every_route_settles=True,
        ),
        Profile(
            "thorough",
            instances=24,
            random_numbers=4e11,
            seconds=1000.0,
            within=0.03,
            certificate_seconds=300.0,
            every_route_settles=True,
            inconclusive_fails=True,
        ),
    )
}


def profile_named(name: str | Profile) -> Profile:
    """Return the profile called ``name``; an unknown name raises ValueError with the close matches.

    >>> profile_named("quick").name
    'quick'
    >>> profile_named("quik")
    Traceback (most recent call last):
    ValueError: profile must be one of quick, standard, thorough, got 'quik' (did you mean 'quick'?)
    """
    if isinstance(name, Profile):
        return name
    if name in PROFILES:
        return PROFILES[name]
    close = difflib.get_close_matches(str(name), PROFILES, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise ValueError(f"profile must be one of {', '.join(PROFILES)}, got {name!r}{hint}")
