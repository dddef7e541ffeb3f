"""Findings to a page, to JSON for programs, and to text for the terminal."""

from assay.report.write import write_report

__all__ = ["write_report"]
