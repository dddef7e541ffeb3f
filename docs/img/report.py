"""Make the picture of the report in the README: python docs/img/report.py (needs Chromium)."""

import io
from pathlib import Path

from PIL import Image

import assay
from assay.report.page import render
from assay.views.html.browser import page_picture

HERE = Path(__file__).parent
WIDTH, HEIGHT, SCALE = 1200, 1090, 1000 / 1200  # of the window, and pixels of the picture to one of it

if __name__ == "__main__":
    page = render(assay.study(HERE.parents[1] / "examples" / "data" / "wholesale_customers.csv"))
    drawn = Image.open(io.BytesIO(page_picture(page, WIDTH, HEIGHT, SCALE)))
    drawn.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(HERE / "report.png", optimize=True)
