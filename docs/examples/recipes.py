"""Makes recipes.csv and recipes-test.csv for docs/multilabel.md: dishes with any number of labels. The same seed, the same files."""

import csv
import random

WORDS = {
    "vegan": ["lentils", "tofu", "chickpeas", "coconut", "beans", "quinoa"],
    "quick": ["ten minutes", "microwave", "one pan", "no oven", "ready at once"],
    "dessert": ["sugar", "vanilla", "chocolate", "cream", "cinnamon", "berries"],
    "spicy": ["chilli", "ginger", "pepper", "curry", "harissa"],
}
COMMON = ["stir", "salt", "a bowl", "serve", "water", "slice", "onions", "rice", "a little oil", "mix well", "let it rest", "family"]


def recipe(rng):
    labels = [name for name, odds in [("vegan", 0.35), ("quick", 0.4), ("dessert", 0.25), ("spicy", 0.3)] if rng.random() < odds]
    words = rng.sample(COMMON, 5)
    for name in labels:
        words += rng.sample(WORDS[name], rng.choice([1, 2, 2]))
    # Words that mislead.
    if rng.random() < 0.25:
        words.append(rng.choice(rng.choice(list(WORDS.values()))))
    rng.shuffle(words)
    return [", ".join(words), ",".join(labels)]


def main():
    rng = random.Random(4)
    for name, rows in [("recipes.csv", 400), ("recipes-test.csv", 200)]:
        with open(name, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([["text", "labels"], *[recipe(rng) for _ in range(rows)]])


main()
