"""Factorisations, eigenproblems and measures of matrices: arrays in, named results out."""

from assay.linalg.dense.approximate import Approximation, best_definite, best_rank, ky_fan_eigenvalues, ky_fan_norm
from assay.linalg.dense.block_matrices import block_inverse, centre, centring, schur_complement
from assay.linalg.dense.factor import LU, QR, cholesky, lu, qr, solve_triangular
from assay.linalg.dense.matrix_properties import (
    definiteness,
    is_isometry,
    is_orthogonal_projection,
    is_projection,
    loewner_order,
)
from assay.linalg.dense.measures import LogDeterminant, determinant, log_determinant, norm, trace
from assay.linalg.dense.procrustes import Procrustes, procrustes
from assay.linalg.dense.solve import Solution, solve
from assay.linalg.dense.spaces import (
    basis,
    change_of_basis,
    coordinates,
    independent,
    independent_columns,
    null_space,
    rank,
)
from assay.linalg.eigen.grouped_columns import GroupedColumns, grouped_columns
from assay.linalg.eigen.iterate import power_iteration, randomised, subspace_iteration
from assay.linalg.eigen.lanczos import lanczos
from assay.linalg.eigen.ritz import TopEigen
from assay.linalg.eigen.spectral import (
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
from assay.linalg.eigen.top import top_eigen
from assay.linalg.eigen.top_svd import TopSVD, top_svd
from assay.linalg.information import entropy, jensen_shannon, kl_divergence, perplexity
from assay.linalg.noise.permutation_test import PermutedSpectrum, permuted_spectrum
from assay.linalg.noise.random_matrix import (
    MarchenkoPastur,
    SpectrumLaw,
    debias,
    marchenko_pastur,
    spectrum_law,
    spike_alignment,
    spike_eigenvalue,
)
from assay.linalg.noise.tracy_widom import tracy_widom_cdf, tracy_widom_quantile, tracy_widom_sf
from assay.linalg.regression.least_squares import LeastSquaresFit, lstsq

__all__ = [
    "LU",
    "QR",
    "SVD",
    "Approximation",
    "GeneralSpectrum",
    "GroupedColumns",
    "LeastSquaresFit",
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
