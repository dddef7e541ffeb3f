"""Make the pictures of docs/guide/embeddings.md: python docs/img/embeddings.py (needs Chromium on the path)."""

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --virtual-time-budget=8000"
)
# page, picture, size of the window, the part of it that is kept
SHOTS = (
    ("city_map", "city-map", (1040, 900), (20, 80, 1020, 835)),
    ("swiss_roll", "swiss-roll", (1100, 1300), (20, 80, 1080, 1230)),
    ("digits", "digits", (1100, 900), (20, 80, 1080, 890)),
)
GROUND = "#f7f7f5"
WIDTH, COLOURS = 800, 256  # keep the pictures under 100 KB


def shoot(page, window, part):
    """A picture of part of a page, without empty margins."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "page.png"
        size = f"--window-size={window[0]},{window[1]}"
        flags = [*FLAGS.split(), size, f"--user-data-dir={folder}/profile", f"--screenshot={target}"]
        browser = shutil.which("chromium") or shutil.which("google-chrome")
        subprocess.run([browser, *flags, page.as_uri()], check=True, capture_output=True)
        picture = Image.open(io.BytesIO(target.read_bytes())).convert("RGB").crop(part)
    return picture.crop(ImageChops.difference(picture, Image.new("RGB", picture.size, GROUND)).getbbox())


def main():
    """Run the examples and picture their pages."""
    with tempfile.TemporaryDirectory() as folder:
        for script in ("city_map.py", "embeddings.py"):
            subprocess.run([sys.executable, EXAMPLES / script], cwd=folder, check=True)
        for page, name, window, part in SHOTS:
            picture = shoot(Path(folder) / f"{page}.html", window, part)
            picture = picture.resize((WIDTH, picture.height * WIDTH // picture.width), Image.Resampling.LANCZOS)
            # colours of groups stay apart: the usual method merges those that few pixels have
            few = picture.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
            few.save(HERE / f"{name}.png", optimize=True)
            print(name, (HERE / f"{name}.png").stat().st_size // 1024, "KB")


if __name__ == "__main__":
    main()
