"""Checks the record that an example wrote: `check_record.py RECORD EXIT_STATUS`.

Asks what must hold on any machine, fast or slow: the record is whole, its books balance, and its verdict and the
exit status of the program agree. It asks nothing about speed.
"""

import json
import sys

LOST = ("failed", "dropped", "skipped", "unfinished")
PERCENTILES = ("min_ns", "p50_ns", "p75_ns", "p90_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns")


def faults_of_times(label, times):
    if times is None:
        return
    if times["count"] <= 0:
        yield f"{label} has no samples"
    known = [(name, times[name]) for name in PERCENTILES if times.get(name) is not None]
    for (lower, a), (upper, b) in zip(known, known[1:]):
        if a > b:
            yield f"{label}: {lower} = {a} is above {upper} = {b}"


def faults_of_stream(stream):
    label = f"{stream['name']}@{stream.get('level')} round {stream.get('round')}"
    books = stream["accounting"]
    total = books["succeeded"] + sum(books[name] for name in LOST)
    if books["scheduled"] != total:
        yield f"{label}: scheduled {books['scheduled']}, but the outcomes add up to {total}"
    if books["succeeded"] == 0:
        yield f"{label}: no operation succeeded; failures: {stream.get('failures')}"
    if stream["elapsed_ns"] <= 0:
        yield f"{label}: elapsed_ns is {stream['elapsed_ns']}"
    if not stream.get("windows"):
        yield f"{label}: no windows"
    if not stream["verdict"].get("evidence"):
        yield f"{label}: the verdict carries no evidence"
    for name in ("response", "service"):
        if stream.get(name) is None:
            yield f"{label}: no {name} times"
        yield from faults_of_times(f"{label}: {name}", stream.get(name))


def faults(record, status):
    if record.get("schema") != "openloop.record/1":
        yield f"schema is {record.get('schema')!r}"
        return
    if record["interrupted"]:
        yield "the record is marked as interrupted"
    if not record["streams"]:
        yield "no streams"
    for stream in record["streams"]:
        yield from faults_of_stream(stream)
    for check in record.get("checks", []):
        if not check["passed"]:
            yield f"check {check['name']} failed: {check.get('detail')}"
    verdict = record["verdict"]
    expected = 2 if verdict["status"] == "rejected" else 0
    if status != expected:
        yield f"exit status {status}, but the verdict is {verdict['status']}: {verdict.get('reasons')}"


def main():
    path, status = sys.argv[1], int(sys.argv[2])
    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"exit status {status} and no readable record: {error}")
    try:
        found = list(faults(record, status))
    except (KeyError, TypeError) as error:
        sys.exit(f"{path}: not the shape of a record: {error!r}")
    for fault in found:
        print(f"{path}: {fault}", file=sys.stderr)
    if found:
        sys.exit(1)
    verdict = record["verdict"]
    print(f"record is sound: {len(record['streams'])} streams, verdict {verdict['status']} {verdict.get('reasons', '')}")


main()
