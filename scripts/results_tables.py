#!/usr/bin/env python3
"""The default command on tables beside what people use instead: XGBoost, and logistic or ridge regression.

  results_tables.py yours FOVEA DATA    every folder DATA/tabular_*: metrics on its test rows, and seconds
  results_tables.py sweep FOVEA         generated tables against the linear model, worst cells first

Needs Debian's python3-xgboost, python3-sklearn and python3-pandas.
"""
import itertools
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier, XGBRegressor

TARGETS = {"adult": "income", "bank": "y", "bike_hour": "cnt", "breast_cancer": "target", "california": "median_house_value",
           "diamonds": "price", "letter": "letter", "telco_churn": "Churn"}
MISSING = ["?", "", " "]


def run_fovea(fovea, data, target, test, *options):
    """Trains with the defaults and measures on the test rows: metrics, the chosen model, seconds."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        begin = time.time()
        train = subprocess.run([fovea, "train", "features", str(data), "--target", target, "--out", str(run), "--quiet", *options],
                               capture_output=True, text=True)
        seconds = time.time() - begin
        if train.returncode != 0:
            sys.exit(f"{data}: {train.stderr}")
        measured = subprocess.run([fovea, "evaluate", str(run), *test, "--json"], capture_output=True, text=True, check=True)
        model = json.loads((run / "config.json").read_text())["model"]["name"]
    return json.loads(measured.stdout)["metrics"], model, seconds


def columns_of(table, target):
    inputs = table.drop(columns=[target])
    texts = [name for name in inputs if not pd.api.types.is_numeric_dtype(inputs[name])]
    return inputs, texts, [name for name in inputs if name not in texts]


def linear_model(is_number, texts, numbers):
    encode = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="constant", fill_value="(missing)"), OneHotEncoder(handle_unknown="ignore")), texts),
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers))
    return make_pipeline(encode, RidgeCV(np.logspace(-3, 4, 15)) if is_number else LogisticRegression(max_iter=2000))


def boosted(is_number, **settings):
    settings = {"n_estimators": 600, "learning_rate": .05, "max_depth": 6, "tree_method": "hist", "n_jobs": 2, **settings}
    return XGBRegressor(**settings) if is_number else XGBClassifier(**settings)


def tuned_boosting(is_number, x, y):
    """The best of eight settings on a fifth of the training rows, with early stopping, fitted on all rows."""
    split = train_test_split(x, y, test_size=.2, random_state=0, stratify=None if is_number else y)
    best = None
    for depth in (4, 6, 8, 10):
        for rows in (.7, 1):
            model = boosted(is_number, n_estimators=3000, max_depth=depth, subsample=rows, colsample_bytree=rows,
                            min_child_weight=5 if rows < 1 else 1, early_stopping_rounds=50)
            model.fit(split[0], split[2], eval_set=[(split[1], split[3])], verbose=False)
            if best is None or model.best_score < best[0]:
                best = model.best_score, model.best_iteration + 1, depth, rows
    _, trees, depth, rows = best
    return boosted(is_number, n_estimators=trees, max_depth=depth, subsample=rows, colsample_bytree=rows,
                   min_child_weight=5 if rows < 1 else 1).fit(x, y)


def score(model, x, y, is_number):
    if is_number:
        return {"r2": r2_score(y, model.predict(x))}
    probabilities = model.predict_proba(x)
    metrics = {"accuracy": accuracy_score(y, probabilities.argmax(1))}
    if probabilities.shape[1] == 2:
        metrics["auc"] = roc_auc_score(y, probabilities[:, 1])
    return metrics


def peers(train, test, target, tune=True):
    """Name, metrics and seconds of each."""
    is_number = pd.api.types.is_numeric_dtype(train[target]) and train[target].nunique() > 20
    inputs, texts, numbers = columns_of(train, target)
    test_inputs = test.drop(columns=[target])
    y, test_y = train[target], test[target]
    if not is_number:
        classes = sorted(y.unique())
        y, test_y = y.map(classes.index), test_y.map(classes.index)
    for name in texts:  # as XGBoost wants categories
        known = pd.CategoricalDtype(sorted(inputs[name].dropna().unique()))
        inputs[name], test_inputs[name] = inputs[name].astype(known), test_inputs[name].astype(known)
    dense, dense_test = pd.get_dummies(inputs), pd.get_dummies(test_inputs)
    dense.columns = dense_test.columns = [f"f{i}" for i in range(dense.shape[1])]
    for name, fit, x, test_x in (
            ("linear", lambda: linear_model(is_number, texts, numbers).fit(inputs.astype({t: object for t in texts}), y),
             inputs, test_inputs.astype({t: object for t in texts})),
            ("XGBoost", lambda: boosted(is_number).fit(dense, y), dense, dense_test),
            ("XGBoost tuned", lambda: tuned_boosting(is_number, dense, y), dense, dense_test))[:3 if tune else 1]:
        begin = time.time()
        model = fit()
        yield name, score(model, test_x, test_y, is_number), time.time() - begin


def yours(fovea, data, names):
    print("| table | rows x columns | model | metrics | seconds |\n| --- | --- | --- | --- | --- |")
    for folder in sorted(Path(data).glob("tabular_*")):
        name = folder.name.removeprefix("tabular_")
        if name not in TARGETS or (names and name not in names):
            continue
        target = TARGETS[name]
        train, test = (pd.read_csv(next(folder.glob(f"{part}.csv*")), na_values=MISSING, skipinitialspace=True) for part in ("train", "test"))
        metrics, model, seconds = run_fovea(fovea, folder, target, ["--split", "test"])
        ours = f"fovea ({model})", metrics, seconds
        for who, values, taken in itertools.chain([ours], peers(train, test, target)):
            shown = ", ".join(f"{key} {values[key]:.4f}" for key in ("accuracy", "auc", "r2") if key in values)
            print(f"| {name} | {len(train):,} x {train.shape[1] - 1} | {who} | {shown} | {taken:.0f} |", flush=True)


def generated(rows, columns, share, missing, noise, outliers, law, seed):
    """A table whose target follows a law of its first columns."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(rows, columns))
    informative = max(1, round(columns * (1 - noise)))
    weights = np.zeros(columns)
    weights[:informative] = draw.normal(size=informative) / math.sqrt(informative)
    signal = x @ weights
    if law == "product":
        signal = signal + x[:, 0] * x[:, min(1, informative - 1)]
    signal += .5 * draw.normal(size=rows)
    table = pd.DataFrame(x, columns=[f"x{i}" for i in range(columns)])
    if outliers:
        table = table.mask(draw.random(table.shape) < .005, table * 1000)
    if missing:
        table = table.mask(draw.random(table.shape) < missing)
    table["y"] = signal if share is None else np.where(signal > np.quantile(signal, 1 - share), "yes", "no")
    return table


SWEEP = [dict(rows=rows, columns=columns) for rows in (50, 143, 1000, 10000) for columns in (2, 20, 200)]
SWEEP += [dict(rows=100000, columns=10), dict(rows=2000, columns=500)]
SWEEP += [dict(rows=20000, columns=20, share=share) for share in (.1, .02, .005, .001)]
SWEEP += [dict(rows=rows, columns=20, missing=missing) for rows in (500, 5000) for missing in (.2, .6)]
SWEEP += [dict(rows=rows, columns=50, noise=.96) for rows in (300, 5000)]
SWEEP += [dict(rows=rows, columns=20, outliers=True) for rows in (300, 5000)]
SWEEP += [dict(rows=rows, columns=20, share=None, **more) for rows in (100, 5000) for more in ({}, {"outliers": True}, {"law": "product"})]
SWEEP += [dict(rows=2000, columns=10, law="product")]


def sweep(fovea):
    """AUC or R² on 20,000 new rows, two tables a cell; the interval is that of the difference over bootstraps of the test rows."""
    usual = dict(share=.5, missing=0, noise=.5, outliers=False, law="linear")
    results = []
    for cell in SWEEP:
        settings = {**usual, **cell}
        behind, seconds = [], 0
        for seed in (1, 2):
            table = generated(**{**settings, "rows": settings["rows"] + 20000}, seed=seed)
            train, test = table[:-20000], table[-20000:]
            if train["y"].nunique() < 2:
                continue
            with tempfile.TemporaryDirectory() as folder:
                for name, part in (("train", train), ("test", test)):
                    part.to_csv(Path(folder) / f"{name}.csv", index=False)
                metrics, model, taken = run_fovea(fovea, folder, "y", ["--split", "test"])
            seconds += taken / 2
            _, linear, _ = next(peers(train, test, "y", tune=False))
            key = "r2" if "r2" in linear else "auc"
            behind.append(linear[key] - metrics.get(key, .5))
            shown = metrics.get(key, .5), linear[key], model
        if behind:
            results.append((max(behind), cell, shown, seconds))
            print(f"{cell}: fovea {shown[0]:.4f} ({shown[2]}), linear {shown[1]:.4f}, behind by at most {max(behind):+.4f}, {seconds:.0f} s", flush=True)
    print("\nworst cells first")
    for worst, cell, shown, seconds in sorted(results, key=lambda row: -row[0])[:8]:
        print(f"{worst:+.4f}  {cell}")


if __name__ == "__main__":
    if len(sys.argv) >= 4 and sys.argv[1] == "yours":
        yours(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif len(sys.argv) == 3 and sys.argv[1] == "sweep":
        sweep(sys.argv[2])
    else:
        sys.exit(__doc__)
