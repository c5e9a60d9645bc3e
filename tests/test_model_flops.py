"""Model FLOPs and peaks: devices, mixed fleets, programs that count twice, and the page about them."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import duckdb
import pytest
from sql_cases import TESTS, all_relations, case_database

from pipeline.config import Config
from pipeline.config_values import RunConfig
from pipeline.formats import registry
from pipeline.ledger.settings import load_settings
from pipeline.project import read_seed
from pipeline.windows import WindowOptions

DEVICES = read_seed("devices")
NAMES = [
    (name, row["device"])
    for row in DEVICES
    for name in (row["device"], *filter(None, row["aliases"].split(";")))
]


def test_devices_of_all_makers_are_there() -> None:
    needed = {
        *("V100-SXM2", "A100-SXM", "A100-PCIe", "H100-SXM", "H100-PCIe", "H100-NVL", "H200-SXM", "GH200"),
        *("B200", "GB200", "B300", "GB300", "MI250X", "MI300X", "MI325X", "MI355X"),
        *("TPU-v4", "TPU-v5e", "TPU-v5p", "TPU-v6e", "Gaudi2", "Gaudi3", "Trainium1", "Trainium2"),
    }
    assert needed - {row["device"] for row in DEVICES} == set()


@pytest.mark.parametrize("row", DEVICES, ids=lambda row: row["device"])
def test_peaks_are_dense_and_have_a_source(row: dict[str, str]) -> None:
    assert row["source"]
    half = float(row["bf16_dense_tflops"])
    # Twice the peak in 16 bits, or the same: four times would be one for sparse matrices.
    if row["fp8_dense_tflops"]:
        assert 0.99 <= float(row["fp8_dense_tflops"]) / half <= 2.03
    if row["fp32_tflops"]:
        assert half / float(row["fp32_tflops"]) >= 2


def test_every_name_of_a_device_is_read_as_that_device() -> None:
    con = case_database()
    con.execute("begin")
    try:
        for number, (name, _) in enumerate(NAMES):
            con.execute("insert into ledger.lives (run_id, gpu_model) values (?, ?)", [str(number), name])
        sql = all_relations()["ledger.device_peaks"].sql
        found = dict(con.execute(f"select run_id, device from ({sql}\n)").fetchall())
    finally:
        con.execute("rollback")
    assert [(name, found.get(str(n))) for n, (name, _) in enumerate(NAMES)] == NAMES


def test_a_mixed_fleet_of_the_configuration_is_a_table(tmp_path: Path) -> None:
    fleet = (("H100-SXM", 512), ("A100-SXM", 256))
    config = Config(runs=(RunConfig("heron", gpus=768, gpu_model="H100-SXM + A100-SXM", fleet=fleet),))
    with duckdb.connect() as con:
        load_settings(con, tmp_path, config, WindowOptions())
        rows = con.execute("select run_id, gpu_model, count from config.fleets").fetchall()
    assert rows == [("heron", *part) for part in fleet]


def test_programs_that_count_what_is_computed_twice_are_marked() -> None:
    marked = {name for name, fmt in registry().items() if fmt.flops_recomputed}
    assert marked == {"colossalai", "gpt_neox", "megatron_deepspeed", "paddlenlp"}


def test_hardware_rates_of_paddle_are_brought_to_powers_of_ten() -> None:
    text = (TESTS / "formats" / "paddlenlp" / "events.jsonl").read_text(encoding="utf-8")
    (rate,) = re.findall(r'"tflops_per_gpu": ([\d.]+)', text)
    # 131.08 units of 2 to the 40th.
    assert float(rate) == pytest.approx(131.08 * 1.099511627776)


def test_flops_of_the_page_are_those_of_the_cases() -> None:
    page = (TESTS.parent / "docs" / "model-layer.md").read_text(encoding="utf-8")
    printed = {
        tuple(int(cell.replace(",", "")) for cell in row)
        for row in re.findall(r"\| [\d,]+ \| ([\d,]{12,}) \| ([\d,]{12,}) \|", page)
    }
    worked = set()
    for path in sorted((TESTS / "sql" / "ledger.shape_flops").glob("*/expected.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            worked |= {
                (int(row["flops_causal"]), int(row["flops_full"]))
                for row in csv.DictReader(file)
                if row.get("flops_causal") and row.get("flops_full")
            }
    assert len(printed) == 6
    assert printed <= worked
