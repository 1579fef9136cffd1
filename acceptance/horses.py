"""The Weizmann horses as lists of images and masks to train on and to test on.

    python acceptance/horses.py FOLDER OUT

FOLDER has horse001.ppm and horse001.pgm up to horse328; OUT gets train.tsv (200 images), test.tsv (127) and folds.tsv (the image, its fold of five in the training part).
Needs numpy.

The rule. horse318 is left out: its mask is doubtful. Images are near-duplicates if their thumbnails (8×8 means of grey, of the image or of its mirror image, centred and scaled to
length 1) have a product above 0.97; groups of images that are joined by such pairs stay together. Groups are ordered by the SHA-256 of the name of their first image and go to the
training part as long as they fit into its 200 images, then to the test part. The folds of the training part keep groups together as well.
"""

import hashlib
import os
import sys

import numpy as np

LEFT_OUT = {318}
N_TRAIN, N_FOLDS = 200, 5
ALIKE = 0.97


def read_pnm(path):
    """The pixels of a binary PPM or PGM of 8 bits."""
    with open(path, "rb") as file:
        data = file.read()
    fields, at = [], 0
    while len(fields) < 4:
        end = at
        while not data[end : end + 1].isspace():
            end += 1
        fields.append(data[at:end])
        at = end + 1
    width, height = int(fields[1]), int(fields[2])
    channels = {b"P6": 3, b"P5": 1}[fields[0]]
    return np.frombuffer(data, np.uint8, width * height * channels, at).reshape(height, width, channels)


def thumbnail(image):
    """8×8 means of grey, centred, of length 1."""
    grey = image.astype(np.float64).mean(axis=2)
    rows = np.array_split(grey, 8, axis=0)
    small = np.array([[cell.mean() for cell in np.array_split(row, 8, axis=1)] for row in rows])
    small -= small.mean()
    return small / max(np.linalg.norm(small), 1e-9)


def groups_of(thumbnails):
    """Near-duplicates together: lists of the numbers of images."""
    n = len(thumbnails)
    plain = np.array([t.ravel() for t in thumbnails])
    mirrored = np.array([t[:, ::-1].ravel() for t in thumbnails])
    alike = np.maximum(plain @ plain.T, plain @ mirrored.T) > ALIKE
    group = list(range(n))
    for i in range(n):
        for j in range(i):
            if alike[i, j] and group[i] != group[j]:
                old, new = max(group[i], group[j]), min(group[i], group[j])
                group = [new if g == old else g for g in group]
    members = {}
    for i, g in enumerate(group):
        members.setdefault(g, []).append(i)
    return list(members.values())


def split(folder):
    """(names to train on, their folds, names to test on)."""
    names = [f"horse{i:03}" for i in range(1, 329) if i not in LEFT_OUT]
    groups = groups_of([thumbnail(read_pnm(os.path.join(folder, name + ".ppm"))) for name in names])
    groups.sort(key=lambda group: hashlib.sha256(names[group[0]].encode()).hexdigest())
    train, folds, test = [], [], []
    for at, group in enumerate(groups):
        part = [names[i] for i in group]
        if len(train) + len(part) <= N_TRAIN:
            train += part
            folds += [at % N_FOLDS] * len(part)
        else:
            test += part
    order = sorted(range(len(train)), key=train.__getitem__)
    return [train[i] for i in order], [folds[i] for i in order], sorted(test)


def main():
    folder, out = sys.argv[1:3]
    train, folds, test = split(folder)
    os.makedirs(out, exist_ok=True)
    beside = os.path.relpath(folder, out)
    for part, names in [("train", train), ("test", test)]:
        with open(os.path.join(out, part + ".tsv"), "w") as file:
            for name in names:
                file.write(f"{beside}/{name}.ppm\t{beside}/{name}.pgm\n")
    with open(os.path.join(out, "folds.tsv"), "w") as file:
        for name, fold in zip(train, folds):
            file.write(f"{beside}/{name}.ppm\t{fold}\n")
    print(f"{len(train)} images to train on, {len(test)} to test on")


if __name__ == "__main__":
    main()
