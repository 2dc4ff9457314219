"""Claims: functions that return a statement, registered with an id and a status, generalised over generated instances."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from theoryck.claims.arguments import ClaimError, path_texts
from theoryck.claims.statements import Statement
from theoryck.numerics.functions.activation import Activation
from theoryck.records import About, Status, gathered


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a statement comes from: authors, year and title, the number on arXiv if there is one, and a note such as "Lemma 3".

    >>> print(Reference("Camilli, Tieplova, Bergamin, Barbier", 2025, "Information-theoretic reduction", arxiv="2505.03577"))
    Camilli, Tieplova, Bergamin, Barbier (2025), Information-theoretic reduction, arXiv:2505.03577
    """

    authors: str
    year: int
    title: str
    arxiv: str | None = None
    note: str = ""

    def __str__(self) -> str:
        text = f"{self.authors} ({self.year}), {self.title}"
        if self.arxiv:
            text += f", arXiv:{self.arxiv}"
        return f"{text}, {self.note}" if self.note else text


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # differs from run to run, and seeds are made of descriptions

# How hypothesis writes a strategy, and how people do.
_FOR_PEOPLE = (
    (r"Activation\('([^']*)'\)", r"\1"),
    (r"Fraction\((-?\d+), 1\)", r"\1"),
    (r"Fraction\((-?\d+), (\d+)\)", r"\1/\2"),
    (r"integers\(min_value=(-?\d+), max_value=(-?\d+)\)", r"integers \1 to \2"),
    (r"^sampled_from\([\[(]([^\[\]]*?),?[\])]\)$", r"one of \1"),
)


def _drawn_from(strategy: Any) -> str:
    """Write a strategy for people: values by their own text, no addresses."""
    text = _ADDRESS.sub("", str(strategy))
    for pattern, plain in _FOR_PEOPLE:
        text = re.sub(pattern, plain, text)
    return text


def describe(value: Any) -> Any:
    """Return a JSON-ready form of an instance's parameter: the text that names it in tables, seeds and files.

    >>> describe(Fraction(1, 2)), describe((1, 2)), describe(Activation("tanh"))
    ('1/2', [1, 2], 'tanh(x)')
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Activation):
        return value.text
    if isinstance(value, Fraction | Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [describe(item) for item in value]
    return getattr(value, "name", None) or getattr(value, "__name__", None) or _ADDRESS.sub("", repr(value))


def describe_instance(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the instance as JSON-ready data, in the order of the claim's arguments.

    >>> describe_instance({"phi": Activation("erf"), "alpha": Fraction(1, 2)})
    {'phi': 'erf(x)', 'alpha': '1/2'}
    """
    return {name: describe(value) for name, value in parameters.items()}


@dataclass(frozen=True)
class Claim:
    """A function that returns a statement, with a permanent id, a status and a reference.

    Attributes: ``id``, ``status``, ``reference`` (or None), ``function``, ``strategies`` (name -> hypothesis strategy),
    ``examples`` (explicit instances, always tested), and what ``inspect`` knows: ``statement``, ``doc``, ``module``,
    ``path``, ``line``.

    >>> import theoryck as tc
    >>> from hypothesis.strategies import integers
    >>> @tc.conjecture("example/variance-of-a-norm")
    ... @tc.for_all(k=integers(1, 3))
    ... @tc.example(k=2)
    ... def variance(k):
    ...     "E (|x_0|^2 - 1)^(2k) = O(d^-k)"
    ...     path = tc.ScalingPath(d=tc.doubling(4, 64), input_dim="d")
    ...     return tc.Bound(tc.norm_deviation(tc.DeepNetwork("x", depth=0), power=2 * k), rate="d**(-k)", along=path)
    >>> variance.id, variance.status.value, variance.statement
    ('example/variance-of-a-norm', 'conjecture', 'E (|x_0|^2 - 1)^(2k) = O(d^-k)')
    >>> sorted(parameters["k"] for parameters, _ in variance.instances(4, seed=0))
    [1, 2, 3]
    >>> variance(k=2).prediction({"k": 2}).parameters
    {'k': '2'}
    """

    __theoryck_claim__: ClassVar[bool] = True
    __test__: ClassVar[bool] = False

    id: str
    status: Status
    function: Callable[..., Statement]
    reference: Reference | None = None
    strategies: Mapping[str, Any] = field(default_factory=dict)
    examples: tuple[Mapping[str, Any], ...] = ()

    def __call__(self, **parameters: Any) -> Statement:
        """Return the statement at one instance."""
        return self.build(parameters)

    @property
    def doc(self) -> str:
        """The whole docstring."""
        return inspect.getdoc(self.function) or ""

    @property
    def statement(self) -> str:
        """The statement in one line: the first line of the docstring."""
        return self.doc.splitlines()[0] if self.doc else ""

    @property
    def module(self) -> str:
        """The module that makes the claim."""
        return self.function.__module__

    @property
    def path(self) -> str:
        """The file that makes the claim."""
        return inspect.getsourcefile(self.function) or "<unknown>"

    @property
    def file(self) -> Path:
        """That file, from the root of the disk."""
        return Path(self.path).resolve()

    @property
    def line(self) -> int:
        """The line where the function starts."""
        return self.function.__code__.co_firstlineno

    @property
    def setting(self) -> str:
        """The docstring of the module: the setting in which the statement holds."""
        return inspect.getdoc(inspect.getmodule(self.function)) or ""

    @property
    def folder_setting(self) -> str:
        """The docstring of the package that the module belongs to: the setting and the symbols of a whole paper."""
        package = sys.modules.get(getattr(inspect.getmodule(self.function), "__package__", None) or "")
        text = inspect.getdoc(package) if package is not None else None
        return "" if text is None or text == self.setting else text

    @property
    def place(self) -> str:
        """``file:line`` of the claim, relative to the current folder where that is shorter."""
        path, here = self.file, Path.cwd()
        return f"{path.relative_to(here) if path.is_relative_to(here) else path}:{self.line}"

    def about(self) -> About:
        """Return what is written about the claim, as a record that travels with its results."""
        reference = self.reference
        known = {name: getattr(reference, name) for name in ("authors", "year", "title", "arxiv", "note")} if reference else {}
        return About(
            claim=self.id,
            setting=self.setting,
            details=self.doc.partition("\n")[2].strip("\n"),
            folder=self.file.parent.name if self.folder_setting else "",
            assumptions={name: _drawn_from(strategy) for name, strategy in self.strategies.items()},
            place=self.place,
            citation={name: str(value) for name, value in known.items() if value},
        )

    def build(self, parameters: Mapping[str, Any]) -> Statement:
        """Return the statement at one instance, with its prediction checked; errors name the claim.

        Raises ClaimError for what is no statement, and whatever the function raises.
        """
        # The function may change a list that it is given; the instance is what was given.
        statement = self.function(**{name: _own_copy(value) for name, value in parameters.items()})
        if not isinstance(statement, Statement):
            raise ClaimError(
                f"claim {self.id!r} must return a statement (Identity, Bound, Scaling, Limit or Law), got {statement!r}"
                + (": is a return missing?" if statement is None else "")
            )
        return statement

    def structure_seed(self, seed: int) -> int:
        """Return the seed from which hypothesis picks the instances in a run with this seed: another for every claim."""
        return int.from_bytes(hashlib.sha256(f"{seed}:{self.id}".encode()).digest()[:4], "big")

    def instances(self, number: int, seed: int = 0) -> list[tuple[dict[str, Any], Statement]]:
        """Return at most ``number`` generated instances (and every explicit example), each with its statement.

        Hypothesis picks the structure from ``seed`` alone; an instance that does not meet the claim's assumptions
        (``hypothesis.assume``) is left out, so the list may be empty.  A statement along several paths is an instance for
        each of them, in addition to ``number``, with the path among its parameters as ``along``.
        """
        found: dict[str, tuple[dict[str, Any], Statement]] = {}
        for example in self.examples:
            found[_canonical(example)] = (dict(example), self.build(example))
        if self.strategies:
            _generate(self, found, len(found) + number, seed)
        elif not self.examples:
            found["{}"] = ({}, self.build({}))
        return [each for parameters, statement in found.values() for each in self._along_each(parameters, statement)]

    def _along_each(self, parameters: dict[str, Any], statement: Statement) -> list[tuple[dict[str, Any], Statement]]:
        """Return an instance for every path of the statement; with several, the instance says which."""
        several = statement.along_each()
        if len(several) == 1:
            return [(parameters, several[0])]
        if "along" in parameters:
            raise ClaimError(
                f"claim {self.id!r} is made along several paths, and 'along' names the path of an instance: "
                "call the argument of that name something else"
            )
        texts = path_texts(statement.paths())
        return [({**parameters, "along": text}, each) for text, each in zip(texts, several, strict=True)]


def written_about(claims: Iterable[Claim]) -> tuple[tuple[About, ...], dict[str, str]]:
    """Return what is written about each claim, and the docstrings of the folders that this names, each once.

    >>> import theoryck as tc
    >>> @tc.conjecture("example/one")
    ... def one():
    ...     "sigma_1 = 1 for phi(x) = x"
    ...     return tc.Identity(tc.networks.sigma("x", 1), 1)
    >>> about, folders = written_about([one])
    >>> about[0].claim, about[0].citation
    ('example/one', {})
    """
    return gathered((claim.about(), claim.folder_setting) for claim in claims)


def _own_copy(value: Any) -> Any:
    """Return a copy of what a function could change, with what it holds; what cannot be changed is returned as it is.

    >>> given = [[1], (2,)]
    >>> _own_copy(given) == given, _own_copy(given)[0] is given[0]
    (True, False)
    """
    if type(value) is list or type(value) is set:
        return type(value)(_own_copy(item) for item in value)
    if type(value) is tuple:
        return tuple(_own_copy(item) for item in value)
    return {key: _own_copy(item) for key, item in value.items()} if type(value) is dict else value


def _canonical(parameters: Mapping[str, Any]) -> str:
    return json.dumps(describe_instance(parameters), sort_keys=True)


class _Enough(BaseException):
    """Ends a generation that has what it was asked for; hypothesis lets what is no Exception through."""


def _generate(claim: Claim, found: dict[str, tuple[dict[str, Any], Statement]], wanted: int, seed: int) -> None:
    """Let hypothesis propose instances until ``wanted`` distinct ones are ``found``; each is built once."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as fixed
    from hypothesis.errors import Unsatisfiable
    from hypothesis.strategies import fixed_dictionaries

    # Hypothesis repeats itself and its first examples are its simplest: asking for four times as many
    # leaves enough distinct ones without searching for long.
    @fixed(seed)
    @settings(
        max_examples=4 * wanted,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(fixed_dictionaries(dict(claim.strategies)))
    def collect(chosen: dict[str, Any]) -> None:
        parameters = {name: chosen[name] for name in claim.strategies}
        name = _canonical(parameters)
        if name not in found:
            found[name] = parameters, claim.build(parameters)
        if len(found) >= wanted:
            raise _Enough

    with suppress(_Enough, Unsatisfiable):  # where filters let next to nothing through, what was found is all there is
        collect()


def for_all(**strategies: Any) -> Callable[[Callable[..., Statement]], Callable[..., Statement]]:
    """Generalise a claim over its arguments, each drawn from a hypothesis strategy of the same name.

    It stands below :func:`theorem`, :func:`conjecture` or :func:`falsehood`.  Hypothesis picks the structure (activations, depths,
    powers) and never a Monte Carlo seed; an instance for which the function calls ``hypothesis.assume`` in vain is left out.
    Raises ClaimError for what is no strategy, and for names that are not those of the arguments.

    >>> import theoryck as tc
    >>> from hypothesis.strategies import integers, sampled_from
    >>> @tc.conjecture("example/sigma-falls")
    ... @tc.for_all(phi=sampled_from(["tanh", "erf"]), layer=integers(1, 2))
    ... def sigma_falls(phi, layer):
    ...     "sigma_(l+1) <= sigma_l"
    ...     sigma = tc.networks.sigma
    ...     return tc.Bound(sigma(phi, layer + 1), at_most=sigma(phi, layer), rivals=[0])
    >>> len(sigma_falls.instances(4))
    4
    >>> tc.for_all(depth=(1, 2, 3))
    Traceback (most recent call last):
        ...
    theoryck.claims.arguments.ClaimError: for_all: depth must be a hypothesis strategy such as integers(1, 4), got (1, 2, 3)
    """
    from hypothesis.strategies import SearchStrategy

    for name, strategy in strategies.items():
        if not isinstance(strategy, SearchStrategy):
            raise ClaimError(f"for_all: {name} must be a hypothesis strategy such as integers(1, 4), got {strategy!r}")

    def decorate(function: Callable[..., Statement]) -> Callable[..., Statement]:
        _check_arguments(function, strategies, "for_all")
        function.__theoryck_strategies__ = dict(strategies)  # type: ignore[attr-defined]
        return function

    return decorate


def example(**parameters: Any) -> Callable[[Callable[..., Statement]], Callable[..., Statement]]:
    """Add one explicit instance that is always tested, as ``hypothesis.example`` does.

    It stands below :func:`theorem`, :func:`conjecture` or :func:`falsehood`, as often as there are instances, with or without
    :func:`for_all`.  Raises ClaimError for names that are not those of the arguments.

    >>> import theoryck as tc
    >>> @tc.theorem("example/linear")
    ... @tc.example(layer=1)
    ... @tc.example(layer=3)
    ... def linear(layer):
    ...     "sigma_l = 1 for phi(x) = x"
    ...     return tc.Identity(tc.networks.sigma("x", layer), 1, rivals=[2])
    >>> [parameters for parameters, _ in linear.instances(5)]
    [{'layer': 1}, {'layer': 3}]
    >>> @tc.example(depth=1)
    ... def misspelt(layer): ...
    Traceback (most recent call last):
        ...
    theoryck.claims.arguments.ClaimError: example on misspelt(layer): nothing is given for layer; depth is not
    an argument of misspelt
    """

    def decorate(function: Callable[..., Statement]) -> Callable[..., Statement]:
        _check_arguments(function, parameters, "example")
        known = getattr(function, "__theoryck_examples__", ())
        function.__theoryck_examples__ = ({**parameters}, *known)  # type: ignore[attr-defined]
        return function

    return decorate


def _must_be_function(function: Any, decorator: str) -> None:
    if isinstance(function, Claim):
        raise ClaimError(
            f"{decorator} decorates the claim {function.id!r}: write for_all and example below theorem, conjecture or falsehood, "
            "and only one of these three"
        )
    if not inspect.isfunction(function):
        raise ClaimError(f"{decorator} must decorate a function that returns a statement, got {function!r}")


def _check_arguments(function: Callable[..., Any], given: Mapping[str, Any], decorator: str, hint: str = "") -> None:
    _must_be_function(function, decorator)
    wanted = set(inspect.signature(function).parameters)
    if wanted != set(given):
        missing, extra = sorted(wanted - set(given)), sorted(set(given) - wanted)
        parts = [f"nothing is given for {', '.join(missing)}"] * bool(missing)
        parts += [f"{', '.join(extra)} is not an argument of {function.__name__}"] * bool(extra)
        raise ClaimError(f"{decorator} on {function.__name__}{inspect.signature(function)}: {'; '.join(parts)}{hint}")


def _claim(status: Status, identifier: str, reference: Reference | None) -> Callable[[Callable[..., Statement]], Claim]:
    if not isinstance(identifier, str) or not re.fullmatch(r"[^\s-]\S*", identifier):
        spelt = re.sub(r"\s+", "-", identifier.strip()).lstrip("-") if isinstance(identifier, str) else ""
        raise ClaimError(
            f"id must be a text without spaces that does not start with '-', got {identifier!r}: "
            f"write {spelt or 'camilli2025/moment-control'!r}{'' if spelt else ', say'}"
        )
    if reference is not None and not isinstance(reference, Reference):
        raise ClaimError(f"reference of {identifier!r} must be a theoryck.Reference, got {reference!r}")

    def decorate(function: Callable[..., Statement]) -> Claim:
        _must_be_function(function, f"claim {identifier!r}")
        strategies = getattr(function, "__theoryck_strategies__", {})
        examples = getattr(function, "__theoryck_examples__", ())
        if not strategies and not examples:
            hint = "; put for_all(...) or example(...) directly below theorem, conjecture or falsehood"
            _check_arguments(function, {}, f"claim {identifier!r}", hint)
        return Claim(identifier, status, function, reference, strategies, examples)

    return decorate


def theorem(id: str, reference: Reference | None = None) -> Callable[[Callable[..., Statement]], Claim]:
    """Register a proved statement under a permanent ``id``; it must not come out REFUTED.

    The function under it takes the parameters of :func:`for_all` and :func:`example` (or none) and returns a statement: Identity,
    Bound, Scaling, Limit or Law.  The first line of its docstring is the statement for people.  ``id`` is a text without spaces
    that does not start with "-"; ``reference`` is a :class:`Reference` or None.  ``theoryck check`` and pytest find the claim in
    its file, :func:`theoryck.check_claims` takes it as it is.  Raises ClaimError.

    >>> import theoryck as tc
    >>> @tc.theorem("example/sigma-identity")
    ... def linear():
    ...     "sigma_1 = 1 for phi(x) = x"
    ...     return tc.Identity(tc.networks.sigma("x", 1), 1, rivals=[2])
    >>> linear.id, linear.status.value, linear.statement
    ('example/sigma-identity', 'theorem', 'sigma_1 = 1 for phi(x) = x')
    >>> tc.check_claims(linear).results[0].verdict.value
    'CERTIFIED'
    >>> tc.theorem("two words")
    Traceback (most recent call last):
        ...
    theoryck.claims.arguments.ClaimError: id must be a text without spaces that does not start with '-', got 'two words':
    write 'two-words'
    """
    return _claim(Status.THEOREM, id, reference)


def conjecture(id: str, reference: Reference | None = None) -> Callable[[Callable[..., Statement]], Claim]:
    """Register a believed statement under a permanent ``id``: judged like a :func:`theorem`, with the same arguments and errors.

    >>> import theoryck as tc
    >>> @tc.conjecture("example/mean-of-uniforms")
    ... def uniforms():
    ...     "E (mean of d uniforms - 1/2)^2 = 1/(12 d)"
    ...     @tc.quantity(cost=lambda sizes: sizes["d"])
    ...     def variance(rng, draws, *, d):
    ...         return (rng.random((draws, d)).mean(axis=1) - 0.5) ** 2
    ...     return tc.Bound(variance, rate="1/d", along=tc.ScalingPath(d=tc.doubling(8, 128)), correction=1, rivals=["d**(-3/2)"])
    >>> result = tc.check_claims(uniforms, draws=2000).results[0]
    >>> result.verdict.value, result.tightness.value, result.rivals[0].rejected
    ('SUPPORTED', 'TIGHT', True)
    """
    return _claim(Status.CONJECTURE, id, reference)


def falsehood(id: str, reference: Reference | None = None) -> Callable[[Callable[..., Statement]], Claim]:
    """Register a statement known to be false: every instance must come out REFUTED, strictly, else the run fails.

    A theorem with a hypothesis dropped or a constant changed, declared beside it, shows that the check can fail.  Arguments and
    errors are those of :func:`theorem`.

    >>> import theoryck as tc
    >>> @tc.falsehood("example/sigma-of-erf-is-a-half")
    ... def half():
    ...     "sigma_1 = 1/2 for erf"
    ...     return tc.Identity(tc.networks.sigma("erf", 1), 0.5)
    >>> result = tc.check_claims(half).results[0]
    >>> result.verdict.value, result.ok
    ('REFUTED', True)
    """
    return _claim(Status.FALSEHOOD, id, reference)
