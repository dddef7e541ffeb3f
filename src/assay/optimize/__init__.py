"""Descent and the check of solutions: arrays and functions in, certificates out."""

from assay.optimize.descent import Descent, Record, gradient_descent
from assay.optimize.kkt import KKT, kkt_residuals
from assay.optimize.qp import linear_kkt, qp_kkt

__all__ = ["KKT", "Descent", "Record", "gradient_descent", "kkt_residuals", "linear_kkt", "qp_kkt"]
