"""The shape of the project: imports follow the arrows, nothing reads a clock, no text names a machine."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "pipeline"

#: Part of the package to the parts that it may import. Whatever is not listed may be imported by nobody.
#: Facts, settings and errors are the floor: they import only each other.
FLOOR = {
    "errors",
    "windows",
    "globs",
    "project",
    "plain",
    "config",
    "config_files",
    "config_values",
    "checked_toml",
    "places",
    "processes",
}
ARROWS = {
    "__main__": {"cli"},
    "cli": {"commands", "errors", "__init__"},
    "commands": {"ingest", "formats", "tables", "ledger", "report", "simulate", *FLOOR},
    "ingest": {"formats", "habits", "tables", *FLOOR},
    "formats": {"tables", "errors"},
    "tables": {"habits", "measures", "table"},
    "measures": {"table"},
    "habits": {"table"},
    "table": set[str](),
    "ledger": {"tables", *FLOOR},
    "report": {"ledger", *FLOOR},
    "simulate": {"tables", *FLOOR},
    "__init__": {"ledger"},
    **{part: FLOOR - {"config"} for part in FLOOR},
    "config": FLOOR,
}

MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    """``pipeline.ingest.clock`` for a module, ``pipeline.ingest`` for the ``__init__`` of a package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """The part of the package that a module belongs to."""
    return module.split(".")[1] if "." in module else "__init__"


def is_for_types(node: ast.AST) -> bool:
    """Whether a block is only read by type checkers."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports_of(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a module imports, at the top or inside a function."""
    names = {name_of(p) for p in MODULES}
    stack: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while stack:
        node = stack.pop()
        if is_for_types(node):
            continue
        stack.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.partition(".")[0] == "pipeline")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            if (node.module or "").partition(".")[0] == "pipeline":
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    yield inner if inner in names else str(node.module)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_follow_the_arrows(path: Path) -> None:
    own = part_of(name_of(path))
    allowed = {own, "__init__", *ARROWS[own]}  # the package itself holds the version and where it lies
    wrong = sorted(m for m in imports_of(path) if part_of(m) not in allowed)
    assert not wrong, f"`{own}` may import {sorted(allowed)}, and imports {wrong}"


def test_a_format_imports_only_what_a_format_is() -> None:
    for path in (PACKAGE / "formats").glob("*.py"):
        if path.stem not in ("__init__", "format"):
            wrong = [m for m in imports_of(path) if m.startswith(("pipeline.ingest", "pipeline.ledger"))]
            assert not wrong, f"{path.name} imports {wrong}"


def test_the_review_meets_the_ledger_only_through_its_queries() -> None:
    for path in (PACKAGE / "report").rglob("*.py"):
        wrong = [
            m
            for m in imports_of(path)
            if part_of(m) == "ledger"
            and not m.startswith(("pipeline.ledger.query", "pipeline.ledger.render"))
        ]
        assert not wrong, f"{path.name} imports {wrong}"


def test_no_module_imports_itself_over_others() -> None:
    graph = {name_of(p): set(imports_of(p)) - {name_of(p)} for p in MODULES}
    # The version and `pipeline.open` live in the package itself; importing them is no part of a cycle.
    graph["pipeline"] = set()
    assert list(TopologicalSorter(graph).static_order())


#: Calls whose answer depends on when or where they are made.
CLOCKS = re.compile(
    r"\b(datetime\.(now|utcnow|today)|date\.today|time\.(time|time_ns|localtime|gmtime|monotonic|perf_counter)"
    r"|tzlocal|uuid\.uuid[14]|socket\.gethostname|platform\.node)\b"
)
SQL_CLOCKS = re.compile(r"\b(now|today|random|uuid)\s*\(|\bcurrent_(date|time|timestamp)\b", re.IGNORECASE)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_reads_a_clock(path: Path) -> None:
    found = CLOCKS.findall(path.read_text(encoding="utf-8"))
    assert not found, f"{path.name} reads a clock or the machine"


def test_no_query_reads_a_clock() -> None:
    for path in sorted((ROOT / "sql").rglob("*.sql")):
        code = re.sub(r"--.*", "", path.read_text(encoding="utf-8"))
        assert not SQL_CLOCKS.search(code), f"{path.relative_to(ROOT)} reads a clock"


#: What a reader must never meet: places of one machine. Put together so that this file does not hold them.
PLACES = re.compile("|".join((r"(?<![\w.-])/w" + "ork/", r"\.lib" + "rary")), re.IGNORECASE)
TEXTS = {".py", ".sql", ".md", ".toml", ".csv", ".json", ".jsonl", ".txt", ".log", ".typ", ".css", ".j2", ""}


def tracked_files() -> list[Path]:
    """Files of the checkout that git knows; all files but the generated ones where there is no git."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    names = listed.stdout.decode().split("\0") if listed.returncode == 0 else []
    found = [ROOT / name for name in names if name]
    return [p for p in found or ROOT.glob("[!.]*/**/*") if p.is_file()]


def test_no_text_names_a_place_of_one_machine() -> None:
    for path in tracked_files():
        if path.suffix in TEXTS and path.stat().st_size < 2_000_000:
            text = path.read_text(encoding="utf-8", errors="replace")
            found = PLACES.search(text)
            assert found is None, f"{path.relative_to(ROOT)} names {found and found[0]}"


def test_modules_stay_small() -> None:
    long = {name_of(p): n for p in MODULES if (n := len(p.read_text(encoding="utf-8").splitlines())) > 300}
    assert not long, "a module that grows past 300 lines is usually two"
