"""Draws the example review of the README: ``python docs/example.py LOGS OUT``, which is ``make example``.

Page 1 of the PDF becomes a picture by way of the typesetter that is installed anyway.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import typst

from pipeline.cli import run

#: Enough for a sharp picture on a page that is shown at half its width.
DOTS_PER_INCH = 120

PAGE = '#set page(width: auto, height: auto, margin: 0pt)\n#image("review.pdf", page: 1, alt: "page 1")\n'


def main(logs: str, out: Path) -> int:
    """Write the review of the logs, keep its PDF and HTML, and draw its first page."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        with redirect_stdout(io.StringIO()):
            code = run(["report", logs, "--out", str(made / "review")])
        if code != 0:
            return code
        out.mkdir(parents=True, exist_ok=True)
        for name in ("review.pdf", "review.html"):
            shutil.copyfile(made / "review" / name, out / name)
        (made / "review" / "page.typ").write_text(PAGE, encoding="utf-8")
        typst.compile(
            made / "review" / "page.typ", output=out / "page-1.png", format="png", ppi=float(DOTS_PER_INCH)
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
