"""A stream under watch: running moments, rows that do not belong, drift against a reference.

    reference   the first rows of the stream, or other data: encoding, law, calibration (`learned`)
    row         score by the law, rank among the rows before, online false discovery rate (`anomalies`)
    window      every so many rows without gaps: running moments (`summary.running`), drift (`drift`)

Memory is that of one window, the largest scores and a few matrices, however long the stream. Windows are cut by the
number of rows alone, and every row is scored by itself: blocks may come in any size, and a watch that was saved and
loaded says to the bit what one would have said that never stopped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.arrays import Array
from assay.data.alignment import Aligner
from assay.data.files import write_archive
from assay.data.problems import Problems
from assay.data.read import read
from assay.data.source import BLOCK_ROWS, Source
from assay.errors import DataError, ParameterError
from assay.linalg.one_thread import one_blas_thread
from assay.linalg.validate import RandomState, seed_of
from assay.models.files import from_parts, to_parts
from assay.shown import a_few
from assay.summary.moments.moments import Moments
from assay.summary.moments.running import check_half_life, followed
from assay.watch.alert import Alert
from assay.watch.anomalies import Ranks
from assay.watch.drift import ASPECTS, Aspect, Aspects, spent
from assay.watch.law import RowLaw
from assay.watch.learned import LearnedStream, distances, encoded
from assay.watch.state import restored, state_of
from assay.watch.told import anomaly, drift, more_anomalies, problem_alerts

Against: TypeAlias = Literal["reference", "running"]

_MOST_REFERENCE = 50_000  # rows taken of data that are the reference
_TOLD = 100  # anomalies of a window that are told one by one
_TOO_FAR = 1e100  # squared distance of rows that are kept out of sums
FAR = "rows are so far out that they are kept out of the moments and of drift"
GAPS = "rows have missing values: they are judged by what they have, and left out of the moments and of drift"


class Watch:
    """Watch rows as they arrive, in bounded memory.

    Args:
        reference: how many rows of the stream, its first, show what is usual; or other data that do, of which at most
            the first 50,000 rows are taken.
        level: the chance of any false alert of drift, for ever; and of any false alert of an anomaly in a stretch of
            `horizon` rows.
        half_life: rows after which a row counts half in the running moments; None: rows never fade.
        every: rows of a window; after each, moments are brought up to date and drift is asked for.
        horizon: rows of a stretch in which the share of false anomalies is at most level.
        against: "reference": rows are scored by the law of the reference; "running": by that of the running moments
            up to the last window, and ranked among the rows of the last 20 to 40 half-lives only, which follows streams
            that drift, and has no exact chance.
        extrapolate: tell anomalies too few rows were seen for by an extrapolated tail; such alerts are suggestive.
        drop: columns to leave out.
        random_state: of the numbers that put rows with the same score in order: a whole number from 0 on, None for 0,
            or a generator of NumPy's.

    Attributes:
        rows: how many arrived, the reference included where it was the first of them.
        gaps: how many of them had missing values.
        alerts: how many of each kind were given.
        looks: windows that were asked for drift.
        drift: P of mean, covariance and subspace in the latest window.
        position: where a reader stands, for whoever reads: kept in the file, and not used here.

    >>> rng = np.random.default_rng(0)
    >>> watch = Watch(reference=1000)
    >>> watch.update(rng.standard_normal((3000, 4)))
    []
    >>> [alert.kind for alert in watch.update([[0.0, 9.0, -9.0, 0.0]])]
    ['anomaly']
    """

    def __init__(
        self,
        reference: Any = 5000,
        *,
        level: float = 0.05,
        half_life: float | None = None,
        every: int = 1000,
        horizon: int = 100_000,
        against: Against = "reference",
        extrapolate: bool = True,
        drop: Sequence[str] = (),
        random_state: RandomState = 0,
    ) -> None:
        self.options: dict[str, Any] = {
            "level": level, "half_life": half_life, "every": every, "horizon": horizon, "against": against,
            "extrapolate": extrapolate, "drop": list(drop), "random_state": seed_of(random_state),
        }  # fmt: skip
        check_options(self.options)
        self.rows = self.gaps = self.looks = 0
        self.alerts: dict[str, int] = {}
        self.problems: dict[tuple[str, str | None], int] = {}
        self.drift: dict[Aspect, float] = {}
        self.position: dict[str, Any] = {}
        self._drifting: set[str] = set()
        self._in_window = 0  # anomalies told
        self._aligner: Aligner | None = None
        self._early: list[pa.RecordBatch] = []
        self._wanted = 0
        self.learned: LearnedStream | None = None
        if isinstance(reference, (int, np.integer)) and not isinstance(reference, bool):
            if reference < 1:
                raise ParameterError(f"reference is a number of rows above 0, or data; got {reference}")
            self._wanted = int(reference)
        else:
            self._learn_from(reference if isinstance(reference, Source) else read(reference))

    # ---- rows

    def over(self, data: Any) -> Iterator[Alert]:
        """Alerts as rows of a source, or of anything that `assay.read` takes, arrive."""
        source = data if isinstance(data, Source) else read(data)
        for block in source.blocks():
            yield from self.update(block)
            yield from self.note(source.problems)

    def update(self, block: Any) -> list[Alert]:
        """Take in rows.

        Args:
            block: an array, a data frame, an Arrow table or batch, a list of mappings; columns by their names.
        """
        alerts: list[Alert] = []
        for batch in _batches(block):
            alerts += self._update(batch)
        for alert in alerts:
            self.alerts[alert.kind] = self.alerts.get(alert.kind, 0) + 1
        return alerts

    def note(self, problems: Problems) -> list[Alert]:
        """Alerts of what was wrong while rows were read, told when it happens first and ten, a hundred ... times."""
        alerts = problem_alerts(problems, self.problems, self.rows)
        for alert in alerts:
            self.alerts[alert.kind] = self.alerts.get(alert.kind, 0) + 1
        return alerts

    @property
    def moments(self) -> Moments | None:
        """Running moments of the rows without gaps, as numbers; None while the reference is gathered."""
        if self.learned is None:
            return None
        return followed(self._moments, self._raw[:, : self._filled].T, self.options["half_life"])

    @property
    def needed(self) -> int:
        """Rows that are still to come before anything is judged."""
        return 0 if self.learned is not None else self._wanted - self.rows

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers that stand for the columns; none while the reference is gathered."""
        return () if self.learned is None else self.learned.encoding.names

    @property
    def law(self) -> RowLaw:
        """The law that rows are scored by."""
        return self._law

    @property
    def aspects(self) -> Aspects:
        """What drift is measured against."""
        return self._aspects

    @property
    def ranked(self) -> int:
        """Rows among which the next one is ranked."""
        return 0 if self.learned is None else self._ranks.count

    # ---- state

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to a file that holds data only; `assay.load` reads it.

        It holds rows: those of the window that is being filled, or of the reference while that is gathered.
        """
        write_archive(path, "Watch", *self.to_parts())

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays of the file."""
        return to_parts(state_of(self))

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Rebuild from the content of a file."""
        watch = cls.__new__(cls)
        restored(watch, from_parts(header, arrays))
        return watch

    # ---- within

    def _known_columns(self, schema: pa.Schema) -> None:
        missing = [name for name in self.options["drop"] if name not in schema.names]
        if missing:
            raise ParameterError(
                f"column {missing[0]!r} is to be left out, but there is none; there are {a_few(schema.names)}"
            )

    def _learn_from(self, source: Source) -> None:
        kept: list[pa.RecordBatch] = []
        for batch in source.blocks():
            kept.append(batch)
            if sum(part.num_rows for part in kept) >= _MOST_REFERENCE:
                break
        if not kept:
            raise DataError(f"the reference {source.name} has no rows")
        self._known_columns(kept[0].schema)
        self._aligner = Aligner(kept[0].schema)
        table = pa.Table.from_batches([self._aligner.aligned(part, Problems()) for part in kept])
        self._learn(table.slice(0, _MOST_REFERENCE))

    def _learn(self, table: pa.Table) -> list[Alert]:
        problems = Problems()
        with one_blas_thread():  # the same bits whatever else runs
            self.learned = learned = LearnedStream.of(table, self.options["drop"], problems)
        self.begin(learned.encoding.names, learned.law, learned.aspects)
        self._ranks.begin(learned.scores)
        for words in learned.aspects.limits():
            problems.add(words)
        return self.note(problems)

    def begin(self, names: tuple[str, ...], law: RowLaw, aspects: Aspects) -> None:
        """Empty places for what is gathered from now on."""
        o, d = self.options, law.d
        self._law, self._aspects = law, aspects
        renewed = max(int(20 * o["half_life"]), 1) if o["against"] == "running" else 0
        self._ranks = Ranks(o["level"], o["horizon"], renewed, o["extrapolate"], o["random_state"])
        self._moments = Moments.empty(d, names)
        self._raw, self._drawn = np.empty((d, o["every"])), np.empty((d, o["every"]))
        self._filled = 0

    def _update(self, batch: pa.RecordBatch) -> list[Alert]:
        if self._aligner is None:
            self._known_columns(batch.schema)
            self._aligner = Aligner(batch.schema)
        problems = Problems()
        batch = self._aligner.aligned(batch, problems, first_row=self.rows)
        alerts: list[Alert] = []
        if self.learned is None:
            early, batch = batch.slice(0, self.needed), batch.slice(self.needed)
            self._early.append(early)
            self.rows += early.num_rows
            if self.needed:
                return self.note(problems)
            alerts += self._learn(pa.Table.from_batches(self._early))
            self._early = []
            self._take_reference()
        if batch.num_rows and self.learned is not None:
            table = pa.Table.from_batches([batch])
            columns = encoded(self.learned.encoding, table, problems, self.rows)
            alerts += self._take(columns, problems)
        return alerts + self.note(problems)

    def _take_reference(self) -> None:
        if self.learned is not None:
            columns = self.learned.columns
            whole = ~np.isnan(columns.sum(axis=0))
            self.gaps += int((~whole).sum())
            self._moments = followed(self._moments, columns[:, whole].T, self.options["half_life"])

    def _take(self, columns: Array, problems: Problems) -> list[Alert]:
        """Rows piece by piece, each up to the end of a window."""
        alerts: list[Alert] = []
        whole = ~np.isnan(columns.sum(axis=0))
        seen = np.cumsum(whole)
        start, stop = 0, columns.shape[1]
        while start < stop:
            before = int(seen[start - 1]) if start else 0
            room = self.options["every"] - self._filled
            end = min(int(np.searchsorted(seen, before + room)) + 1, stop)
            alerts += self._take_piece(np.ascontiguousarray(columns[:, start:end]), whole[start:end], problems)
            start = end
            if self._filled == self.options["every"]:
                alerts += self._close_window()
        return alerts

    def _take_piece(self, columns: Array, whole: NDArray[np.bool_], problems: Problems) -> list[Alert]:
        own = self._aspects.law
        whitened, far = distances(own, columns)
        scores = far if self._law is own else distances(self._law, columns)[1]
        judged = self._ranks.judge(scores, self.rows)
        alerts: list[Alert] = []
        for i in np.flatnonzero(judged.flags).tolist():
            self._in_window += 1
            if self._in_window <= _TOLD:
                alerts.append(anomaly(self, self.rows + i, columns[:, i], float(scores[i]), judged, i))
        self.rows += columns.shape[1]
        gaps = len(whole) - int(whole.sum())
        if gaps:
            self.gaps += gaps
            problems.add(GAPS, place=f"row {self.rows - len(whole) + int(np.argmin(whole)) + 1}", count=gaps)
        kept = whole & (far < _TOO_FAR)
        out = int(whole.sum() - kept.sum())
        if out:
            problems.add(FAR, place=f"rows up to {self.rows}", count=out)
        n = int(kept.sum())
        if n < len(kept):
            columns, whitened, far = columns[:, kept], np.ascontiguousarray(whitened[:, kept]), far[kept]
        place = slice(self._filled, self._filled + n)
        self._raw[:, place] = columns
        self._drawn[:, place] = self._aspects.drawn_in(whitened, far)
        self._filled += n
        return alerts

    def _close_window(self) -> list[Alert]:
        o = self.options
        self._moments = followed(self._moments, self._raw.T, o["half_life"])
        self._filled = 0
        self.looks += 1
        window = self._drawn.T
        self.drift = self._aspects.judged(window)
        each = spent(o["level"], self.looks)
        if self.drift.get("mean", 1.0) <= each:
            window = self._aspects.moved_back(self._raw)
            self.drift = {**self._aspects.judged(window), "mean": self.drift["mean"]}
        alerts = []
        if self._in_window > _TOLD:
            alerts.append(more_anomalies(self.rows, self._in_window - _TOLD, o["every"]))
        self._in_window = 0
        for aspect in ASPECTS:
            p = self.drift.get(aspect, 1.0)
            if p > each:
                self._drifting.discard(aspect)
            elif aspect not in self._drifting:
                self._drifting.add(aspect)
                alerts.append(drift(self, aspect, self._raw, window, p, each))
        if o["against"] == "running":
            m = self._moments
            self._law = RowLaw.of_estimate(m.mean, m.covariance, m.weight)
        return alerts


def check_options(options: dict[str, Any]) -> None:
    """Refuse what makes no sense, before any row is taken in."""
    level, every, horizon = options["level"], options["every"], options["horizon"]
    if not (isinstance(level, (int, float)) and 0.0 < level < 1.0):
        raise ParameterError(f"level is a chance between 0 and 1; got {level!r}")
    check_half_life(options["half_life"])
    if not (isinstance(every, int) and every >= 50):
        raise ParameterError(f"every is a number of rows, at least 50; got {every!r}")
    if not (isinstance(horizon, int) and horizon >= 1):
        raise ParameterError(f"horizon is a number of rows above 0; got {horizon!r}")
    if options["against"] not in ("reference", "running"):
        raise ParameterError(f"against is 'reference' or 'running'; got {options['against']!r}")
    if options["against"] == "running" and options["half_life"] is None:
        raise ParameterError("against='running' needs a half_life, so that the law follows the stream")


def _batches(block: Any) -> list[pa.RecordBatch]:
    if isinstance(block, pa.RecordBatch):
        return [block]
    if isinstance(block, list) and block and isinstance(block[0], dict):
        return [pa.RecordBatch.from_pylist(block)]
    if isinstance(block, (list, tuple)):
        block = np.asarray(block)
    if isinstance(block, Source):
        return list(block.blocks())
    return [batch for batch in read(block).to_arrow().to_batches(max_chunksize=BLOCK_ROWS) if batch.num_rows]
