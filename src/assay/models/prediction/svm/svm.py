"""Support vector machine: the boundary with the widest margin between classes, in a kernel's feature space.

summary  K_ij = <phi(x_i), phi(x_j)>, (n, n), rows of it computed when needed
primal   min over w, b of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (<w, phi(x_i)> + b))        hard margin: no slack at all
dual     min over a of  1/2 a^T Q a - sum a,  y^T a = 0,  0 <= a_i <= C_i,  Q_ij = y_i y_j K_ij     solver  optimize.smo
forms    hard margin, a share nu of margin errors in place of C, squared slacks, the primal: two_class.py
reading  decision f(x) = sum_i y_i a_i k(x, x_i) + b, class by its sign; |w|^2 = a^T Q a; margin 1 / |w|
classes  g > 2: one machine for each of the g (g - 1) / 2 pairs, (n, k) decisions, and a vote
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from assay.arrays import Array
from assay.data.blocks import float_blocks
from assay.data.source import Source
from assay.engine.current import mapped_blocks
from assay.errors import NotConverged, ParameterError
from assay.models.base import on_engine
from assay.models.prediction.svm.decisions import Boundaries, class_probabilities, sigmoids, votes
from assay.models.prediction.svm.pairs import (
    Machine,
    PairSolver,
    Settings,
    Training,
    lines_between,
    pairs_of,
    weighted_by_class,
)
from assay.models.prediction.svm.vector_machine import (
    CHECKS,
    MachinePath,
    _VectorMachine,
    is_positive,
    kernel_told,
    rising_values,
)
from assay.models.supervised import _Classifier
from assay.summary.distances.distances import as_rows
from assay.summary.gram.gram import Gram
from assay.summary.gram.kernels import Kernel, Precomputed, resolved


class SVM(_VectorMachine, _Classifier):
    """Which side of the widest margin does a row lie on?

    Args:
        C: factor of the slacks, positive: the larger, the fewer rows lie within the margin. None or infinity for a hard
            margin, which is refused, with the rows in the way, where the kernel does not separate the classes.
        nu: in place of C, the largest share of the rows within the margin, and the least that bears it; above 0. More
            than twice the share of the smaller of two classes is refused. `C_` is what it comes to.
        loss: "hinge": slacks count by their size; "squared_hinge": by their square.
        kernel: `Linear()`, `Polynomial()`, `Gaussian()`, one of their names, "precomputed", or a function of two sets
            of rows. None for `Gaussian()`, whose sigma is the median distance between rows.
        solver: "primal" reads rows block by block and pass after pass, so that they may be larger than memory or lie
            with workers: Newton steps on the coefficients, for the linear kernel, a finite C and no probabilities, not
            for nu. It keeps no weights of rows and stops at a duality gap of tol / 10 of the objective. "auto"
            holds the rows and takes the way that suits them; where workers read them, "primal" if that can be.
        class_weight: factors of C by class, {class: factor}; "balanced" for n / (g n_c); None for 1.
        probability: whether to learn probabilities too, from decisions on rows held out: five more fits, on four fifths
            of the rows each.
        tol: how far decisions of the training rows may violate the conditions of a solution, in units of the margin.
        cache_mb: memory for kernel values, in MiB.
        max_iter: most steps of the solver for each pair of classes.
        random_state: which rows are held out together, for probabilities.

    Attributes:
        classes_: (g,), sorted.
        support_: (m,) rows with a weight in some pair, by class, counted from 0. It and the next three are None after
            solver "primal".
        support_vectors_: (m, d) these rows; None with a precomputed kernel.
        n_support_: (g,) how many are in each class.
        dual_coef_: (g - 1, m) weights y a in the pairs that a row's class is in, in the order of the other classes.
        intercept_: (p,) b of each pair; p = g (g - 1) / 2, in the order (0, 1), (0, 2), ..., (1, 2), ... . A positive
            decision speaks for the pair's first class; with two classes in all for the second, as in scikit-learn.
        coef_: (p, d) w of each pair with the linear kernel; None with any other.
        C_: (p,) C of each pair, for a row that counts once: as given, or what nu comes to.
        margin_: (p,) one over the length of w, in feature space. Infinite where w is zero: the rows tell nothing. Not a
            number where its square is negative, which only a kernel that fails `mercer_check` can do.
        objective_: (p,) of the dual, as LIBSVM states it: 1/2 a^T Q a - sum a; with nu that of the C it comes to.
        duality_gap_: (p,) by how much that can be above the least.
        kkt_residual_: largest violation of the conditions of a solution, over all pairs, in units of the margin; None
            after solver "primal".
        n_iter_: (p,) steps taken.
        converged_: whether the tolerance was met in every pair.
        route_: "dual float32" or "dual float64", by the kernel values worked with (all results are judged by float64
            ones), "primal", or "primal in passes".
        probA_: (p,) A of each pair's sigmoid 1 / (1 + exp(A f + B)), learnt on rows that the machine that judged them
            had not seen; None without probabilities.
        probB_: (p,) B.
        kernel_: the kernel with its defaults filled in.
        encoding_: how the columns of a source became numbers, where it was fitted on one.

    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0], [4.0, 4.0]])
    >>> machine = SVM(C=None, kernel="linear").fit(X, ["low", "low", "high", "high"])
    >>> machine.predict([[0.5, 1.0]]), machine.margin_.round(6), machine.support_
    (array(['low'], dtype='<U4'), array([1.414214]), array([2, 1]))

    References:
        Cortes and Vapnik, Support-vector networks, Machine Learning 20, 1995; Fan, Chen and Lin, Working set selection
        using second order information, JMLR 6, 2005.
    """

    n_support_: Any
    _origin: Any
    probA_: Array | None  # noqa: N815  as in scikit-learn
    probB_: Array | None  # noqa: N815

    def __init__(
        self,
        C: float | None = 1.0,
        *,
        nu: float | None = None,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        kernel: Any = None,
        solver: Literal["auto", "primal"] = "auto",
        class_weight: Any = None,
        probability: bool = False,
        tol: float = 1e-3,
        cache_mb: float = 256.0,
        max_iter: int = 10_000_000,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.nu = nu
        self.loss = loss
        self.kernel = kernel
        self.solver = solver
        self.class_weight = class_weight
        self.probability = probability
        self.tol = tol
        self.cache_mb = cache_mb
        self.max_iter = max_iter
        self.random_state = random_state

    @on_engine
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, *, engine: Any = None) -> Self:
        """Find the boundaries between classes of (n, d) rows.

        Args:
            X: array, data frame, sparse matrix or `Source`; (n, n) kernel values with kernel "precomputed".
            y: (n,) classes; where X is a source the name of the column that holds them, or None for that of its target.
            sample_weight: (n,) factors of C by row, not negative: a row of weight 2 counts as two rows, and one of
                weight 0 as none.
            engine: where blocks are read and summarised, see `assay.using`; None: on the engine in use. Other kernels
                than the linear one bring all rows here.
        """
        if self._in_passes(X):
            return self._fit_in_passes(X, y, sample_weight)
        return self._fit(*self._numbered(X, y, sample_weight))

    def fit_gram(self, gram: Gram, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit from a kernel matrix, held or not; its kernel is used. Weights are as for `fit`."""
        gram = self._known_gram(gram)
        codes = self._class_numbers(y, gram.n)
        rows = gram.values if gram.points is None else gram.points
        return self._fit(gram.kernel, rows, codes, self._row_weights(sample_weight, codes))

    def path(self, X: Any, y: Any, Cs: Any, *, held_out: tuple[Any, Any] | None = None) -> MachinePath:
        """Solve for several values of C, each solution the start of the next; the model itself is left as it is.

        Args:
            X: (n, d) rows, as for `fit`.
            y: (n,) classes.
            Cs: values of C, positive and finite; they are taken in rising order.
            held_out: rows and classes kept aside, whose error tells which value to take.
        """
        if self.nu is not None:
            raise ParameterError("a path is over values of C, and nu stands in place of it: leave nu out")
        values = rising_values(Cs)
        one = clone(self)
        kernel, rows, codes, _ = one._numbered(X, y, None)
        training = Training.of(kernel, rows, codes, len(one.classes_))
        solver, machines, errors, found = one._solver(training, hold=True), None, [], []
        for before, C in zip([values[0], *values], values, strict=False):
            machines = solver.solve(one._by_class(C, training.sizes), machines, C / before)
            one._keep(Boundaries.of(training, machines))
            one._certify(machines)
            found.append((one.objective_, len(one.support_), one.n_iter_.sum(), one.kkt_residual_, one.margin_))
            if held_out is not None:
                errors.append(1.0 - one.score(*held_out))
        objective, support, steps, residual, margin = (np.array(column) for column in zip(*found, strict=True))
        return MachinePath(values, objective, support, steps, residual, np.array(errors) if errors else None, margin)

    def decision_function(self, X: Any) -> Array:
        """How clearly (m, d) rows lie on a side: (m,) for two classes, positive for the second; else (m, g).

        With g > 2 classes a column counts the pairs that decide for the class, and adds a number below 1/3 in size that
        grows with the sum of its decisions in those pairs: the largest is the class predicted.
        """
        decisions = self.pairwise_decisions(X)
        return decisions[:, 0] if len(self.classes_) == 2 else votes(decisions, len(self.classes_))

    def pairwise_decisions(self, X: Any) -> Array:
        """f(x) of (m, d) rows for each pair of classes, (m, p); 1 and -1 on the edges of the margin."""
        check_is_fitted(self)
        known = (self.kernel_, self.support_, self.support_vectors_, self.n_support_, self.dual_coef_)
        found = Boundaries(*known, self._rho, self._origin, self.coef_)
        if isinstance(X, Source) and self.coef_ is not None:
            blocks = float_blocks(self._as_numbers(X, reset=False))
            return np.concatenate(mapped_blocks(blocks, lambda part: found.decisions(part[1])))
        return found.decisions(self._new_rows(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each of (m, d) rows, (m,).

        Of more than two classes the one that most pairs decide for; among equals the one with the largest sum of
        decisions in its pairs.
        """
        decision = self.decision_function(X)
        best = np.argmax(decision, axis=1) if decision.ndim == 2 else (decision > 0).astype(np.intp)
        return np.asarray(self.classes_[best])

    def _learns_probabilities(self) -> bool:
        return bool(self.probability)

    @available_if(_learns_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class for (m, d) rows, (m, g), where the model was made with probability=True.

        The largest need not be that of the class which `predict` gives: probabilities were learnt on rows held out.
        """
        decisions = self.pairwise_decisions(X)
        if self.probA_ is None or self.probB_ is None:
            raise ParameterError("probability was set after fit; fit again, for probabilities are learnt there")
        return class_probabilities(decisions, self.probA_, self.probB_, len(self.classes_))

    @available_if(_learns_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithms of the probabilities of `predict_proba`, (m, g); minus infinity where one is 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _fit_told(self) -> tuple[list[str], dict[str, float]]:
        classes = self.classes_.tolist()
        held = None if self.n_support_ is None else [int(count) for count in self.n_support_]
        borne = "rows that bear it: not kept by this solver"
        if held is not None:
            each = ", ".join(f"{name} {count:,}" for name, count in zip(classes[:6], held, strict=False))
            borne = f"{sum(held):,} rows bear it: {each}{', ...' if len(classes) > 6 else ''}"
        known = self.margin_[np.isfinite(self.margin_)]
        lines = [
            f"{kernel_told(self.kernel_)}, C {float(np.min(self.C_)):.4g}",
            borne,
            f"narrowest margin {float(known.min()):.4g}" if len(known) else "no margin: the rows tell nothing",
            f"{'converged' if self.converged_ else 'not converged'} after {int(np.sum(self.n_iter_)):,} steps"
            + ("" if self.probA_ is None else "; probabilities were learned on rows held out"),
        ]
        return lines, {
            "support": float("nan") if held is None else float(sum(held)), "pairs": float(len(self.intercept_)),
            "margin": float(known.min()) if len(known) else float("nan"), "objective": float(np.sum(self.objective_)),
        }  # fmt: skip

    def _pairs_told(self) -> list[tuple[Any, Any]]:
        classes = self.classes_.tolist()
        return [(a, b) for i, a in enumerate(classes) for b in classes[i + 1 :]]

    def _in_passes(self, X: Any) -> bool:
        """Whether rows are read in passes and not held."""
        settings = self._settings()
        able = bool(np.isfinite(settings.C) and not self.probability and settings.nu is None)
        passes = self._reads_passes(X, able=able)
        if self.solver == "primal" and not passes:
            raise ParameterError(
                "solver 'primal' is for the linear kernel, a finite C and no probabilities, and not for nu"
            )
        return passes

    def _fit_in_passes(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Self:
        data, y, n = self._rows_of_passes(X, y)
        codes = self._class_numbers(y, n)
        weights = self._row_weights(sample_weight, codes)
        self._check_tol()
        settings = self._settings()
        lines, origin = lines_between(
            float_blocks(data),
            codes,
            self._by_class(settings.C, np.bincount(codes, weights, len(self.classes_))),
            weights=weights,
            squared=settings.squared,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self._keep_no_rows()
        self.n_support_ = self.probA_ = self.probB_ = None
        self.coef_, self._origin = np.stack([line.coef for line in lines]), origin
        self._rho = np.array([-line.offset for line in lines])
        self.intercept_ = -self._rho - self.coef_ @ origin
        with np.errstate(divide="ignore"):
            self.margin_ = 1.0 / np.linalg.norm(self.coef_, axis=1)
        self.duality_gap_ = np.array([line.duality_gap for line in lines])
        self.objective_ = self.duality_gap_ - np.array([line.objective for line in lines])
        self.n_iter_ = np.array([line.iterations for line in lines])
        self.converged_, self.C_ = all(line.converged for line in lines), np.full(len(lines), settings.C)
        self._warn_of_passes(lines)
        return self

    def _numbered(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Kernel, Array, NDArray[np.intp], Array | None]:
        rows, codes = self._labelled(X, y, **CHECKS)
        weights = self._row_weights(sample_weight, codes)
        kernel, rows = self._kernel(), as_rows(rows)
        if isinstance(kernel, Precomputed):
            rows = Gram.precomputed(rows).values
        if weights is None:
            return kernel.resolve(rows), rows, codes, None
        kept = weights > 0.0
        return resolved(kernel, rows[kept], weights[kept]), rows, codes, weights

    def _fit(self, kernel: Kernel, X: Array, codes: NDArray[np.intp], weights: Array | None = None) -> Self:
        C = self._settings().C

        def solve(training: Training) -> list[Machine]:
            return self._solver(training).solve(self._by_class(C, training.sizes))

        training = Training.of(kernel, X, codes, len(self.classes_), weights)
        machines = solve(training)
        found = Boundaries.of(training, machines)
        if found.coef is not None:
            found = replace(found, points=X[found.support])  # as they were given, not less their mean
        self._keep(found)
        self._certify(machines)
        self.probA_ = None
        self.probB_ = None
        if self.probability:
            self.probA_, self.probB_ = sigmoids(
                lambda part: Boundaries.of(part, solve(part)), kernel, X, codes, self._seed(), weights
            )
        return self

    def _solver(self, training: Training, *, hold: bool = False) -> PairSolver:
        self._check_tol()
        return PairSolver(training, self.classes_, self._settings(), hold=hold)

    def _settings(self) -> Settings:
        """What is minimised, once the options are known to be possible."""
        if self.loss not in ("hinge", "squared_hinge"):
            raise ParameterError(f"loss is 'hinge' or 'squared_hinge'; got {self.loss!r}")
        if self.C is not None and not is_positive(self.C):
            raise ParameterError(f"C is a positive number, or None for a hard margin; got {self.C!r}")
        self._check_nu()
        if self.nu is not None and self.C != 1.0:
            raise ParameterError(f"nu stands in place of C: give one of them; got C={self.C!r} and nu={self.nu!r}")
        if self.nu is not None and self.loss != "hinge":
            raise ParameterError("nu is a share of errors of the plain hinge: leave nu or loss='squared_hinge' out")
        C, nu = float("inf") if self.C is None else float(self.C), None if self.nu is None else float(self.nu)
        return Settings(C, nu, self.loss != "hinge", self.tol, self.cache_mb, self.max_iter)

    def _by_class(self, C: float, sizes: NDArray[Any]) -> Array:
        """(g,) C of each class, of these weights of rows."""
        return weighted_by_class(C, self.class_weight, self.classes_.tolist(), sizes)

    def _keep(self, found: Boundaries) -> None:
        self.kernel_, self.support_, self.support_vectors_ = found.kernel, found.support, found.points
        self.n_support_, self.dual_coef_, self.coef_ = found.counts, found.weights, found.coef
        self._rho, self._origin = found.rho, found.origin
        self.intercept_ = found.intercept

    def _certify(self, machines: Sequence[Machine]) -> None:
        """How good the solution is."""
        with np.errstate(divide="ignore"):
            self.margin_ = 1.0 / np.array([machine.length for machine in machines])
        found = [machine.found for machine in machines]
        self.C_ = np.array([machine.C for machine in machines])
        self.objective_ = np.array([one.objective for one in found])
        self.duality_gap_ = np.array([one.duality_gap for one in found])
        self.kkt_residual_ = max(one.violation for one in found)
        self.n_iter_ = np.array([one.iterations for one in found])
        self.converged_ = all(one.converged for one in found)
        self.route_ = min(machine.route for machine in machines)
        if not self.converged_:
            pairs = zip(pairs_of(len(self.classes_)), found, strict=True)
            names = ["/".join(str(self.classes_[c]) for c in pair) for pair, one in pairs if not one.converged]
            worst = max(found, key=lambda one: one.violation)
            warnings.warn(
                f"SVM: {len(names)} of {len(found)} pairs of classes ({', '.join(names[:3])}"
                f"{' ...' if len(names) > 3 else ''}) did not meet tol={self.tol:g}; the violation is up to "
                f"{worst.violation:.2g}: {worst.reason}",
                NotConverged,
                stacklevel=5,
            )
