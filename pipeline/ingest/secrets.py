"""Keys, tokens and passwords in texts of logs → masked, before anything is written."""

from __future__ import annotations

import polars as pl

MASK = "***"

#: Columns that hold free text, by table.
_TEXTS: dict[str, tuple[str, ...]] = {
    "signals": ("text", "device", "node", "code"),
    "facts": ("key", "value"),
    "phases": ("detail",),
    "checkpoints": ("path",),
    "allocations": ("name", "user", "account", "qos", "partition", "reason"),
    "nodes": ("reason",),
    "timers": ("component",),
    "telemetry": ("metric",),
    "templates": ("template", "example"),
}

#: Expression and what takes its place. The name of a secret stays, so that one sees what was masked.
_RULES: tuple[tuple[str, str], ...] = (
    # https://user:password@host, and signatures in the query of a URL
    (r"(://[^\s/:@]*:)[^\s/@]+@", f"${{1}}{MASK}@"),
    (r"(?i)([?&](?:sig|signature|token|x-amz-[a-z-]+|access_token|key)=)[^\s&\"']+", f"${{1}}{MASK}"),
    (r"(hooks\.slack\.com/[a-z]+/)[^\s\"']+", f"${{1}}{MASK}"),
    # NAME=value, "name": "value" and name .... value of environment dumps and configurations
    (
        r"(?i)((?:passwd|password|passphrase|pwd|secret|api_?key|access_?key(?:_?id)?|secret_?key|private_?key"
        r"|(?:auth|access|session|security|bearer|refresh|id|hf|api|github|gitlab|git|job|bot|user)_?token)"
        r"[\"']?\s*(?:[=:]|\.{3,})\s*[\"']?)[^\s\"',;}&]{4,}",
        f"${{1}}{MASK}",
    ),
    (
        r"(\b[A-Z0-9_]*(?:TOKEN|SECRET|PASSWORD|CREDENTIALS)[\"']?\s*[=:]\s*[\"']?)[^\s\"',;}&]{4,}",
        f"${{1}}{MASK}",
    ),
    (r"(?i)(\bauthorization[\"']?\s*[=:]\s*[\"']?(?:\w+\s+)?)[A-Za-z0-9._~+/-]{8,}=*", f"${{1}}{MASK}"),
    (r"(?i)(\bbearer\s+)[A-Za-z0-9._~+/-]{12,}=*", f"${{1}}{MASK}"),
    # Keys that tell by their shape what they are
    (r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", MASK),
    (r"\bgh[pousr]_[A-Za-z0-9]{20,}\b", MASK),
    (r"\bgithub_pat_[A-Za-z0-9_]{20,}", MASK),
    (r"\bgl[a-z]{2,5}-[A-Za-z0-9_-]{16,}", MASK),
    (r"\bAIza[A-Za-z0-9_-]{30,}", MASK),
    (r"\bhf_[A-Za-z0-9]{20,}\b", MASK),
    (r"\bsk-[A-Za-z0-9_-]{20,}", MASK),
    (r"\bxox[abprs]-[A-Za-z0-9-]{10,}", MASK),
    (r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*", MASK),
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*", MASK),
)
_ANY = "|".join(f"(?:{regex})" for regex, _ in _RULES)


def mask_text(text: pl.Series) -> pl.Series:
    """Return texts in which secrets are masked."""
    marked = text.str.contains(_ANY).fill_null(False)
    if not marked.any():
        return text
    masked = text
    for regex, replacement in _RULES:
        masked = masked.str.replace_all(regex, replacement)
    return masked.zip_with(marked, text)


def mask_rows(table: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Return event rows in which the secrets of their texts are masked."""
    return rows.with_columns(mask_text(rows[name]).alias(name) for name in _TEXTS.get(table, ()))
