"""Writes the files of these tests and, as pyarrow reads them, the rows that all of them hold: python make.py, with pyarrow 26.0, polars 2.1 and duckdb 2.0."""

import datetime
import decimal
import json
from pathlib import Path

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent
N = 40


def columns():
    day = datetime.date(2024, 2, 27)
    some = range(N)
    lists = [None if i % 11 == 5 else [f"tag{j}" for j in range(i % 4)] for i in some]
    people = [None if i % 7 == 3 else {"name": f"Zoë {i}", "home": {"zip": f"{i:05d}"}} for i in some]
    return {
        "whole": pa.array([None if i % 5 == 2 else i * 1000 - 7 for i in some], pa.int64()),
        "small": pa.array([i % 3 - 1 for i in some], pa.int8()),
        "positive": pa.array([2**32 - 1 - i for i in some], pa.uint32()),
        "share": pa.array([i / 8 for i in some], pa.float64()),
        "single": pa.array([None if i == 4 else i / 4 for i in some], pa.float32()),
        "yes": pa.array([None if i % 6 == 1 else i % 2 == 0 for i in some]),
        "colour": pa.array([["red", "green", "blue"][i * i % 3] for i in some]).dictionary_encode(),
        "note": pa.array([None if i % 9 == 8 else f'line {i}\n"quoted" \\ {"é" * (i % 3)}' for i in some]),
        "day": pa.array([day + datetime.timedelta(i * 17) for i in some]),
        "moment": pa.array([datetime.datetime(2024, 1, 1, 12, 30, i) for i in some], pa.timestamp("us")),
        "nanos": pa.array([datetime.datetime(1969, 12, 31, 23, 0, i) for i in some], pa.timestamp("ns")),
        "price": pa.array([decimal.Decimal(i * 205 - 1000) / 100 for i in some], pa.decimal128(10, 2)),
        "tags": pa.array(lists, pa.list_(pa.string())),
        "person": pa.array(people),
        "pairs": pa.array([[{"k": i, "v": None if i % 2 else [i]}] * (i % 3) for i in some]),
    }


def plain(value):
    """As the lines have it."""
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


def main():
    table = pa.table(columns())
    write = lambda name, **options: pq.write_table(table, HERE / f"{name}.parquet", **options)
    write("snappy", row_group_size=16)
    write("gzip", compression="gzip", data_page_size=64, write_batch_size=4)
    write("zstd", compression="zstd", data_page_version="2.0")
    write("lz4", compression="lz4", use_dictionary=False)
    write("brotli", compression="brotli")
    delta = {"whole": "DELTA_BINARY_PACKED", "small": "DELTA_BINARY_PACKED", "day": "DELTA_BINARY_PACKED", "note": "DELTA_BYTE_ARRAY"}
    delta |= {"colour": "DELTA_LENGTH_BYTE_ARRAY", "share": "BYTE_STREAM_SPLIT", "single": "BYTE_STREAM_SPLIT", "yes": "RLE"}
    flat = table.select(list(delta)).set_column(4, "colour", table["colour"].cast(pa.string()))
    pq.write_table(flat, HERE / "delta.parquet", use_dictionary=False, data_page_version="2.0", column_encoding=delta, compression="none")
    polars.from_arrow(table.drop(["pairs"])).write_parquet(HERE / "polars.parquet")
    duckdb.from_arrow(table).write_parquet(str(HERE / "duckdb.parquet"))
    with open(HERE / "table.jsonl", "w") as out:
        for row in pq.read_table(HERE / "snappy.parquet").to_pylist():
            out.write(json.dumps(plain(row), ensure_ascii=False) + "\n")


main()
