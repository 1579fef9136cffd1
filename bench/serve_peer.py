"""The peer of `bench/serve.py`: scikit-learn behind FastAPI, as its users write it. Run as a program it trains; imported it serves."""

import json
import os

import joblib

MODEL = os.environ["LINEAL_BENCH_MODEL"]

if __name__ == "__main__":
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    rows = [json.loads(line) for line in open(os.environ["LINEAL_BENCH_TRAIN"])]
    model = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=10, max_iter=50, tol=1e-3))
    model.fit([row["text"] for row in rows], [row["label"] for row in rows])
    joblib.dump(model, MODEL)
else:
    from fastapi import FastAPI
    from pydantic import BaseModel

    class Request(BaseModel):
        texts: list[str]

    app = FastAPI()
    model = joblib.load(MODEL)

    @app.post("/predict")
    def predict(request: Request):
        proba = model.predict_proba(request.texts)
        best = proba.argmax(axis=1)
        return {"predictions": [{"label": str(model.classes_[k]), "proba": float(p[k])} for k, p in zip(best, proba)]}
