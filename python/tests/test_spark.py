"""Training on Spark, where it and Java are: the results of one machine, and the bits of the same partitions in one process."""

import os
import shutil
import sys

import numpy as np
import pytest

import lineal

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: pip install pyspark, and Java 17")
if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
    pytest.skip("Java is not there, which Spark runs on", allow_module_level=True)

import lineal.spark as ls  # noqa: E402
from lineal import _cluster  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    made = (
        SparkSession.builder.master(os.environ.get("LINEAL_SPARK_MASTER", "local[2]"))
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    yield made
    made.stop()


def rows(n=300, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=d) + rng.gumbel(size=n) > 0).astype(int)


def frame(spark, X, y, n_parts):
    """A frame whose partitions are neighbouring rows."""
    names = [f"f{j}" for j in range(X.shape[1])]
    data = [(*map(float, x), label) for x, label in zip(X, y)]
    return spark.createDataFrame(spark.sparkContext.parallelize(data, n_parts), [*names, "label"]).persist()


def test_results_are_those_of_one_machine(spark):
    X, y = rows()
    df = frame(spark, X, y.tolist(), 3)
    model = ls.LogisticRegression().fit(df)
    twin = lineal.LogisticRegression().fit(X, y)
    assert model.certificate_.converged and abs(model.certificate_.objective - twin.certificate_.objective) <= 1e-6
    assert model.certificate_.gap <= 2e-6 * model.certificate_.objective
    found = np.array([row["prediction"] for row in model.predict(df).collect()])
    assert (found == model.predict(X)).all() and model.report_["cluster"]["partitions"] == 3


def test_the_same_bits_as_in_one_process(spark):
    X, y = rows(seed=1)
    df = frame(spark, X, y.tolist(), 4)
    parts = df.rdd.glom().collect()
    cut = [(np.array([row[:-1] for row in part]), np.array([row[-1] for row in part]), None) for part in parts]
    here = _cluster.Here([str(at) for at in range(4)], [lambda part=part: part for part in cut])
    alone = ls.LinearSVC()._run(here, False, None)
    there = ls.LinearSVC().fit(df)
    assert alone.coef_.tobytes() == there.coef_.tobytes() and alone.intercept_.tobytes() == there.intercept_.tobytes()


def test_text_and_arrays(spark):
    texts = ["my invoice is wrong", "cannot log in today", "the invoice never came", "log in fails again"] * 6
    kinds = ["money", "access", "money", "access"] * 6
    df = spark.createDataFrame(list(zip(texts, kinds)), ["text", "kind"]).repartition(2).persist()
    model = ls.TextClassifier().fit(df, "kind")
    twin = lineal.TextClassifier(tol=1e-7).fit(texts, kinds)
    assert abs(model.certificate_.objective - twin.certificate_.objective) <= 1e-6
    assert {row["text"]: row["prediction"] for row in model.predict(df).collect()} == dict(zip(texts, kinds))
    X, y = rows(n=90)
    df = spark.createDataFrame([(x.tolist(), float(v)) for x, v in zip(X, X[:, 0] * 2)], ["features", "label"]).persist()
    model = ls.Ridge(alpha=0.5).fit(df, columns="features")
    np.testing.assert_allclose(model.coef_, lineal.Ridge(alpha=0.5).fit(X, X[:, 0] * 2).coef_, atol=1e-6)


def test_what_is_wrong_is_told(spark):
    X, y = rows(n=60)
    bad = X.copy()
    bad[40, 2] = np.nan
    with pytest.raises(ValueError, match="partition 1: .*finite"):
        ls.LogisticRegression().fit(frame(spark, bad, y.tolist(), 2))
    with pytest.raises(ValueError, match="no column 'lable'"):
        ls.LogisticRegression().fit(frame(spark, X, y.tolist(), 2), "lable")
    with pytest.raises(TypeError, match="data frame of Spark"):
        ls.LogisticRegression().fit(X, "label")
