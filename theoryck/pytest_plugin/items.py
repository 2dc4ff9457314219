"""A claim as a test item: measured and judged when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from theoryck.pytest_plugin.live import Live
from theoryck.pytest_plugin.state import STATE, State, is_xdist_worker, width

if TYPE_CHECKING:
    from theoryck.checking.ahead import Ahead
    from theoryck.checking.session import Session
    from theoryck.claims.claim import Claim
    from theoryck.montecarlo import Executor
    from theoryck.records import Result


class ClaimFailed(Exception):
    """A claim that is not as declared; carries its failing results, worst first."""

    def __init__(self, failing: list[Result]) -> None:
        super().__init__(", ".join(result.verdict.value for result in failing))
        self.failing = failing


class ClaimItem(pytest.Item):
    """One claim: all its instances are measured and judged when it runs."""

    def __init__(self, *, claim: Claim, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.claim = claim
        self.results: list[Result] = []
        self.index = 0  # in the order of a book
        self.place = 0  # in the order of the run
        self.extra_keyword_matches.add(claim.id)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Say where the claim is and what it is called."""
        return Path(self.claim.path), self.claim.line - 1, self.claim.id

    def runtest(self) -> None:
        """Measure and judge every instance; raise ClaimFailed where one is not as declared."""
        from theoryck.checking.check import check_claim, failed_result

        session, live = session_and_live(self.config)
        try:
            ahead = _ahead(self.config, session)
            self.results = check_claim(self.claim, session) if ahead is None else ahead.take(self.place)
        except (Exception, SystemExit) as error:
            self.results = [failed_result(self.claim, session, error)]
            session.end(self.claim.id)
            raise
        finally:
            live.erase()
            if self.results:
                self.user_properties.extend(_properties(self.results))
        failing = _failing(self.results, session.profile.inconclusive_fails or self.config.getoption("theoryck_strict"))
        if failing:
            raise ClaimFailed(failing)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show a paragraph per failing result; another exception shows a short traceback that starts in the claim's file."""
        if isinstance(excinfo.value, ClaimFailed):
            from theoryck.report.layout import Style
            from theoryck.report.text import claim_failure

            style = Style(width(self.config))
            verbose = self.config.get_verbosity() > 0
            most = len(excinfo.value.failing) if verbose else 3
            return "\n\n".join(claim_failure(excinfo.value.failing, style, most=most))
        return self._repr_failure_py(excinfo, style="short")

    def _traceback_filter(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
        """Start in the claim's file; where the error never came there, after pytest's frames and this file's."""
        ours = excinfo.traceback.cut(path=self.claim.path)
        if len(ours) < len(excinfo.traceback):
            return ours
        return excinfo.traceback.cut(path=__file__)[1:] or excinfo.traceback


def _properties(results: list[Result]) -> list[tuple[str, object]]:
    """What a JUnit file says of a claim: its worst instance, and the draws of all; numbers are those of the record, unrounded."""
    from theoryck.report.claims import ClaimSummary, every_size

    claim = ClaimSummary(results[0].claim, tuple(results))
    worst = claim.worst
    judgement, every = worst.judgement, every_size(worst)
    properties: dict[str, object] = {
        "claim": claim.claim,
        "status": worst.status.value,
        "verdict": worst.verdict.value,
        "scope": (f"every {every}" if every else "these sizes") if worst.verdict.value == "CERTIFIED" else None,
        "scope_constant": worst.scope and str(worst.scope.constant),
        "tightness": worst.tightness.value if worst.tightness else None,
        "exponent": judgement.exponent and judgement.exponent.estimate,
        "exponent_low": judgement.exponent and judgement.exponent.low,
        "exponent_high": judgement.exponent and judgement.exponent.high,
        "claimed_exponent": judgement.claimed_exponent,
        "slack": judgement.slack and judgement.slack.estimate,
        "draws": claim.draws,
        "seed": worst.seed,
    }
    known = {name: value for name, value in properties.items() if value is not None}
    return [(name, repr(float(value)) if isinstance(value, float) else str(value)) for name, value in known.items()]


def _failing(results: list[Result], strict: bool) -> list[Result]:
    from theoryck.report.claims import Outcome, outcome, severity

    bad = {Outcome.FAILED, Outcome.UNDECIDED} if strict else {Outcome.FAILED}
    return sorted((result for result in results if outcome(result) in bad), key=severity)


def _ahead(config: pytest.Config, session: Session) -> Ahead[Claim, list[Result]] | None:
    """Return what has later items in work while this one is waited for; which of them another process runs is not known."""
    state = config.stash[STATE]
    if state.ahead is None and not is_xdist_worker(config):
        from theoryck.checking.check import checking

        state.ahead = state.exits.enter_context(checking(state.order, session))
    return state.ahead


def session_and_live(config: pytest.Config) -> tuple[Session, Live]:
    """Return the one session of this process, whose workers stop at the end, and the line that shows what it does."""
    state = config.stash[STATE]
    if state.session is None or state.live is None:
        from theoryck.checking.profiles import profile_named
        from theoryck.checking.session import Session

        workers = config.getoption("theoryck_workers")
        if workers is None and is_xdist_worker(config):
            workers = 1
        cluster = config.getoption("theoryck_cluster")
        state.live = Live(config, len(state.selected))
        state.session = state.exits.enter_context(
            Session(
                profile=profile_named(config.getoption("theoryck_profile")),
                seed=config.getoption("theoryck_seed"),
                claims=max(1, len(state.selected)),
                executor=None if cluster is None else _on(cluster, state),
                workers=workers,
                draws=config.getoption("theoryck_draws"),
                ledger=state.ledger,
                progress=state.live if state.live.shown else None,
            )
        )
    return state.session, state.live


def _on(cluster: str, state: State) -> Executor:
    """Return an executor on a cluster, which is left at the end; one that cannot be used ends the session."""
    from theoryck.montecarlo import ClusterError, connect

    try:
        return state.exits.enter_context(connect(cluster))
    except ClusterError as error:
        raise pytest.UsageError(f"--theoryck-cluster: {error}") from error
