"""The documentation is true: commands print what it shows, pages are fresh, links lead somewhere."""

from __future__ import annotations

import csv
import importlib.util
import re
import tomllib
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest

from pipeline.cli import COMMANDS
from pipeline.config import Config, RunConfig, load_config
from pipeline.project import read_seed

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
README = (ROOT / "README.md").read_text(encoding="utf-8")


def load_script(name: str) -> ModuleType:
    """A script of ``docs/``, which is no part of the package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_fresh() -> None:
    pages = load_script("generate").pages()
    stale = [path.name for path, text in pages.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, f"run `make docs`: {stale}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_shown_in_the_readme(name: str) -> None:
    assert f"goodput {name}" in README


def test_every_make_target_of_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {m for page in PAGES for m in re.findall(r"`make ([a-z]+)", page.read_text(encoding="utf-8"))}
    assert named <= targets


def anchors(page: Path) -> set[str]:
    """The anchors that the headings of a page make."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://")):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(file), f"{page.name} links to {target}"


def test_every_category_of_the_ledger_page_exists() -> None:
    text = (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|[^|]+\|[^|]+\| `(\w+)`", text, re.MULTILINE)
    assert rows
    assert set(rows) <= {row["category"] for row in read_seed("categories")}


def test_every_key_of_the_configuration_is_documented_and_read(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    block = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert block
    (tmp_path / "goodput.toml").write_text(block[1], encoding="utf-8")
    config = load_config([str(tmp_path)])
    (run,) = config.runs
    beside = {"verdicts", "actions"}
    unset = [f.name for f in fields(Config) if f.name not in beside and not getattr(config, f.name)]
    unset += [f.name for f in fields(RunConfig) if f.name != "fleet" and not getattr(run, f.name)]
    (rule,) = config.classes
    unset += [f.name for f in fields(type(rule)) if getattr(rule, f.name) is None]
    assert not unset, "the example sets every key"
    assert set(config.targets) == set(tomllib.loads(block[1])["targets"])


def test_the_readme_shows_what_its_commands_print(tmp_path: Path) -> None:
    if not (ROOT / ".venv" / "bin" / "goodput").exists():
        pytest.skip("the README runs what `make setup` installs, and .venv is not there")
    transcript = load_script("transcript")
    assert transcript.refresh(README, transcript.in_lookalike(tmp_path)) == README, "run `make docs`"
    assert (tmp_path / "reports" / "fallen-gpu" / "review.pdf").is_file()


def test_the_picture_of_the_readme_is_there() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert pictures
    for picture in pictures:
        assert (ROOT / picture).read_bytes().startswith(b"\x89PNG")


def test_every_definition_of_goodput_has_its_place_and_the_value_of_the_worked_day() -> None:
    page = (ROOT / "docs" / "definitions.md").read_text(encoding="utf-8")
    with (ROOT / "sql" / "seeds" / "definitions.csv").open(encoding="utf-8", newline="") as file:
        names = [row["definition"] for row in csv.DictReader(file)]
    headings = " ".join(line for line in page.splitlines() if line.startswith("##"))
    assert [name for name in names if f"`{name}`" not in headings] == []
    sections = [part for part in re.split(r"^###? ", page, flags=re.MULTILINE) if part.startswith("`")]
    ours = "`training_time_goodput`"
    silent = [part.splitlines()[0] for part in sections if "*Where it disagrees:*" not in part]
    assert [heading for heading in silent if not heading.startswith(ours)] == []
    case = ROOT / "tests" / "sql" / "marts.definitions" / "worked_day" / "expected.csv"
    with case.open(encoding="utf-8", newline="") as file:
        values = {row["definition"]: float(row["value"]) for row in csv.DictReader(file)}
    told = {
        name: cells[-1].removesuffix(" %")
        for line in page.splitlines()
        if line.startswith("| `") and line.endswith(" % |")
        for cells in [[cell.strip() for cell in line.strip("|").split("|")]]
        for name in re.findall(r"`(\w+)`", cells[0])
    }
    assert told == {
        name: f"{100 * value:.2f}"
        for name, value in values.items()
        if name not in ("program_goodput", "sliding_ettr_least")
    }
