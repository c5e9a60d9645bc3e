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
    "allocations": ("cluster", "name", "user", "account", "qos", "partition", "state_by", "reason"),
    "nodes": ("reason",),
    "timers": ("component",),
    "profiles": ("component", "process_group"),
    "collectives": ("operation",),
    "telemetry": ("metric", "unit"),
    "templates": ("template", "example"),
}

#: What people call a secret, in the spellings of programs, environments and options.
_NAMES = (
    r"(?:passwd|password|passphrase|pwd|secret(?:[_-]\w+)?|api[_-]?key|access[_-]?key(?:[_-]?id)?"
    r"|(?:account|secret|private|client|signing|encryption|wandb|master)[_-]?key"
    r"|(?:auth|access|session|security|bearer|refresh|id|hf|hub|api|github|gitlab|git|job|bot|user|wandb)[_-]?token)"
)
#: What stands between a name and its value, which a text within a text escapes: `: `, `=`, `....`, `\": \"`.
_IS = r"\\*[\"']?\s*(?:[=:]|\.{3,})\s*"

#: Expression and what takes its place. The name of a secret stays, so that one sees what was masked.
_RULES: tuple[tuple[str, str], ...] = (
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*", MASK),
    # https://user:password@host, a token alone there, and signatures in the query of a URL
    (r"(://[^\s/:@]*:)[^\s/@]+@", f"${{1}}{MASK}@"),
    (r"(://)[A-Za-z0-9_.~%+=-]{16,}@", f"${{1}}{MASK}@"),
    (r"(?i)([?&](?:sig|signature|token|x-amz-[a-z-]+|access_token|key)=)[^\s&\"']+", f"${{1}}{MASK}"),
    (r"(hooks\.slack\.com/[a-z]+/)[^\s\"']+", f"${{1}}{MASK}"),
    # NAME=value, "name": "value" and name .... value of environment dumps and configurations
    (rf"(?i)({_NAMES}{_IS}\\*[\"'])[^\"'\\]{{4,}}", f"${{1}}{MASK}"),
    (rf"(?i)({_NAMES}{_IS})[^\s\"',;}}&\\]{{4,}}", f"${{1}}{MASK}"),
    (
        r"(\b[A-Z0-9_]*(?:TOKEN|SECRET|PASSWORD|CREDENTIALS)[\"']?\s*[=:]\s*[\"']?)[^\s\"',;}&]{4,}",
        f"${{1}}{MASK}",
    ),
    # --name value, of any program; what tools call otherwise
    (
        rf"(?i)((?:^|[\s\"'|,=:(\[])--?(?:[\w-]*[_-])?(?:{_NAMES}|token|credentials)[\s=]+[\"']?)[^\s\"'|-][^\s\"'|]{{3,}}",
        f"${{1}}{MASK}",
    ),
    (r"(?i)(\b(?:login|user|account)\s+\S+\s+password\s+)[^\s|]+", f"${{1}}{MASK}"),
    (r"(?i)(\b(?:curl|wget|https?)\b.*?\s(?:-u|--user)[ =]+[^\s:]+:)[^\s|]+", f"${{1}}{MASK}"),
    (r"(?i)(\bwandb\b.*?\s)[0-9a-f]{40}\b", f"${{1}}{MASK}"),
    (r"([\"']auth\\*[\"']\s*:\s*\\*[\"'])[A-Za-z0-9+/=]{8,}", f"${{1}}{MASK}"),
    (r"(?i)(\bauthorization[\"']?\s*[=:]\s*[\"']?(?:\w+\s+)?)[A-Za-z0-9._~+/-]{8,}=*", f"${{1}}{MASK}"),
    (r"(?i)(\bbearer\s+)[A-Za-z0-9._~+/-]{12,}=*", f"${{1}}{MASK}"),
    # Keys that tell by their shape what they are
    (r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", MASK),
    (r"\bgh[pousr]_[A-Za-z0-9]{20,}\b", MASK),
    (r"\bgithub_pat_[A-Za-z0-9_]{20,}", MASK),
    (r"\bgl[a-z]{2,5}-[A-Za-z0-9_-]{16,}", MASK),
    (r"\bAIza[A-Za-z0-9_-]{30,}", MASK),
    (r"\b(?:ya29\.|GOCSPX-|hvs\.|SG\.)[A-Za-z0-9._-]{16,}", MASK),
    (r"\b(?:npm|hf|api_org)_[A-Za-z0-9]{20,}\b", MASK),
    (r"\b(?:wandb_v1|dckr_pat|dop_v1)_[A-Za-z0-9_-]{20,}", MASK),
    (r"\bpypi-[A-Za-z0-9_-]{16,}", MASK),
    (r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}", MASK),
    (r"\bsk-[A-Za-z0-9_-]{20,}", MASK),
    (r"\bx(?:ox[abeprs]|app)-[A-Za-z0-9-]{10,}", MASK),
    (r"\beyJ[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]*){0,2}", MASK),
    # A line of a key, or of anything else that is written in so many letters without a blank or a mark.
    (r"(^|[\s\"'=:>|])[A-Za-z0-9+][A-Za-z0-9+/]{59,}={0,2}", f"${{1}}{MASK}"),
)
_ANY = "|".join(f"(?:{regex})" for regex, _ in _RULES)


#: First and last line of a key that stands on several, how many those are, and what each of them holds.
_KEY_BEGINS, _KEY_ENDS = r"-----BEGIN [A-Z ]*PRIVATE KEY-----\s*$", r"-----END [A-Z ]*PRIVATE KEY-----"
_KEY_LINES, _KEY_LINE = 60, r"(^|[\s|])[A-Za-z0-9+/=]{1,80}\s*$"


def mask_text(text: pl.Series) -> pl.Series:
    """Return texts in which secrets are masked. Where they are lines in order, so are those of keys."""
    masked = _mask_keys(text)
    marked = masked.str.contains(_ANY).fill_null(False)
    if not marked.any():
        return masked
    shown = masked
    for regex, replacement in _RULES:
        shown = shown.str.replace_all(regex, replacement)
    return shown.zip_with(marked, masked)


def _mask_keys(text: pl.Series) -> pl.Series:
    """Return texts in which what stands between the first and the last line of a key is masked."""
    begins = text.str.contains(_KEY_BEGINS).fill_null(False)
    if not begins.any():
        return text
    row = pl.int_range(len(text), eager=True)
    ends = text.str.contains(_KEY_ENDS).fill_null(False)
    last = pl.DataFrame({"row": row, "begin": begins, "end": ends}).select(
        begin=pl.when("begin").then("row").forward_fill(), end=pl.when("end").then("row").forward_fill()
    )
    inside = (row - last["begin"] <= _KEY_LINES) & (last["begin"] > last["end"].fill_null(-1)) & ~begins
    inside = inside.fill_null(False) & text.str.contains(_KEY_LINE).fill_null(False)
    return text.str.replace(_KEY_LINE, f"${{1}}{MASK}").zip_with(inside, text)


def mask_rows(table: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Return event rows in which the secrets of their texts are masked."""
    return rows.with_columns(mask_text(rows[name]).alias(name) for name in _TEXTS.get(table, ()))
