"""Stamps of every kind, and the stamp at the head of a line."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest

from pipeline.ingest.clock import read_head_hosts, read_head_stamps, read_stamps


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]


NOTHING = (None, "none")

STAMPS = {
    ("iso", "2026-03-01 10:11:12"): (utc(2026, 3, 1, 10, 11, 12), "zone_assumed"),
    ("iso", "2026-03-01T10:11:12,003456+00:00"): (utc(2026, 3, 1, 10, 11, 12, 3456), "logged"),
    ("iso", "20260301 10:11:12"): (utc(2026, 3, 1, 10, 11, 12), "zone_assumed"),
    ("iso", "2026-03-01_10:11:12"): (utc(2026, 3, 1, 10, 11, 12), "zone_assumed"),
    ("iso", "2026-03-01 10:11:12.1234567 +0530"): (utc(2026, 3, 1, 4, 41, 12, 123456), "logged"),
    ("iso", "2026-03-01T10:11:12Z"): (utc(2026, 3, 1, 10, 11, 12), "logged"),
    ("iso", "2026-03-01T00:30:00-02:00"): (utc(2026, 3, 1, 2, 30), "logged"),
    ("iso", "1781000104.231"): (utc(2026, 6, 9, 10, 15, 4, 231000), "logged"),
    ("iso", "2026/03/01 10:11:12.003"): (utc(2026, 3, 1, 10, 11, 12, 3000), "zone_assumed"),
    ("epoch_ns", "1781000104231000999"): (utc(2026, 6, 9, 10, 15, 4, 231000), "logged"),
    ("iso", "2026-02-30 10:00:00"): NOTHING,
    ("iso", "Unknown"): NOTHING,
    # A node begins in 1970 until it has met a time server, and a damaged line may name any year.
    ("iso", "1970-01-01 00:00:07"): NOTHING,
    ("iso", "1970-01-01T00:00:07+00:00"): NOTHING,
    ("iso", "9026-03-01 10:11:12"): NOTHING,
    ("iso", "7"): NOTHING,
    ("ctime", "Thu Jan  1 00:00:07 1970"): NOTHING,
    ("epoch_s", "7"): NOTHING,
    ("glog", "E412 08:15:47.330918204"): (utc(1972, 4, 12, 8, 15, 47, 330918), "year_assumed"),
    ("glog", "W0412 08:16:02.119000"): (utc(1972, 4, 12, 8, 16, 2, 119000), "year_assumed"),
    ("glog", "1121 08:00:00"): (utc(1972, 11, 21, 8), "year_assumed"),
    ("syslog", "Mar  1 10:11:12"): (utc(1972, 3, 1, 10, 11, 12), "year_assumed"),
    ("syslog", "Feb 29 00:00:00"): (utc(1972, 2, 29), "year_assumed"),
    ("day", "Thu Apr  9 05:42:17 2026"): (utc(2026, 4, 9, 5, 42, 17), "zone_assumed"),
    ("day", "Thu Apr  9 05:42:17"): (utc(1972, 4, 9, 5, 42, 17), "year_assumed"),
    ("ctime", "Thu Apr 09 05:42:17 2026"): (utc(2026, 4, 9, 5, 42, 17), "zone_assumed"),
    # The name of a zone is not an offset: half of them stand for several.
    ("ctime", "Wed Apr 15 11:16:53 CEST 2026"): (utc(2026, 4, 15, 11, 16, 53), "zone_assumed"),
    ("ctime", "Wed Apr  5 11:16:53 UTC 2026"): (utc(2026, 4, 5, 11, 16, 53), "logged"),
    ("ctime", "Sun Apr  5 12:16:53 AM CEST 2026"): (utc(2026, 4, 5, 0, 16, 53), "zone_assumed"),
    ("ctime", "Sun Apr  5 12:16:53 PM 2026"): (utc(2026, 4, 5, 12, 16, 53), "zone_assumed"),
    ("ctime", "Sun 05 Apr 2026 11:16:53 PM UTC"): (utc(2026, 4, 5, 23, 16, 53), "logged"),
    ("ctime", "Sun 05 Apr 2026 11:16:53 CEST"): (utc(2026, 4, 5, 11, 16, 53), "zone_assumed"),
    ("ctime", "Sun Apr  5 13:16:53 PM 2026"): NOTHING,
    ("us", "03/18/2026 07:02:11"): (utc(2026, 3, 18, 7, 2, 11), "zone_assumed"),
    ("us", "03/18 07:02:11"): (utc(1972, 3, 18, 7, 2, 11), "year_assumed"),
    ("us", "02/29/2026 07:02:11"): NOTHING,
    ("us", "03/18/1970 07:02:11"): NOTHING,
    ("epoch_s", "1781000104.2"): (utc(2026, 6, 9, 10, 15, 4, 200000), "logged"),
    ("epoch_ms", "1781000104231"): (utc(2026, 6, 9, 10, 15, 4, 231000), "logged"),
    ("epoch_us", "1781000104231402"): (utc(2026, 6, 9, 10, 15, 4, 231402), "logged"),
    ("epoch_s", "-1"): NOTHING,
    ("epoch_s", "99999999999999999999"): NOTHING,
    ("uptime_s", "371022.480117"): (utc(1970, 1, 5, 7, 3, 42, 480117), "uptime"),
    ("uptime_us", "206764312"): (utc(1970, 1, 1, 0, 3, 26, 764312), "uptime"),
}


@pytest.mark.parametrize(("stamp", "text"), STAMPS)
def test_a_stamp_is_read_as_printed(stamp: str, text: str) -> None:
    ts, quality = read_stamps(pl.Series([text, None], dtype=pl.String), stamp)
    assert STAMPS[stamp, text] == (ts[0], quality[0])
    assert (ts[1], quality[1]) == NOTHING


HEADS = {
    "[2026-05-22T02:56:57.113] error: *** STEP": "2026-05-22T02:56:57.113",
    " [2026-05-19 23:58:41.402117] iteration": "2026-05-19 23:58:41.402117",
    "[2026-01-08 08:47:31,877] torch.distributed": "2026-01-08 08:47:31,877",
    "2026-05-19 23:50:47\tJob ID: 884213": "2026-05-19 23:50:47",
    "[titan] 2026-03-03 04:10:40,030 - root": "2026-03-03 04:10:40,030",
    "kern  :warn  : 2026-02-10T16:28:06,502716+00:00 NVRM": "2026-02-10T16:28:06,502716+00:00",
    "[E522 02:55:56.464376348 ProcessGroupNCCL.cpp:684]": "522 02:55:56.464376348",
    "W0624 15:08:09.216000 50162 torch/_inductor": "0624 15:08:09.216000",
    "[Wed Jun 24 15:04:55 CEST 2026] reached": "Wed Jun 24 15:04:55 CEST 2026",
    "Mar  1 10:11:12 gx017 kernel: [371022.480117] NVRM": "Mar  1 10:11:12",
    "[Apr 09 2026 05:42:17] [ERROR] [tid 517]": "Apr 09 2026 05:42:17",
    "[371022.480117] NVRM: Xid": "371022.480117",
    "<1>[  201.662670] BUG": "201.662670",
    "6,3966,206764312,-;nvidia-nvswitch2": "206764312",
    "<4>1 2026-03-01T10:11:12.003456Z gx017 kernel - - - NVRM": "2026-03-01T10:11:12.003456Z",
    "Sun 2026-03-01 10:11:12 CET gx017 kernel: NVRM": "2026-03-01 10:11:12",
    "1772359872.003456 gx017 kernel: NVRM": "1772359872.003456",
    "[  371.480117 <    0.000316 >] gx017 kernel: NVRM": "371.480117",
    "- 1131566461 2005.11.09 cn228 Nov 9 12:01:01 cn228/cn228 crond[7]: x": "1131566461",
    "ECC 1131566461 2005.11.09 cn228 Nov 9 12:01:01 cn228/cn228 kernel: x": "1131566461",
    "1772359872 samples seen: 7": None,
    "03/18/2026 07:02:11 [INFO|DP=0|PP=1|TP=0]: iteration": "03/18/2026 07:02:11",
    "03/18 07:02:11 [INFO|DP=0]: iteration": "03/18 07:02:11",
    "03/18 07:02:11 of that day": None,
    "saved at 2026-05-19 23:50:47": None,
    "iteration 12": None,
    "": None,
}


@pytest.mark.parametrize("line", HEADS)
def test_the_stamp_at_the_head_of_a_line(line: str) -> None:
    found = read_head_stamps(pl.Series([line, "no time"]))
    assert HEADS[line] == found["ts_raw"][0]
    assert (HEADS[line] is None) == (found["ts"][0] is None)
    assert found["ts_quality"][1] == "none"


HOSTS = {
    "Mar  1 10:11:12 gx017 kernel: [371022.480117] NVRM: Xid": "gx017",
    "2026-03-01T10:11:12.003456+00:00 gx017.heron systemd[1]: Stopped": "gx017.heron",
    "<4>1 2026-03-01T10:11:12.003456Z gx017 kernel - - - NVRM": "gx017",
    '<30>1 2026-03-01T10:11:12Z gx017 kubelet 2296 - [a@1 b="c"] Started': "gx017",
    "Sun 2026-03-01 10:11:12 CET gx017 kernel: NVRM": "gx017",
    "1772359872.003456 gx017 kernel: NVRM": "gx017",
    "[  371.480117] gx017 kernel: NVRM": "gx017",
    "[  371.480117] NVRM: Xid": None,
    "- 1131566461 2005.11.09 cn228 Nov 9 12:01:01 cn228/cn228 crond[7]: x": "cn228",
    "2026-03-01 10:11:12 loaded: nothing": None,
    "[2026-03-01 10:11:12] gx017 kernel: x": None,
}


@pytest.mark.parametrize("line", HOSTS)
def test_a_syslog_line_names_its_host(line: str) -> None:
    assert HOSTS[line] == read_head_hosts(pl.Series([line]))[0]
