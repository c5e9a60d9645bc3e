"""Secrets of many kinds, planted where people leave them: none is in anything that is written."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import zlib
from pathlib import Path

import duckdb
import pytest

from pipeline.cli import run as command

STORY = Path(__file__).resolve().parents[1] / "data" / "samples" / "fallen-gpu"

#: Kind of a secret to the text that must not be seen, and the line that holds it.
PLANTED = {
    "aws access key": ("AKIAQ7ZKXW3MHERON01A", "AWS_ACCESS_KEY_ID=AKIAQ7ZKXW3MHERON01A"),
    "aws secret key": (
        "wJalrXUtnFEMIhErOn7MDENGbPxRfiCYEXAMPLEK",
        "aws_secret_access_key = wJalrXUtnFEMIhErOn7MDENGbPxRfiCYEXAMPLEK",
    ),
    "session token": (
        "FwoGZXIvYXdzEHeronTokenQ12345678",
        "AWS_SESSION_TOKEN=FwoGZXIvYXdzEHeronTokenQ12345678",
    ),
    "github token": (
        "ghp_h3r0nh3r0nh3r0nh3r0nh3r0nh3r0n01",
        "git clone with ghp_h3r0nh3r0nh3r0nh3r0nh3r0nh3r0n01",
    ),
    "fine-grained github token": (
        "github_pat_11HERON0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789",
        "GITHUB_TOKEN: github_pat_11HERON0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789",
    ),
    "gitlab token": ("glpat-h3r0nh3r0nh3r0nh3r0", "CI_JOB_TOKEN glpat-h3r0nh3r0nh3r0nh3r0"),
    "hugging face token": (
        "hf_HeRoNHeRoNHeRoNHeRoNHeRoNHeRoN0001",
        "login with hf_HeRoNHeRoNHeRoNHeRoNHeRoNHeRoN0001 failed",
    ),
    "openai key": (
        "sk-proj-h3r0nH3R0Nh3r0nH3R0Nh3r0n",
        "ValueError: bad key sk-proj-h3r0nH3R0Nh3r0nH3R0Nh3r0n",
    ),
    "wandb key": (
        "0123456789abcdef0123456789abcdef01234567",
        "WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567",
    ),
    "slack token": ("xoxb-112233445566-HeronHeronHeron", "notify: xoxb-112233445566-HeronHeronHeron"),
    "slack hook": (
        "T0HERON00/B0HERON00/h3r0nh3r0nh3r0nh3r0nh3r0",
        "POST https://hooks.slack.com/services/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",
    ),
    "google key": (
        "AIzaSyHeron0Heron1Heron2Heron3Heron4Her",
        "key AIzaSyHeron0Heron1Heron2Heron3Heron4Her rejected",
    ),
    "json web token": (
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJoZXJvbiJ9.c2lnbmF0dXJlaGVyb24",
        "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJoZXJvbiJ9.c2lnbmF0dXJlaGVyb24",
    ),
    "bearer": (
        "c2VjcmV0LWhlcm9uLXRva2Vu.abc123",
        "header authorization: bearer c2VjcmV0LWhlcm9uLXRva2Vu.abc123",
    ),
    "basic authorization": ("aGVyb246czNjcjN0LWhlcm9u", "Authorization: Basic aGVyb246czNjcjN0LWhlcm9u"),
    "password in a url": ("h3r0n-pa55", "saved to https://heron:h3r0n-pa55@store.example/ckpt/step-100"),
    "signature in a url": (
        "h3r0nSigNatur3%2FxyZ",
        "GET https://store.example/a?X-Amz-Signature=h3r0nSigNatur3%2FxyZ&x=1",
    ),
    "sas token": ("h3r0nSaS%2Bsig%3D", "https://acct.blob.example/c?sv=2024&sig=h3r0nSaS%2Bsig%3D&se=2026"),
    "password in a dump": ("hunter-heron-2", "  db_password ............................ hunter-heron-2"),
    "private key": ("MIIEvQIBADANBgkqhkiGheron", "-----BEGIN PRIVATE KEY----- MIIEvQIBADANBgkqhkiGheron"),
    "private key in a document": (
        "MIIEvAIBADANBgkqhkiGher0n",
        '"private_key": "-----BEGIN PRIVATE KEY-----\\nMIIEvAIBADANBgkqhkiGher0n\\n-----END PRIVATE"',
    ),
    "token alone in a url": (
        "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
        "Cloning from https://9f8e7d6c5b4a39281706f5e4d3c2b1a0@git.example/aviary/heron",
    ),
    "storage account key": (
        "Zm9vYmFyYmF6aGVyb24xMjM0NQ==",
        "AccountName=heron;AccountKey=Zm9vYmFyYmF6aGVyb24xMjM0NQ==;EndpointSuffix=core.example",
    ),
    "google token": ("ya29.a0AfH6heron0123456789abc", "using ya29.a0AfH6heron0123456789abc"),
    "option with a blank": ("h3r0n-0pt10n", "srun python train.py --db-password h3r0n-0pt10n --lr 1e-4"),
    "option with a sign": ("h3r0n-k3y-0123", "python train.py --api-key=h3r0n-k3y-0123 --lr 1e-4"),
    "header of a request": ("h3r0n-h34d3r-0123", "> X-API-Key: h3r0n-h34d3r-0123"),
    "text within a text": (
        "h3r0n-1n-j50n",
        'body: {\\"password\\": \\"h3r0n-1n-j50n\\", \\"user\\": \\"owl\\"}',
    ),
    "password of a login file": ("h3r0n0l0g1n", "machine api.example login heron password h3r0n0l0g1n"),
    "key of a login": (
        "89abcdef0123456789abcdef0123456789abcdef",
        "+ wandb login 89abcdef0123456789abcdef0123456789abcdef",
    ),
    "registry": ("b3dsOmhlcm9uLXBhc3M=", '"registry.example": {"auth": "b3dsOmhlcm9uLXBhc3M="}'),
    "user of a request": ("h3r0n-cur1", "curl -u heron:h3r0n-cur1 https://store.example/up"),
    "name that goes on": ("h3r0n-3xp0rt", "export MYAPP_SECRET_VALUE=h3r0n-3xp0rt"),
    "package index": ("pypi-AgEIcHlwaS5heronheron", "twine upload -p pypi-AgEIcHlwaS5heronheron"),
}

#: A key as it stands in a file: no line but the first and the last says what it is.
KEY = ("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz", "ZWQyNTUxOQher0n")
#: A token of which a text that is cut after 500 characters has the beginning.
CUT = ("ghp_Cut", f"{'x' * 470} ghp_Cut{'c' * 33}")
KEY_LINES = ("-----BEGIN OPENSSH PRIVATE KEY-----", *KEY, "-----END OPENSSH PRIVATE KEY-----")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A review of a story in whose logs every secret stands in several places, and beside it in others."""
    root = tmp_path_factory.mktemp("secrets")
    shutil.copytree(STORY, root / "logs")
    lines = [line for _, line in (*PLANTED.values(), CUT)]
    console = next(iter(sorted((root / "logs").glob("*/*.out"))))
    console.write_text(
        "\n".join([*lines, *KEY_LINES, console.read_text(encoding="utf-8").rstrip("\n"), *lines]) + "\n",
        encoding="utf-8",
    )
    errors = next(iter(sorted((root / "logs").glob("*/*.err"))))
    text = errors.read_text(encoding="utf-8").rstrip("\n")
    errors.write_text(
        "\n".join([text, *(f"RuntimeError: {line}" for line in lines), *(f"rank: {line}" for line in lines)])
        + "\n",
        encoding="utf-8",
    )
    accounting = next(iter(sorted((root / "logs").glob("sacct*"))))
    rows = accounting.read_text(encoding="utf-8").splitlines()
    accounting.write_text("\n".join([*rows, *lines]) + "\n", encoding="utf-8")
    stamp = "[Sun Mar  1 10:11:12 2026]"
    (root / "logs" / "nodes" / "gx777.dmesg.txt").write_text(
        "".join(
            f"{stamp} audit: argc=2 a1={line}\n{stamp} NVRM: Xid (PCI:0000:9b:00): 79, pid=1, name={line}\n"
            for line in lines
        ),
        encoding="utf-8",
    )
    (root / "logs" / "events.json").write_text(
        json.dumps(
            {"apiVersion": "v1", "kind": "EventList", "items": [event(line) for line in lines]}, indent=1
        ),
        encoding="utf-8",
    )
    with gzip.open(root / "logs" / "rank0.pt.trace.json.gz", "wt", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": [kernel(line) for line in lines]}, file)
    command(["report", str(root / "logs"), "--out", str(root / "out")])
    return root


def event(line: str) -> dict[str, object]:
    """Return an event of Kubernetes that says a line."""
    return {
        "kind": "Event",
        "metadata": {"creationTimestamp": "2026-03-01T09:00:00Z", "resourceVersion": "17"},
        "involvedObject": {"kind": "Pod", "name": "heron-0", "namespace": "llm"},
        "reason": "FailedMount",
        "message": f"MountVolume.SetUp failed: {line}",
        "type": "Warning",
        "firstTimestamp": "2026-03-01T09:00:00Z",
        "lastTimestamp": "2026-03-01T09:00:00Z",
    }


def kernel(line: str) -> dict[str, object]:
    """Return a kernel of a trace that waits for others of a group that is called so."""
    told = {"stream": 7, "Process Group Name": line}
    return {
        "ph": "X",
        "cat": "kernel",
        "name": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)",
        "pid": 0,
        "tid": 7,
        "ts": 1000,
        "dur": 5,
        "args": told,
    }


@pytest.fixture(scope="module")
def shown(written: Path) -> dict[str, str]:
    """Return all that was written as text."""
    return outputs(written)


def outputs(root: Path) -> dict[str, str]:
    """Return all that was written as text: files as they are, tables row by row, pages decompressed."""
    found: dict[str, str] = {}
    for path in sorted((root / "out").rglob("*")):
        if path.is_file() and path.suffix == ".parquet":
            found[str(path)] = str(duckdb.sql(f"select * from read_parquet('{path}')").fetchall())
        elif path.is_file():
            content = path.read_bytes()
            streams = (
                re.findall(rb"stream\r?\n(.*?)endstream", content, re.S) if path.suffix == ".pdf" else []
            )
            for stream in streams:
                try:
                    content += zlib.decompress(stream)
                except zlib.error:
                    continue
            found[str(path)] = content.decode("latin-1")
    with duckdb.connect(str(root / "out" / "goodput.duckdb"), read_only=True) as con:
        for schema, table in con.execute(
            "select table_schema, table_name from information_schema.tables"
        ).fetchall():
            found[f"{schema}.{table}"] = str(con.execute(f'from "{schema}"."{table}"').fetchall())
    return found


@pytest.mark.parametrize("kind", PLANTED)
def test_no_secret_is_written(kind: str, shown: dict[str, str]) -> None:
    secret = PLANTED[kind][0]
    assert [name for name, text in shown.items() if secret in text] == []


def test_no_line_of_a_key_and_no_part_of_a_token_is_written(shown: dict[str, str]) -> None:
    assert [name for name, text in shown.items() if any(part in text for part in (*KEY, CUT[0]))] == []


def test_no_command_prints_a_secret(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with duckdb.connect(str(written / "out" / "goodput.duckdb"), read_only=True) as con:
        incidents = [row[0] for row in con.execute("select incident_id from ledger.incidents").fetchall()]
    capsys.readouterr()
    command(["doctor", str(written / "logs")])
    for incident in incidents:
        command(["explain", "--store", str(written / "out"), incident])
    printed = capsys.readouterr().out
    assert len(printed) > 1000
    assert [kind for kind, (secret, _) in PLANTED.items() if secret in printed] == []
    assert [line for line in KEY if line in printed] == []


def test_what_was_masked_is_marked(shown: dict[str, str]) -> None:
    """The name of a secret stays, so that one sees that there was one."""
    templates = [text for name, text in shown.items() if name == "events.templates"]
    assert templates
    assert "***" in templates[0]


def test_every_secret_was_in_the_logs_and_was_read(written: Path, shown: dict[str, str]) -> None:
    logs = "".join(
        path.read_text(encoding="utf-8", errors="replace") for path in (written / "logs").rglob("*.out")
    )
    assert [kind for kind, (secret, _) in PLANTED.items() if secret not in logs] == []
    assert len(PLANTED) >= 20
    for table in ("events.signals", "events.profiles", "events.templates"):
        assert "***" in shown[table]
