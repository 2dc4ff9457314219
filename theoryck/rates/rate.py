"""Rate: a finite sum of monomials ``c * prod x_i**q_i * log(x_i)**r_i`` in the sizes, with exact rational powers.

Further factors are ``x + c``, ``log(x + c)``, ``log(1/x)``, ``log(log(x))`` and ``b**x``.

Along a path on which every size is ``x_i ~ alpha_i d**gamma_i`` a monomial grows like ``d**(sum q_i gamma_i)``, so the exponent
of the sum is the maximum of linear functions of the gammas: it is computed in rationals, never by a symbolic limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from theoryck.rates.monomials import Monomial, RateError, close_match, shown
from theoryck.rates.parsing import parse_sum
from theoryck.records import Size, Toward

if TYPE_CHECKING:
    from theoryck.rates.paths import ScalingPath


@dataclass(frozen=True)
class Rate:
    """A rate such as ``d**(-k/2)`` or ``(1 + sqrt(n/d) + n/d)/sqrt(d)``, made by :meth:`parse`.

    Two rates are equal if they have the same terms; ``str`` gives a text that parses back to an equal rate.  Raises RateError
    for what cannot be read.

    >>> rate = Rate.parse("(1 + sqrt(n/d) + n/d)/sqrt(d)")
    >>> rate.names
    ('d', 'n')
    >>> rate({"d": 4, "n": 16})
    3.5
    >>> rate.exponent({"d": Fraction(1), "n": Fraction(2)})
    Fraction(1, 2)
    """

    terms: tuple[Monomial, ...]
    text: str = field(compare=False, default="")

    def __post_init__(self) -> None:
        if isinstance(self.terms, str):
            raise RateError(f"Rate takes terms, got the text {shown(self.terms)}: use Rate.parse({self.terms!r})")

    @classmethod
    def parse(cls, text: str, /, **parameters: Any) -> Rate:
        """Read a rate; ``parameters`` (int, Fraction or decimal text) replace their names exactly, unused ones are ignored.

        Raises RateError on anything but sums, products, powers, sqrt() and logarithms of sizes and numbers, sizes plus or minus a
        number, and exponentials such as ``2**(-n)`` and ``exp(-n/2)``.

        >>> str(Rate.parse("d**(-(k+1)/2)", k=4))
        'd**(-5/2)'
        >>> Rate.parse("tanh(d)")
        Traceback (most recent call last):
        theoryck.rates.monomials.RateError: rate 'tanh(d)': unknown function 'tanh'; known names: exp, ln, log, log10, log2, sqrt
        """
        terms = parse_sum(text, parameters)
        if not isinstance(terms, tuple) or not terms:
            raise RateError(f"rate {shown(text)} is zero: a rate must be positive")
        return cls(tuple(sorted(terms, key=lambda term: term.order)), text.strip())

    @property
    def names(self) -> tuple[str, ...]:
        """The sizes that occur, sorted."""
        return tuple(sorted(set().union(*(term.names for term in self.terms))))

    @property
    def exact_power(self) -> tuple[tuple[str, Fraction], ...] | None:
        """The powers of the sizes where it is one product of such powers, else None.

        >>> [str(power) for _, power in Rate.parse("2*sqrt(n/d)").exact_power], Rate.parse("n*log(n)").exact_power
        (['-1/2', '1/2'], None)
        """
        (term, *more) = self.terms
        return None if more or term.logs or term.others else term.powers

    @property
    def geometric(self) -> bool:
        """Whether a size stands in an exponent."""
        return any(term.exponentials for term in self.terms)

    @property
    def levels(self) -> frozenset[str]:
        """The sizes that occur in exponents, as in ``2**(-l)``, and in no power: they may be 0.

        >>> rate = Rate.parse("n**(-2)*2**(-l)")
        >>> rate.geometric, rate.levels
        (True, frozenset({'l'}))
        """
        exponents = {factor.name for term in self.terms for factor, _ in term.others if factor.base}
        return frozenset(exponents - {name for term in self.terms for name, _ in (*term.powers, *term.logs)})

    def varying(self, points: Sequence[Mapping[str, Size]]) -> set[str]:
        """Return the sizes that occur and differ among ``points``.

        >>> Rate.parse("log(k)/n").varying([{"n": 4, "k": 9}, {"n": 8, "k": 9}])
        {'n'}
        """
        return {name for name in self.names if len({sizes[name] for sizes in points}) > 1}

    def logs_along(self, points: Sequence[Mapping[str, Size]]) -> bool:
        """Whether a logarithm in the rate moves along ``points``.

        >>> rate = Rate.parse("log(k)/n")
        >>> rate.logs_along([{"n": 4, "k": 9}, {"n": 8, "k": 9}]), rate.logs_along([{"n": 4, "k": 9}, {"n": 8, "k": 27}])
        (False, True)
        """
        varying = self.varying(points)
        names = {name for term in self.terms for name, _ in term.logs}
        return bool(varying & (names | {each.name for term in self.terms for each, _ in term.others if each.logs}))

    def require(self, known: Iterable[str], *, parameters: Iterable[str] = ()) -> None:
        """Raise RateError if a name is not among the ``known`` sizes; ``parameters`` only serve the suggestion.

        >>> Rate.parse("d**(-1/2) + 1/m").require(["d", "n"])
        Traceback (most recent call last):
            ...
        theoryck.rates.monomials.RateError: rate 'd**(-1/2) + 1/m': 'm' is neither a size of the path nor a parameter; known
        names: d, n
        """
        sizes = set(known)
        for name in self.names:
            if name not in sizes:
                hint = close_match(name, sizes | set(parameters))
                raise RateError(
                    f"rate {shown(self.text or str(self))}: {name!r} is neither a size of the path nor a parameter{hint}"
                )

    def log_value(self, sizes: Mapping[str, Size]) -> float:
        """Return log(rate) at ``sizes`` (positive numbers), without overflow.

        Raises RateError for a size that is missing or not positive, and where the rate is 0.

        >>> Rate.parse("d**(-400)").log_value({"d": 10}) / math.log(10)
        -400.0
        """
        self.require(sizes)
        for name in {name for term in self.terms for name, _ in (*term.powers, *term.logs)}:
            if not sizes[name] > 0:
                raise RateError(f"size {name} = {sizes[name]!r} must be positive")
        values = [self._log_term(term, sizes) for term in self.terms]
        top = max(values)
        if math.isinf(top):
            raise RateError(f"rate {self} is zero at {dict(sizes)}: start the path at a larger size")
        return top + math.log(math.fsum(math.exp(value - top) for value in values))

    @staticmethod
    def _log_term(term: Monomial, sizes: Mapping[str, Size]) -> float:
        value = term.log_constant + math.fsum(float(power) * math.log(sizes[name]) for name, power in term.powers)
        for name, power in term.logs:
            inner = math.log(sizes[name])
            if inner < 0 or (inner == 0 and power < 0):
                hint = "" if inner == 0 else f" or, as {name} goes to 0, write log(1/{name})"
                raise RateError(
                    f"log({name})**({power}) is not a positive number at {name} = {sizes[name]}: start at a larger size{hint}"
                )
            value += float(power) * math.log(inner) if inner else -math.inf
        for factor, power in term.others:
            if factor.name:
                inner = factor.log_value(sizes[factor.name])
                if power < 0 and math.isinf(inner):
                    raise RateError(f"{factor} is 0 at {factor.name} = {sizes[factor.name]}: start at a larger size")
                value += float(power) * inner
        return value

    def __call__(self, sizes: Mapping[str, Size]) -> float:
        """Return the rate at ``sizes``."""
        return math.exp(self.log_value(sizes))

    def exact(self, sizes: Mapping[str, Size]) -> Fraction | None:
        """Return the rate at ``sizes`` as an exact rational, or None where roots or logarithms occur.

        >>> Rate.parse("2/d + 1/n**2").exact({"d": 3, "n": 2})
        Fraction(11, 12)
        """
        self.require(sizes)
        total = Fraction(0)
        for term in self.terms:
            if term.roots or term.logs or any(factor.logs or factor.base for factor, _ in term.others):
                return None
            factors = [(Fraction(sizes[name]), power) for name, power in term.powers]
            factors += [(Fraction(sizes[factor.name]) + factor.shift, power) for factor, power in term.others]
            if any(power.denominator != 1 or abs(power) > 50 for _, power in factors):
                return None
            value = term.coefficient
            for factor, power in factors:
                value *= factor ** int(power)
            total += value
        return total

    def exponent(self, path: ScalingPath | Mapping[str, Fraction]) -> Fraction:
        """Return the exact exponent of the rate in the base of ``path`` (or for given exponents of the sizes).

        Of a geometric rate, such as ``l * 2**(-l)``, it is that of what is left without the factors ``2**(-l)``: see :meth:`slope`.

        >>> Rate.parse("1/d + sqrt(log(d))/n").exponent({"d": Fraction(1), "n": Fraction(3, 4)})
        Fraction(-3, 4)
        """
        return self.growth(path)[1] * _sign(path)

    def log_power(self, path: ScalingPath | Mapping[str, Fraction]) -> Fraction:
        """Return the power of the logarithm of the base that multiplies the leading term.

        >>> Rate.parse("sqrt(log(d)/d)").log_power({"d": Fraction(1)})
        Fraction(1, 2)
        """
        return self.growth(path)[2]

    def slope(self, path: ScalingPath | Mapping[str, Fraction]) -> float:
        """Return what the logarithm of the leading term gains with each unit of the base, in the limit: 0 but for geometric rates.

        >>> Rate.parse("n*2**(-n) + 3**(-n)").slope({"n": Fraction(1)})
        -0.6931471805599453
        """
        return self.growth(path)[0]

    def growth(self, path: ScalingPath | Mapping[str, Fraction]) -> tuple[float, Fraction, Fraction, Fraction]:
        """Return, for the leading term, its :meth:`slope` and the powers of t, log(t) and log(log(t)).

        t is the base or, where that goes to 0, its inverse.  Of two rates the one with the smaller growth is the faster.

        >>> from theoryck.rates.paths import ScalingPath, halving
        >>> path = ScalingPath(h=halving(1, 1/8))
        >>> rate = Rate.parse("h**2*log(1/h) + h**3")
        >>> [str(part) for part in rate.growth(path)], rate.exponent(path)
        (['0.0', '-2', '1', '0'], Fraction(2, 1))
        """
        if isinstance(path, Mapping):
            self.require(path)
            exponents = {name: Fraction(path[name]) for name in self.names}
        else:
            self.require(path.names)
            exponents = {name: _sign(path) * path.exponent_of(name) for name in self.names}

        def along(pairs: Iterable[tuple[str, Fraction]]) -> Fraction:
            return sum((power * exponents[name] for name, power in pairs), Fraction(0))

        def moving(pairs: Iterable[tuple[str, Fraction]]) -> Fraction:
            # log(x) ~ gamma log(t) counts as a power of log t only where x moves; a fixed size gives a constant.
            return sum((power for name, power in pairs if exponents[name] != 0), Fraction(0))

        return max(
            (
                self._slope(term, path, exponents),
                along(term.leading_powers),
                moving(term.leading_logs),
                moving(term.leading_loglogs),
            )
            for term in self.terms
        )

    def _slope(self, term: Monomial, path: ScalingPath | Mapping[str, Fraction], exponents: Mapping[str, Fraction]) -> float:
        moving = [(name, slope) for name, slope in term.exponentials if exponents[name] > 0]  # toward 0 they tend to constants
        base = next(iter(path)) if isinstance(path, Mapping) else path.base
        other = [name for name, _ in moving if name != base]
        if other and not isinstance(path, Mapping):
            raise RateError(f"rate {self}: {other[0]!r} stands in an exponent, but the base of the path is {base!r}: list it first")
        return math.fsum(slope for _, slope in moving)

    def __str__(self) -> str:
        return " + ".join(str(term) for term in self.terms)


def _sign(path: ScalingPath | Mapping[str, Fraction]) -> int:
    """Return the exponent of the base in t."""
    return 1 if isinstance(path, Mapping) or path.toward is Toward.INFINITY else -1
