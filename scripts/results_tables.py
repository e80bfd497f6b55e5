#!/usr/bin/env python3
"""The default command on tables beside what people use instead: XGBoost, and logistic or ridge regression.

  results_tables.py yours FOVEA DATA    every folder DATA/tabular_*: metrics on its test rows, and seconds
  results_tables.py sweep FOVEA [ROWS]  generated tables against the linear model, worst cells first; ROWS: 50,143 only these
  results_tables.py cuts FOVEA DATA     real tables cut to 60, 150 and 500 rows, and small ones of scikit-learn, likewise

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
from sklearn.datasets import load_diabetes, load_iris, load_wine
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


def peers(train, test, target):
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
            ("XGBoost tuned", lambda: tuned_boosting(is_number, dense, y), dense, dense_test)):
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


def generated(rows, columns, share, missing, noise, outliers, levels, law, seed):
    """A table whose target follows a law of its first columns; with levels, every other column holds categories."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(rows, columns))
    table = pd.DataFrame(x, columns=[f"x{i}" for i in range(columns)])
    for i in range(0, columns, 2) if levels else ():
        category = draw.integers(levels, size=rows)
        x[:, i] = draw.normal(size=levels)[category]
        table[f"x{i}"] = [f"c{one}" for one in category]
    informative = max(1, round(columns * (1 - noise)))
    weights = np.zeros(columns)
    weights[:informative] = draw.normal(size=informative) / math.sqrt(informative)
    signal = x @ weights
    if law == "product":
        signal = signal + x[:, 0] * x[:, min(1, informative - 1)]
    signal += .5 * draw.normal(size=rows)
    if outliers:
        table = table.mask(draw.random(table.shape) < .005, table * 1000)
    if missing:
        table = table.mask(draw.random(table.shape) < missing)
    if law == "skewed":
        signal = np.exp(signal)
    table["y"] = signal if share is None else np.where(signal > np.quantile(signal, 1 - share), "yes", "no")
    return table


NUMBER = dict(share=None)
SWEEP = [dict(rows=rows, columns=columns) for rows in (50, 143, 500) for columns in (2, 20, 200)]
SWEEP += [dict(rows=rows, columns=20, **NUMBER) for rows in (50, 143)]
SWEEP += [dict(rows=500, columns=20, law=law, **NUMBER) for law in ("product", "skewed")]
SWEEP += [dict(rows=500, columns=20, **more) for more in (dict(law="product"), dict(missing=.6), dict(share=.05))]
SWEEP += [dict(rows=300, columns=50, noise=.96)]
SWEEP += [dict(rows=300, columns=20, outliers=True, **more) for more in ({}, NUMBER)]
SWEEP += [dict(rows=143, columns=6, levels=4), dict(rows=1000, columns=6, levels=60)]
SWEEP += [dict(rows=5000, columns=6, levels=500), dict(rows=5000, columns=20, missing=.6)]
SWEEP += [dict(rows=5000, columns=20, **NUMBER, **more) for more in (dict(outliers=True), dict(law="skewed"))]
SWEEP += [dict(rows=20000, columns=20, share=share) for share in (.005, .001)]
SWEEP += [dict(rows=2000, columns=500), dict(rows=10000, columns=200), dict(rows=100000, columns=10)]


def weighted_score(truth, answers, weights, is_number):
    """R² or AUC of rows that count so many times; ties of the answers count half."""
    if is_number:
        mean = np.average(truth, weights=weights)
        return 1 - (weights * (truth - answers) ** 2).sum() / (weights * (truth - mean) ** 2).sum()
    _, group = np.unique(answers, return_inverse=True)
    right, wrong = (np.bincount(group, weights * (truth == one)) for one in (1, 0))
    return (right * (np.cumsum(wrong) - wrong / 2)).sum() / (right.sum() * wrong.sum())


def behind(truth, ours, linear, is_number):
    """How far we are behind on these rows, and the deviation of that over 200 bootstraps of them."""
    draw, count = np.random.default_rng(0), len(truth)
    difference = lambda weights: (weighted_score(truth, linear, weights, is_number)
                                  - weighted_score(truth, ours, weights, is_number))
    drawn = [difference(np.bincount(draw.integers(count, size=count), minlength=count)) for _ in range(200)]
    return difference(np.ones(count)), np.nanstd(drawn)


def answers_of_fovea(fovea, folder):
    """What the default command answers to the test rows, the model that it chose, and its seconds."""
    run, answers = str(Path(folder) / "run"), Path(folder) / "answers.csv"
    begin = time.time()
    for command in (["train", "features", folder, "--target", "y", "--out", run, "--quiet", "--threads", "1"],
                    ["predict", run, "--input", str(Path(folder) / "test.csv"), "--out", str(answers)]):
        done = subprocess.run([fovea, *command], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{folder}: {done.stderr}")
        if command[0] == "train":
            seconds = time.time() - begin
    model = json.loads((Path(run) / "config.json").read_text())["model"]["name"]
    table = pd.read_csv(answers)
    return table["p_yes" if "p_yes" in table else "prediction"].to_numpy(), model, seconds


def compare_table(fovea, train, test, is_number):
    """The default command and the linear model on one table with the target y, a number or yes and no."""
    with tempfile.TemporaryDirectory() as folder:
        for name, part in (("train", train), ("test", test)):
            part.to_csv(Path(folder) / f"{name}.csv", index=False)
        ours, model, seconds = answers_of_fovea(fovea, folder)
    inputs, texts, numbers = columns_of(train, "y")
    linear = linear_model(is_number, texts, numbers).fit(inputs, train["y"])
    test_inputs = test.drop(columns=["y"])
    theirs = linear.predict(test_inputs) if is_number else linear.predict_proba(test_inputs)[:, 1]
    truth = test["y"].to_numpy() if is_number else (test["y"] == "yes").to_numpy().astype(int)
    difference, deviation = behind(truth, ours, theirs, is_number)
    score, linear_score = (weighted_score(truth, one, np.ones(len(truth)), is_number) for one in (ours, theirs))
    return dict(ours=score, linear=linear_score, behind=difference, deviation=deviation, model=model, seconds=seconds)


def summarize(cell, results):
    """One line of several tables: mean scores and difference, two kinds of doubt about it, models, seconds."""
    count, values = len(results), lambda key: np.array([one[key] for one in results])
    return dict(cell=cell, tables=count, ours=values("ours").mean(), linear=values("linear").mean(),
                behind=values("behind").mean(), interval=1.96 * math.sqrt((values("deviation") ** 2).sum()) / count,
                error=values("behind").std(ddof=1) / math.sqrt(count) if count > 1 else math.nan,
                models=", ".join(sorted(set(one["model"] for one in results))), seconds=values("seconds").mean())


def tables_of(rows):
    """With few rows it matters which ones were drawn."""
    return 3 if rows <= 1000 else 1


def run_cell(fovea, cell):
    """One line of the sweep, of generated tables."""
    settings = {**dict(share=.5, missing=0, noise=.5, outliers=False, levels=0, law="linear"), **cell}
    is_number = settings["share"] is None
    test_rows = 5000 if is_number or settings["share"] >= .05 else 20000
    results = []
    for seed in range(1, tables_of(cell["rows"]) + 1):
        table = generated(**{**settings, "rows": settings["rows"] + test_rows}, seed=seed)
        train, test = table[:-test_rows], table[-test_rows:]
        if train["y"].nunique() < 2:
            continue
        results.append(compare_table(fovea, train, test, is_number))
    return summarize(", ".join(f"{key} {'a number' if value is None else value}" for key, value in cell.items()), results)


def print_lines(lines):
    """Prints each line as it comes, then the worst. ± is the 95 % interval of the difference over bootstraps of the
    test rows; the standard error is that over the tables. A line is behind where both are smaller than the difference."""
    head = "| cell | tables | fovea | linear | behind | ± | standard error | chosen | seconds |\n|" + " --- |" * 9
    shown = lambda one: (f"| {one['cell']} | {one['tables']} | {one['ours']:.4f} | {one['linear']:.4f} | {one['behind']:+.4f} | "
                         f"{one['interval']:.4f} | {one['error']:.4f} | {one['models']} | {one['seconds']:.0f} |").replace("nan", "")
    print(head)
    results = []
    for line in lines:
        results.append(line)
        print(shown(line), flush=True)
    worst = [one for one in results if one["behind"] > one["interval"] and not one["behind"] <= 1.96 * one["error"]]
    print(f"\n{len(worst)} of {len(results)} are behind by more than both; worst first\n{head}")
    for one in sorted(results, key=lambda one: -one["behind"])[:8]:
        print(shown(one))


def sweep(fovea, rows=""):
    """AUC or R² on new rows of generated tables."""
    print_lines(run_cell(fovea, cell) for cell in SWEEP if not rows or str(cell["rows"]) in rows.split(","))


def cut_tables(data):
    """Real tables and those of scikit-learn, with y as the target: name, rows to learn from, rows to test on."""
    for name, positive in (("adult", "1"), ("bank", "yes"), ("telco_churn", "Yes"), ("california", None), ("bike_hour", None)):
        folder = Path(data) / f"tabular_{name}"
        parts = []
        for part in ("train", "test"):
            table = pd.read_csv(next(folder.glob(f"{part}.csv*")), na_values=MISSING, skipinitialspace=True)
            table = table.rename(columns={TARGETS[name]: "y"}).dropna(subset=["y"])
            if positive:
                table["y"] = np.where(table["y"].astype(str).str.startswith(positive), "yes", "no")
            parts.append(table)
        yield name, parts[0], parts[1].sample(min(5000, len(parts[1])), random_state=0)
    for load in (load_iris, load_wine, load_diabetes):
        table = load(as_frame=True).frame.rename(columns={"target": "y"})
        if load is not load_diabetes:
            table["y"] = np.where(table["y"] == 1, "yes", "no")
        yield load.__name__, *train_test_split(table, test_size=.4, random_state=0)


def cuts(fovea, data):
    """AUC or R² of real tables that were cut to few rows, two draws each."""
    def lines():
        for name, train, test in cut_tables(data):
            is_number = pd.api.types.is_numeric_dtype(train["y"])
            for rows in (60, 150, 500):
                if rows < len(train):
                    draws = [train.sample(rows, random_state=seed) for seed in (1, 2)]
                    yield summarize(f"{name}, {rows} rows", [compare_table(fovea, one, test, is_number) for one in draws])
    print_lines(lines())


if __name__ == "__main__":
    if len(sys.argv) >= 4 and sys.argv[1] == "yours":
        yours(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif len(sys.argv) in (3, 4) and sys.argv[1] == "sweep":
        sweep(*sys.argv[2:])
    elif len(sys.argv) == 4 and sys.argv[1] == "cuts":
        cuts(*sys.argv[2:])
    else:
        sys.exit(__doc__)
