"""Support vector machine: the boundary with the widest margin between classes, in a kernel's feature space.

summary  K_ij = <phi(x_i), phi(x_j)>, (n, n), rows of it computed when needed
primal   min over w, b of  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (<w, phi(x_i)> + b))        hard margin: no slack at all
dual     min over a of  1/2 a^T Q a - sum a,  y^T a = 0,  0 <= a_i <= C_i,  Q_ij = y_i y_j K_ij     solver  optimize.smo
nu       a share of margin errors in place of C: svm.nu        squared  slacks squared, a ridge on K: svm.squared
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
from assay.engine.current import is_local, mapped_blocks
from assay.errors import NotConverged, ParameterError
from assay.models.base import on_engine
from assay.models.prediction.svm.boundaries import Boundaries, votes
from assay.models.prediction.svm.calibration import class_probabilities, sigmoids
from assay.models.prediction.svm.pairs import Form, Limits, Machine, PairSolver, pairs_of
from assay.models.prediction.svm.passes import GAP, lines_between
from assay.models.prediction.svm.path import SVMPath
from assay.models.prediction.svm.training import Training, price_of_classes
from assay.models.supervised import _Classifier
from assay.summary.distances.distances import as_rows
from assay.summary.gram.gram import Gram
from assay.summary.gram.kernels import Gaussian, Kernel, Linear, Precomputed, as_kernel, resolved


class SVM(_Classifier):
    """Which side of the widest margin does a row lie on?

    Args:
        C: price of a unit of slack, positive; None or infinity for a hard margin, which is refused, with the rows in
            the way, where the kernel does not separate the classes.
        nu: in place of C, the largest share of the rows within the margin, and the least that bears it; above 0. More
            than twice the share of the smaller of two classes is refused. `C_` is the price it comes to.
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
        C_: (p,) price of a unit of slack in each pair, for a row that counts once: C, or what nu comes to.
        margin_: (p,) one over the length of w, in feature space. Infinite where w is zero: the rows tell nothing. Not a
            number where its square is negative, which only a kernel that fails `mercer_check` can do.
        objective_: (p,) of the dual, as LIBSVM states it: 1/2 a^T Q a - sum a; with nu that of the price it comes to.
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

    kernel_: Kernel
    support_: Any  # these are None where no weights of rows are kept
    support_vectors_: Any
    n_support_: Any
    dual_coef_: Any
    kkt_residual_: Any
    coef_: Any
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
        if gram.approximate or gram.centring is not None:
            what = "by landmarks" if gram.approximate else "centred"
            raise ParameterError(
                f"SVM takes a kernel matrix that is exact and not centred; this one is {what}. Centring changes "
                "nothing here, and Gram.of(X, kernel, hold=False) needs no memory for its values"
            )
        self._record_columns(None, gram.n if gram.points is None else gram.points.shape[1])
        codes = self._class_numbers(y, gram.n)
        rows = gram.values if gram.points is None else gram.points
        return self._fit(gram.kernel, rows, codes, self._row_weights(sample_weight, codes))

    def path(self, X: Any, y: Any, Cs: Any, *, held_out: tuple[Any, Any] | None = None) -> SVMPath:
        """Solve for several prices, each solution the start of the next; the model itself is left as it is.

        Args:
            X: (n, d) rows, as for `fit`.
            y: (n,) classes.
            Cs: prices, positive and finite; they are taken in rising order.
            held_out: rows and classes kept aside, whose error tells which price to take.
        """
        if self.nu is not None:
            raise ParameterError("a path is over prices, and nu stands in place of one: leave nu out")
        prices = np.unique(np.asarray(Cs, dtype=np.float64))
        if not len(prices) or not (np.isfinite(prices).all() and prices[0] > 0):
            raise ParameterError(f"Cs are positive finite prices; got {Cs!r}")
        one = clone(self)
        kernel, rows, codes, _ = one._numbered(X, y, None)
        training = Training.of(kernel, rows, codes, len(one.classes_))
        solver, machines, errors, found = one._solver(training, hold=True), None, [], []
        for before, C in zip([prices[0], *prices], prices, strict=False):
            machines = solver.solve(one._class_prices(C, training), machines, C / before)
            one._keep(Boundaries.of(training, machines))
            one._certify(machines)
            found.append((one.objective_, one.margin_, len(one.support_), one.n_iter_.sum(), one.kkt_residual_))
            if held_out is not None:
                errors.append(1.0 - one.score(*held_out))
        objective, margin, support, steps, residual = (np.array(column) for column in zip(*found, strict=True))
        return SVMPath(prices, objective, margin, support, steps, residual, np.array(errors) if errors else None)

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
            numbers = self._as_numbers(X, reset=False)
            self._compare_columns(numbers.numeric_columns)
            return np.concatenate(mapped_blocks(float_blocks(numbers), lambda part: found.decisions(part[1])))
        rows = self._checked(X, reset=False, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
        return found.decisions(as_rows(rows))

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

    def _in_passes(self, X: Any) -> bool:
        """Whether rows are read in passes and not held."""
        if self.solver not in ("auto", "primal"):
            raise ParameterError(f"solver is 'auto' or 'primal'; got {self.solver!r}")
        linear = self.kernel is not None and isinstance(as_kernel(self.kernel), Linear)
        priced = self._form().nu is None
        able = linear and np.isfinite(self._price()) and not self.probability and priced
        if self.solver == "primal" and not able:
            raise ParameterError(
                "solver 'primal' is for the linear kernel, a finite C and no probabilities, and not for nu"
            )
        return bool(able and (self.solver == "primal" or (isinstance(X, Source) and X.portable and not is_local())))

    def _fit_in_passes(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Self:
        X, y = self._taken_apart(X, y)
        if isinstance(X, Source):
            data: Any = self._as_numbers(X, reset=True)
            self._record_columns(data.numeric_columns, len(data.numeric_columns))
        else:
            data = self._checked(X, reset=True, accept_sparse="csr", dtype=np.float64)
        codes = self._class_numbers(y, len(y) if isinstance(data, Source) else data.shape[0])
        weights = self._row_weights(sample_weight, codes)
        self._check_tol()
        sizes = np.bincount(codes, weights, len(self.classes_))
        prices = price_of_classes(self._price(), self.class_weight, self.classes_.tolist(), sizes)
        lines, origin = lines_between(
            float_blocks(data),
            codes,
            prices,
            weights=weights,
            squared=self._form().squared,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self.kernel_, self.probA_, self.probB_ = Linear(), None, None
        self.support_ = self.support_vectors_ = self.n_support_ = self.dual_coef_ = self.kkt_residual_ = None
        self.coef_, self._origin = np.stack([line.coef for line in lines]), origin
        self._rho = np.array([-line.offset for line in lines])
        self.intercept_ = -self._rho - self.coef_ @ origin
        with np.errstate(divide="ignore"):
            self.margin_ = 1.0 / np.linalg.norm(self.coef_, axis=1)
        self.duality_gap_ = np.array([line.duality_gap for line in lines])
        self.objective_ = self.duality_gap_ - np.array([line.objective for line in lines])
        self.n_iter_ = np.array([line.iterations for line in lines])
        self.converged_, self.route_ = all(line.converged for line in lines), "primal in passes"
        self.C_ = np.full(len(lines), self._price())
        if not self.converged_:
            worst = max(line.duality_gap / line.objective for line in lines)
            warnings.warn(
                f"SVM: the duality gap is {worst:.2g} of the objective after {int(self.n_iter_.max())} steps, allowed "
                f"is {GAP * self.tol:.2g}: lower C, rescale the columns, or raise tol",
                NotConverged,
                stacklevel=4,
            )
        return self

    def _numbered(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Kernel, Array, NDArray[np.intp], Array | None]:
        rows, codes = self._labelled(X, y, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
        weights = self._row_weights(sample_weight, codes)
        kernel, rows = as_kernel(Gaussian() if self.kernel is None else self.kernel), as_rows(rows)
        if isinstance(kernel, Precomputed):
            rows = Gram.precomputed(rows).values
        if weights is None:
            return kernel.resolve(rows), rows, codes, None
        kept = weights > 0.0
        return resolved(kernel, rows[kept], weights[kept]), rows, codes, weights

    def _fit(self, kernel: Kernel, X: Array, codes: NDArray[np.intp], weights: Array | None = None) -> Self:
        C = self._price()

        def solve(training: Training) -> list[Machine]:
            return self._solver(training).solve(self._class_prices(C, training))

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
        limits = Limits(self.tol, self.cache_mb, self.max_iter, self._price())
        return PairSolver(training, self.classes_, limits, self._form(), hold=hold)

    def _form(self) -> Form:
        if self.loss not in ("hinge", "squared_hinge"):
            raise ParameterError(f"loss is 'hinge' or 'squared_hinge'; got {self.loss!r}")
        if self.nu is None:
            return Form(squared=self.loss != "hinge")
        if isinstance(self.nu, bool) or not (isinstance(self.nu, int | float | np.number) and 0.0 < self.nu <= 1.0):
            raise ParameterError(f"nu is a share of the rows, above 0 and at most 1; got {self.nu!r}")
        if self.C != 1.0:
            raise ParameterError(f"nu stands in place of C: give one of them; got C={self.C!r} and nu={self.nu!r}")
        if self.loss != "hinge":
            raise ParameterError("nu is a share of errors of the plain hinge: leave nu or loss='squared_hinge' out")
        return Form(nu=float(self.nu))

    def _check_tol(self) -> None:
        if not (isinstance(self.tol, int | float | np.number) and self.tol > 0.0):
            raise ParameterError(f"tol is a positive number; got {self.tol!r}")

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
        self.C_ = np.array([machine.price for machine in machines])
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

    def _class_prices(self, C: float, training: Training) -> Array:
        return price_of_classes(C, self.class_weight, self.classes_.tolist(), training.sizes)

    def _price(self) -> float:
        if self.C is None:
            return float("inf")
        if isinstance(self.C, bool) or not (isinstance(self.C, int | float | np.number) and self.C > 0.0):
            raise ParameterError(f"C is a positive price, or None for a hard margin; got {self.C!r}")
        return float(self.C)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or self.kernel == "precomputed"
        return tags
