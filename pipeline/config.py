"""What logs cannot tell: ``goodput.toml`` and the tables beside it. Everything works with none of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from pipeline.config_files import build_config
from pipeline.config_values import (
    EMPTY_CONFIG,
    Action,
    ClassRule,
    Config,
    Maintenance,
    Price,
    Privacy,
    ReportConfig,
    RunConfig,
    SourceRule,
    Verdict,
    ZoneRule,
)
from pipeline.errors import GoodputError
from pipeline.places import is_url, open_store

__all__ = [
    "CONFIG_FILES",
    "EMPTY_CONFIG",
    "Action",
    "ClassRule",
    "Config",
    "Maintenance",
    "Price",
    "Privacy",
    "ReportConfig",
    "RunConfig",
    "SourceRule",
    "Verdict",
    "ZoneRule",
    "load_config",
    "without_effect",
]

#: Files beside the logs that configure and are never read as logs.
CONFIG_FILES = ("goodput.toml", "verdicts.csv", "actions.csv", "nodes.csv")


def load_config(logs: Sequence[str], explicit: Path | None = None) -> Config:
    """Return the configuration beside the logs or the one named; EMPTY_CONFIG where there is none.

    ``verdicts.csv`` and ``actions.csv`` are read from the folder of ``goodput.toml``, or else from the folder
    of the logs. A file that cannot be read or says something unknown is a GoodputError.
    """
    folder = explicit.parent if explicit is not None else _folder_of_config(logs)
    if folder is None:
        texts = _texts_of_stores(logs)
        return build_config(texts, _hash_of(texts)) if texts else EMPTY_CONFIG
    paths = [explicit or folder / CONFIG_FILES[0], *(folder / name for name in CONFIG_FILES[1:3])]
    texts = {path: _read_text(path) for path in paths if path == explicit or path.is_file()}
    return build_config(texts, _hash_of(texts)) if texts else EMPTY_CONFIG


def without_effect(config: Config) -> tuple[str, ...]:
    """Return the keys that were set and change nothing in this version: no setting is ignored in silence."""
    return ("[classes]",) if config.classes else ()


def _texts_of_stores(logs: Sequence[str]) -> dict[Path, str]:
    """Return the files of ours below the one URL of a store that has any."""
    texts: dict[Path, str] = {}
    for url in filter(is_url, map(str, logs)):
        files, root = open_store(url)
        for name in CONFIG_FILES[:3]:
            path = f"{root.rstrip('/')}/{name}"
            if files.isfile(path):
                if Path(name) in texts:
                    raise GoodputError(
                        "more than one configuration",
                        where=url,
                        now="name the one that counts with `--config FILE`",
                    )
                texts[Path(name)] = files.cat_file(path).decode("utf-8-sig", "replace")
    return texts


def _folder_of_config(logs: Sequence[str]) -> Path | None:
    """Return the one folder of the logs that holds a file of ours; more than one is an error."""
    folders: dict[Path, None] = {}
    for log in logs:
        if is_url(str(log)):
            continue
        path = Path(log)
        folder = path if path.is_dir() else path.parent
        if any((folder / name).is_file() for name in CONFIG_FILES[:3]):
            folders[folder] = None
    if len(folders) > 1:
        raise GoodputError(
            "more than one configuration",
            where=", ".join(str(folder / CONFIG_FILES[0]) for folder in folders),
            why="the logs lie in several folders, and each brings its own",
            now="name the one that counts with `--config FILE`",
        )
    return next(iter(folders), None)


def _read_text(path: Path) -> str:
    """Return the text of a configuration file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise GoodputError(
            "the configuration does not exist", where=str(path), now="check `--config`"
        ) from None
    except OSError as error:
        raise GoodputError(
            "the configuration cannot be read", where=str(path), why=(error.strerror or str(error)).lower()
        ) from None
    except UnicodeDecodeError as error:
        raise GoodputError(
            "the configuration is not UTF-8 text",
            where=str(path),
            why=f"byte {error.start} is not valid UTF-8",
        ) from None


def _hash_of(texts: Mapping[Path, str]) -> str:
    """Return a hash of names and texts that does not depend on the folder."""
    digest = blake2b(digest_size=16)
    for path, text in texts.items():
        digest.update(f"{path.suffix}\0{len(text)}\0{text}".encode())
    return digest.hexdigest()
