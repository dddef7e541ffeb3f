"""Factorisations, eigenproblems and measures of matrices: arrays in, named results out."""

from assay.linalg.approximate import Approximation, best_definite, best_rank, ky_fan_eigenvalues, ky_fan_norm
from assay.linalg.blocks import block_inverse, centre, centring, schur_complement
from assay.linalg.factor import LU, QR, cholesky, lu, qr, solve_triangular
from assay.linalg.grouped_columns import GroupedColumns, grouped_columns
from assay.linalg.information import entropy, jensen_shannon, kl_divergence, perplexity
from assay.linalg.iterate import power_iteration, randomised, subspace_iteration
from assay.linalg.kinds import definiteness, is_isometry, is_orthogonal_projection, is_projection, loewner_order
from assay.linalg.lanczos import lanczos
from assay.linalg.least_squares import LeastSquares, lstsq
from assay.linalg.measures import LogDeterminant, determinant, log_determinant, norm, trace
from assay.linalg.permuted import PermutedSpectrum, permuted_spectrum
from assay.linalg.procrustes import Procrustes, procrustes
from assay.linalg.random_matrix import (
    MarchenkoPastur,
    SpectrumLaw,
    debias,
    marchenko_pastur,
    spectrum_law,
    spike_alignment,
    spike_eigenvalue,
)
from assay.linalg.ritz import TopEigen
from assay.linalg.solve import Solution, solve
from assay.linalg.spaces import (
    basis,
    change_of_basis,
    coordinates,
    independent,
    independent_columns,
    null_space,
    rank,
)
from assay.linalg.spectral import (
    SVD,
    GeneralSpectrum,
    Spectrum,
    column_signs,
    eigen,
    eigen_symmetric,
    fix_signs,
    generalized_eigen,
    svd,
)
from assay.linalg.top import top_eigen
from assay.linalg.top_svd import TopSVD, top_svd
from assay.linalg.tracy_widom import tracy_widom_cdf, tracy_widom_quantile, tracy_widom_sf

__all__ = [
    "LU",
    "QR",
    "SVD",
    "Approximation",
    "GeneralSpectrum",
    "GroupedColumns",
    "LeastSquares",
    "LogDeterminant",
    "MarchenkoPastur",
    "PermutedSpectrum",
    "Procrustes",
    "Solution",
    "Spectrum",
    "SpectrumLaw",
    "TopEigen",
    "TopSVD",
    "basis",
    "best_definite",
    "best_rank",
    "block_inverse",
    "centre",
    "centring",
    "change_of_basis",
    "cholesky",
    "column_signs",
    "coordinates",
    "debias",
    "definiteness",
    "determinant",
    "eigen",
    "eigen_symmetric",
    "entropy",
    "fix_signs",
    "generalized_eigen",
    "grouped_columns",
    "independent",
    "independent_columns",
    "is_isometry",
    "is_orthogonal_projection",
    "is_projection",
    "jensen_shannon",
    "kl_divergence",
    "ky_fan_eigenvalues",
    "ky_fan_norm",
    "lanczos",
    "loewner_order",
    "log_determinant",
    "lstsq",
    "lu",
    "marchenko_pastur",
    "norm",
    "null_space",
    "permuted_spectrum",
    "perplexity",
    "power_iteration",
    "procrustes",
    "qr",
    "randomised",
    "rank",
    "schur_complement",
    "solve",
    "solve_triangular",
    "spectrum_law",
    "spike_alignment",
    "spike_eigenvalue",
    "subspace_iteration",
    "svd",
    "top_eigen",
    "top_svd",
    "trace",
    "tracy_widom_cdf",
    "tracy_widom_quantile",
    "tracy_widom_sf",
]
