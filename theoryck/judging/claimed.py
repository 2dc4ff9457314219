"""What is claimed, parsed once: rates, rivals and the path of a prediction, and the rivals that no evidence can reject."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal, InvalidOperation, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any

from theoryck.rates.parsing import to_fraction
from theoryck.rates.paths import PathError, ScalingPath
from theoryck.rates.rate import Rate
from theoryck.records import Kind, Point, Prediction

Sizes = Sequence[Mapping[str, int]]
SAME_LOG = 1e-12  # logarithms of rates are sums of a few rounded terms: far above rounding, far below any fit


@dataclass(frozen=True)
class Claimed:
    """A prediction with what its texts mean; each is parsed when it is first asked for, and RateError says what cannot be read."""

    prediction: Prediction

    @staticmethod
    def of(prediction: Prediction) -> Claimed:
        """Return what is claimed: the same object at every look at the same prediction."""
        values = (getattr(prediction, each.name) for each in fields(prediction))
        return _claimed(_Asked(tuple(tuple(v.items()) if isinstance(v, Mapping) else v for v in values), prediction))

    @cached_property
    def rate(self) -> Rate | None:
        """The claimed rate, or None."""
        return None if self.prediction.rate is None else self._rate(self.prediction.rate)

    @cached_property
    def compared(self) -> Rate:
        """The rate with which rivals are compared: 1 for a law that claims none, which its distance is to beat."""
        return self._rate("1") if self.rate is None else self.rate

    @cached_property
    def rival_rates(self) -> dict[str, Rate]:
        """The rivals of a bound or a law on a path, by their texts."""
        return {rival: self._rate(rival) for rival in self.prediction.rivals}

    @cached_property
    def rival_exponents(self) -> dict[str, float]:
        """The rivals of a scaling, by their texts."""
        return {rival: float(to_fraction(rival, "a rival")) for rival in self.prediction.rivals}

    @cached_property
    def rival_numbers(self) -> dict[str, Decimal]:
        """The rivals of a limit, an identity or a bound of one number, by their texts."""
        return {rival: decimal_number(rival) for rival in self.prediction.rivals}

    @cached_property
    def tolerance(self) -> float | None:
        """The declared tolerance, or None."""
        text = self.prediction.tolerance
        return None if text is None else float(to_fraction(text, "tolerance"))

    @cached_property
    def path(self) -> ScalingPath | None:
        """The path as it was declared; None where none was, or where its sizes follow no rule."""
        try:
            return ScalingPath.from_description(self.prediction.path) if self.prediction.path else None
        except PathError:
            return None

    def _rate(self, text: str) -> Rate:
        return Rate.parse(text, **self.prediction.parameters)

    # -- along sizes -----------------------------------------------------------------------------------------------------------

    def base(self, sizes: Sizes) -> str:
        """Return the base of the path: as declared, else the first size that differs between points, else the first, else ''."""
        if self.prediction.base:
            return self.prediction.base
        names = list(sizes[0])
        moving = (name for name in names if len({point[name] for point in sizes}) > 1)
        return next(moving, names[0] if names else "")

    def growth(self, rate: Rate, sizes: Sizes) -> tuple[Fraction, Fraction] | None:
        """Return the exponent and the power of the logarithm of a rate along the path; None if its sizes follow no power."""
        rate.require(sizes[0], parameters=self.prediction.parameters)
        try:
            path = self.path if self.prediction.path else self._observed(rate, sizes)
            return None if path is None else (rate.exponent(path), rate.log_power(path))
        except PathError:
            return None

    def _observed(self, rate: Rate, sizes: Sizes) -> ScalingPath:
        base = self.base(sizes)
        # A size may occur twice, once for each route.
        ordered = [point for _, point in sorted({point[base]: point for point in sizes}.items())]
        names = [base, *(name for name in rate.names if name != base)]
        return ScalingPath(**{name: [point[name] for point in ordered] for name in names})

    def exponent(self, sizes: Sizes) -> float | None:
        """Return the claimed exponent along the path; None for a number, or if sizes follow no power."""
        if self.prediction.kind is Kind.SCALING:
            return self.prediction.exponent
        if self.rate is None:
            return 0.0 if self.prediction.kind is Kind.LAW else None
        if not self.base(sizes):  # one number against another: nothing grows
            self.rate.require(sizes[0], parameters=self.prediction.parameters)
            return None
        growth = self.growth(self.rate, sizes)
        return None if growth is None else float(growth[0])

    # -- rivals ----------------------------------------------------------------------------------------------------------------

    def coincides(self, rival: str, sizes: Sizes) -> bool:
        """Whether the rival and the claim are the same on these sizes, so that no evidence on them can tell the two apart."""
        prediction = self.prediction
        if prediction.kind is Kind.BOUND and not self.base(sizes):
            return self.rival_numbers[rival] == Decimal(str(prediction.constant))
        if prediction.kind in (Kind.BOUND, Kind.LAW):
            gaps = self._log_gaps(rival, sizes)
            size = max(abs(self.compared.log_value(point)) for point in sizes)
            if prediction.rate is None or max(gaps) - min(gaps) > SAME_LOG * (1 + size):
                return False
            return prediction.constant is None or abs(gaps[0]) < SAME_LOG
        if prediction.kind is Kind.SCALING:
            return to_fraction(rival, "a rival") == to_fraction(prediction.exponent, "exponent")
        assert prediction.value is not None
        return abs(self.rival_numbers[rival] - prediction.value.midpoint) <= prediction.value.radius

    def problem(self, sizes: Sizes) -> str:
        """Say which rival no evidence on these sizes could reject, and why (see :func:`rival_problem`)."""
        prediction = self.prediction
        for rival in prediction.rivals if sizes else ():
            if self.coincides(rival, sizes):
                return f"the rival {rival!r} coincides with the claim on these sizes, so nothing could reject it: give another one"
            if prediction.kind not in (Kind.BOUND, Kind.LAW):
                continue
            if not self.base(sizes):
                if self.rival_numbers[rival] > Decimal(str(prediction.constant)):
                    return f"a rival of a bound must be smaller: {rival!r} is larger than the claim {prediction.constant:g}"
            elif not self._rejectable(rival, sizes):
                kind = "bound" if prediction.kind is Kind.BOUND else "law"
                claim = f"the claim {prediction.rate}" if prediction.rate is not None else "1, which the claim is to beat"
                why = f"{rival!r} decays no faster than {claim}, so nothing could reject it"
                return f"a rival of a {kind} must be faster: {why}"
        return ""

    def _log_gaps(self, rival: str, sizes: Sizes) -> list[float]:
        other = self.rival_rates[rival]
        return [other.log_value(point) - self.compared.log_value(point) for point in sizes]

    def _rejectable(self, rival: str, sizes: Sizes) -> bool:
        """Whether the rival is faster than the claim along the path or, with a constant, smaller than the claim somewhere."""
        gaps = self._log_gaps(rival, sizes)
        if self.prediction.constant is not None and min(gaps) < -SAME_LOG:
            return True
        claim, other = (self.growth(rate, sizes) for rate in (self.compared, self.rival_rates[rival]))
        if claim is not None and other is not None:
            return other < claim
        # Sizes that follow no power: the ratio must at least fall from the smallest to the largest size.
        base = self.base(sizes)
        order = sorted(range(len(sizes)), key=lambda index: sizes[index][base])
        return gaps[order[-1]] < gaps[order[0]] - SAME_LOG


@dataclass(frozen=True)
class _Asked:
    """A prediction, equal to others of the same texts and numbers, that can be hashed."""

    key: tuple[Any, ...]
    prediction: Prediction = field(compare=False)


@functools.lru_cache(maxsize=64)
def _claimed(asked: _Asked) -> Claimed:
    return Claimed(asked.prediction)


def rival_problem(prediction: Prediction, points: Sequence[Point] | ScalingPath) -> str:
    """Say which rival no evidence at these points, or along this path, could reject, and why; empty if there is none.

    A rival of a bound (or of the rate of a law) must decay faster than the claim: a quantity within the claim is within every
    rate as large.  One that is smaller at some size will do for a bound with a constant.  Other rivals must differ from the claim.
    Raises RateError on a rival that cannot be read or that names no size of the path.

    >>> claim = Prediction(Kind.BOUND, "E S^2", base="d", rate="1/d", rivals=("1",))
    >>> rival_problem(claim, ScalingPath(d=[16, 32, 64]))
    "a rival of a bound must be faster: '1' decays no faster than the claim 1/d, so nothing could reject it"
    """
    sizes = points.points if isinstance(points, ScalingPath) else tuple(point.sizes for point in points)
    return Claimed.of(prediction).problem(sizes)


def decimal_number(text: str) -> Decimal:
    """Return a decimal or a fraction such as "1/3" as a decimal of 60 digits."""
    try:
        return Decimal(text)
    except InvalidOperation:
        number = to_fraction(text, "a rival")
        with localcontext() as context:
            context.prec = 60
            return Decimal(number.numerator) / Decimal(number.denominator)
