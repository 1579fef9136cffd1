#!/usr/bin/env python3
"""Lineal against LIBLINEAR and scikit-learn: same files, same objective, one thread, one after the other.

    python3 bench/run.py [--name NAME] [--data DIR] [--lineal PATH] [--repeat N] [--only TEXT] [--quick]

Prints tables and writes bench/record/DATE-NAME.md and .json. See bench/README.md for what the figures mean.
"""

import frame
from frame import HERE


def main():
    args = arguments()
    args.built_here = args.lineal is None
    frame.enter(args)
    import measure
    import record
    import sets

    sets.prepare(args.data, HERE / "data")
    with measure.Bench(args.lineal, HERE / "data", args.repeat) as bench:
        results = {
            "training": bench.training(args.only),
            "reading": bench.reading() if args.only is None else [],
            "prediction": bench.prediction() if args.only is None else [],
        }
    record.write(HERE / "record", args, results, bench)


def arguments():
    parser = frame.parser(__doc__, "foundation")
    parser.add_argument("--repeat", type=int, default=3, help="timings of which the minimum counts")
    parser.add_argument("--only", help="training cases whose name or set contains this; no reading and prediction")
    parser.add_argument("--quick", action="store_true", help="a smoke run: every timing once, nothing recorded")
    args = parser.parse_args()
    args.repeat = 1 if args.quick else args.repeat
    if not args.data.is_dir():
        parser.error(f"{args.data} is not a folder; give the folder that has libsvm/ and newsgroups/")
    return args


if __name__ == "__main__":
    main()
