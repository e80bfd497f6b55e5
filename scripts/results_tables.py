#!/usr/bin/env python3
"""The default command on tables beside what people use instead: XGBoost, and logistic or ridge regression.

  results_tables.py yours FOVEA DATA [NAME…]        every folder DATA/tabular_*: metrics on its test rows, seconds, docs/pictures/yours-*.svg
  results_tables.py sweep FOVEA FOLDER [JOBS]       generated tables against the linear model, worst cells first
  results_tables.py cuts FOVEA FOLDER DATA [JOBS]   real tables cut to 60, 150 and 500 rows, and small ones of scikit-learn, likewise

sweep and cuts write their tables to FOLDER, answer the test rows of each (JOBS at a time, one thread each) and compare; what FOLDER has
already is not done again. The steps by themselves, the second of which needs no Python package but numpy, for a larger machine:
  results_tables.py tables FOLDER [DATA]    writes the tables of the sweep; with DATA, those of the cuts
  results_tables.py answers FOVEA FOLDER [JOBS]
  results_tables.py score FOLDER

Needs Debian's python3-xgboost, python3-sklearn and python3-pandas.
"""
import csv
import itertools
import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

try:
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
except ImportError as missing:  # the tables of the sweep, and answers, can do without
    if len(sys.argv) > 1 and sys.argv[1] not in ("tables", "answers"):
        sys.exit(f"{missing}: install python3-xgboost, python3-sklearn and python3-pandas")

TARGETS = {"adult": "income", "bank": "y", "bike_hour": "cnt", "breast_cancer": "target", "california": "median_house_value",
           "diamonds": "price", "letter": "letter", "telco_churn": "Churn"}
MISSING = ["?", "", " "]


def run_fovea(fovea, data, target, test, *options, picture=None):
    """Trains with the defaults and measures on the test rows: metrics, the chosen model, seconds; picture: a file for what explain draws."""
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
        if picture:
            subprocess.run([fovea, "explain", str(run), *test, "--out", picture, "--quiet"], capture_output=True, check=True)
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


def yours(fovea, data, *names):
    print("| table | rows x columns | model | metrics | seconds |\n| --- | --- | --- | --- | --- |")
    for folder in sorted(Path(data).glob("tabular_*")):
        name = folder.name.removeprefix("tabular_")
        if name not in TARGETS or (names and name not in names):
            continue
        target = TARGETS[name]
        train, test = (pd.read_csv(next(folder.glob(f"{part}.csv*")), na_values=MISSING, skipinitialspace=True) for part in ("train", "test"))
        metrics, model, seconds = run_fovea(fovea, folder, target, ["--split", "test"], picture=f"docs/pictures/yours-{name}.svg")
        ours = f"fovea ({model})", metrics, seconds
        for who, values, taken in itertools.chain([ours], peers(train, test, target)):
            shown = ", ".join(f"{key} {values[key]:.4f}" for key in ("accuracy", "auc", "r2") if key in values)
            print(f"| {name} | {len(train):,} x {train.shape[1] - 1} | {who} | {shown} | {taken:.0f} |", flush=True)


def generated(rows, columns, share, missing, noise, outliers, levels, law, seed):
    """A table whose target y follows a law of its first columns; with levels, every other column holds categories."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(rows, columns))
    table = {f"x{i}": x[:, i].copy() for i in range(columns)}
    for i in range(0, columns, 2) if levels else ():
        category = draw.integers(levels, size=rows)
        x[:, i] = draw.normal(size=levels)[category]
        table[f"x{i}"] = np.array([f"c{one}" for one in category], dtype=object)
    informative = max(1, round(columns * (1 - noise)))
    weights = np.zeros(columns)
    weights[:informative] = draw.normal(size=informative) / math.sqrt(informative)
    signal = x @ weights
    if law == "product":
        signal = signal + x[:, 0] * x[:, min(1, informative - 1)]
    signal += .5 * draw.normal(size=rows)
    if outliers:
        for column, far in zip(table.values(), (draw.random(x.shape) < .005).T):
            column[far] *= 1000
    if missing:
        for column, gone in zip(table.values(), (draw.random(x.shape) < missing).T):
            column[gone] = np.nan
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


def tables_of(rows):
    """With few rows it matters which ones were drawn."""
    return 3 if rows <= 1000 else 1


def write_table(path, columns):
    """Columns by name as CSV; what is missing is an empty cell."""
    cells = ([("" if value != value else value) for value in columns[name].tolist()] for name in columns)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*cells))


def write_case(folder, cell, train, test):
    """One table of a cell: train.csv, test.csv, and last case.json, so that half a case is written again."""
    if (folder / "case.json").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder / "train.csv", train)
    write_table(folder / "test.csv", test)
    is_number = np.issubdtype(np.asarray(train["y"]).dtype, np.number)
    (folder / "case.json").write_text(json.dumps(dict(cell=cell, is_number=bool(is_number))))


def write_sweep(folder):
    for index, cell in enumerate(SWEEP):
        settings = {**dict(share=.5, missing=0, noise=.5, outliers=False, levels=0, law="linear"), **cell}
        share = settings["share"]
        test_rows = 5000 if share is None or share >= .05 else 20000
        name = ", ".join(f"{key} {'a number' if value is None else value}" for key, value in cell.items())
        for seed in range(1, tables_of(cell["rows"]) + 1):
            table = generated(**{**settings, "rows": settings["rows"] + test_rows}, seed=seed)
            train, test = ({key: column[part] for key, column in table.items()}
                           for part in (slice(None, -test_rows), slice(-test_rows, None)))
            if share is None or len(set(train["y"])) == 2:
                write_case(Path(folder) / f"{index:02d}-{seed}", name, train, test)


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
        yield load.__name__.removeprefix("load_"), *train_test_split(table, test_size=.4, random_state=0)


def write_cuts(folder, data):
    for name, train, test in cut_tables(data):
        for rows in (60, 150, 500):
            for seed in (1, 2) if rows < len(train) else ():
                write_case(Path(folder) / f"{name}-{rows}-{seed}", f"{name}, {rows} rows", train.sample(rows, random_state=seed), test)


def answer_case(fovea, folder):
    """What the default command answers to the test rows of a case, the model that it chose, and its seconds: answers.json."""
    if (folder / "answers.json").exists():
        return
    run, answers = folder / "run", folder / "answers.csv"
    shutil.rmtree(run, ignore_errors=True)
    begin = time.time()
    for command in (["train", "features", str(folder / "train.csv"), "--target", "y", "--out", str(run), "--quiet", "--threads", "1"],
                    ["predict", str(run), "--input", str(folder / "test.csv"), "--out", str(answers)]):
        done = subprocess.run([fovea, *command], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{folder}: {done.stderr}")
        if command[0] == "train":
            seconds = time.time() - begin
    with open(answers) as file:
        rows = list(csv.DictReader(file))
    values = [float(row["p_yes" if "p_yes" in row else "prediction"]) for row in rows]
    model = json.loads((run / "config.json").read_text())["model"]["name"]
    (folder / "answers.json").write_text(json.dumps(dict(answers=values, model=model, seconds=seconds)))
    shutil.rmtree(run)


def answer_all(fovea, folder, jobs=1):
    cases = sorted((case.parent for case in Path(folder).glob("*/case.json")), key=lambda case: -(case / "train.csv").stat().st_size)
    with ThreadPoolExecutor(int(jobs)) as pool:  # the largest first
        for done in pool.map(lambda case: answer_case(fovea, case), cases):
            pass


def score_case(folder, is_number):
    """The answers of one table beside the linear model's."""
    train, test = (pd.read_csv(folder / f"{part}.csv") for part in ("train", "test"))
    answered = json.loads((folder / "answers.json").read_text())
    inputs, texts, numbers = columns_of(train, "y")
    linear = linear_model(is_number, texts, numbers).fit(inputs, train["y"])
    test_inputs = test.drop(columns=["y"])
    theirs = linear.predict(test_inputs) if is_number else linear.predict_proba(test_inputs)[:, 1]
    truth, ours = (test["y"] if is_number else test["y"] == "yes").to_numpy().astype(float), np.array(answered["answers"])
    difference, deviation = behind(truth, ours, theirs, is_number)
    score, linear_score = (weighted_score(truth, one, np.ones(len(truth)), is_number) for one in (ours, theirs))
    return dict(ours=score, linear=linear_score, behind=difference, deviation=deviation, model=answered["model"], seconds=answered["seconds"])


def summarize(cell, results):
    """One line of several tables: mean scores and difference, two kinds of doubt about it, models, seconds."""
    count, values = len(results), lambda key: np.array([one[key] for one in results])
    return dict(cell=cell, tables=count, ours=values("ours").mean(), linear=values("linear").mean(),
                behind=values("behind").mean(), interval=1.96 * math.sqrt((values("deviation") ** 2).sum()) / count,
                error=values("behind").std(ddof=1) / math.sqrt(count) if count > 1 else math.nan,
                models=", ".join(sorted(set(one["model"] for one in results))), seconds=values("seconds").mean())


def score_all(folder):
    """Prints each cell, then the worst. ± is the 95 % interval of the difference over bootstraps of the test rows; the standard error is
    that over the tables. A cell is behind where both are smaller than the difference."""
    head = "| cell | tables | fovea | linear | behind | ± | standard error | chosen | seconds |\n|" + " --- |" * 9
    shown = lambda one: (f"| {one['cell']} | {one['tables']} | {one['ours']:.4f} | {one['linear']:.4f} | {one['behind']:+.4f} | "
                         f"{one['interval']:.4f} | {one['error']:.4f} | {one['models']} | {one['seconds']:.0f} |").replace("nan", "")
    print(head)
    cases = [(json.loads(case.read_text()), case.parent) for case in sorted(Path(folder).glob("*/case.json"))]
    results = []
    for cell, group in itertools.groupby(cases, key=lambda case: case[0]["cell"]):
        results.append(summarize(cell, [score_case(where, case["is_number"]) for case, where in group]))
        print(shown(results[-1]), flush=True)
    worst = [one for one in results if one["behind"] > one["interval"] and not one["behind"] <= 1.96 * one["error"]]
    print(f"\n{len(worst)} of {len(results)} are behind by more than both; worst first\n{head}")
    for one in sorted(results, key=lambda one: -one["behind"])[:8]:
        print(shown(one))


def sweep(fovea, folder, jobs=1):
    write_sweep(folder)
    answer_all(fovea, folder, jobs)
    score_all(folder)


def cuts(fovea, folder, data, jobs=1):
    write_cuts(folder, data)
    answer_all(fovea, folder, jobs)
    score_all(folder)


COMMANDS = {"yours": (yours, 2, 10), "sweep": (sweep, 2, 3), "cuts": (cuts, 3, 4), "answers": (answer_all, 2, 3), "score": (score_all, 1, 1),
            "tables": (lambda folder, data=None: write_cuts(folder, data) if data else write_sweep(folder), 1, 2)}

if __name__ == "__main__":
    command, least, most = COMMANDS.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0, 0))
    if command is None or not least <= len(sys.argv) - 2 <= most:
        sys.exit(__doc__)
    command(*sys.argv[2:])
