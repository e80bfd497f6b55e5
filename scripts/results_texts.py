#!/usr/bin/env python3
"""The default command on texts beside what people use instead: fastText, and TF-IDF with logistic regression.

  results_texts.py texts FOVEA DATA [NAME…]    DATA/imdb, cuts of it, DATA/goemotions: accuracy on the test texts, and seconds
  results_texts.py names FOVEA DATA            DATA/ner_wnut17: F1 of entities, three seeds, without pretrained weights, and with texts without tags
  results_texts.py pairs FOVEA DATA            12,000 pairs of DATA/multi30k: BLEU beside the nearest training sentence

Seconds are those from the files to the metric; names trains as many at once as there are pairs of cores. texts needs Debian's fasttext, python3-sklearn and
python3-pandas.
"""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def imdb(data, split):
    import pandas as pd

    return pd.read_csv(data / "imdb" / f"{split}.tsv.gz", sep="\t", quoting=3)[["label", "text"]]


def every(table, rows):
    """Evenly spaced: the reviews are ordered by class."""
    return table.iloc[[place * len(table) // rows for place in range(rows)]]


def first_sentences(table):
    """As long as those of SST: 5 to 40 words."""
    first = table.text.str.extract(r"^(.+?[.!?])(?: |$)", expand=False).fillna("")
    words = first.str.split().str.len()
    return table.assign(text=first)[(words >= 5) & (words <= 40)]


def goemotions(data, split):
    """Comments with one emotion."""
    import pandas as pd

    path = data / "goemotions" / ("train.tsv.gz" if split == "train" else "test.tsv")
    table = pd.read_csv(path, sep="\t", quoting=3).rename(columns={"labels": "label"})
    return table[~table.label.str.contains(" ")][["label", "text"]]


SETS = {
    "IMDB": imdb,
    "IMDB, 5,000": lambda data, split: every(imdb(data, split), 5000) if split == "train" else imdb(data, split),
    "IMDB, 1,000": lambda data, split: every(imdb(data, split), 1000) if split == "train" else imdb(data, split),
    "first sentences of IMDB": lambda data, split: first_sentences(imdb(data, split)),
    "first sentences, 5,000": lambda data, split: every(first_sentences(imdb(data, split)), 5000),
    "first sentences, 1,000": lambda data, split: every(first_sentences(imdb(data, split)), 1000 if split == "train" else 5000),
    "GoEmotions, one label": goemotions,
}


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {result.stderr}")
    return result.stdout


def run_fovea(fovea, task, data, *options):
    """Trains with the defaults and measures on the test rows: metrics, baselines, seconds."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.time()
        run(fovea, "train", task, data, "--out", f"{folder}/run", "--quiet", *options)
        measured = json.loads(run(fovea, "evaluate", f"{folder}/run", "--split", "test", "--json"))
        return measured["metrics"], measured.get("baselines", {}), time.time() - begin


def write_fasttext(table, path):
    """Lower case and punctuation apart, as fastText's guide has it."""
    with open(path, "w") as file:
        for label, text in zip(table.label, table.text):
            words = re.sub(r"([.!?,'/()\":;])", r" \1 ", text.lower())
            file.write(f"__label__{label} {' '.join(words.split())}\n")


def run_fasttext(train, test, *options):
    with tempfile.TemporaryDirectory() as folder:
        begin = time.time()
        write_fasttext(train, f"{folder}/train")
        write_fasttext(test, f"{folder}/test")
        run("fasttext", "supervised", "-input", f"{folder}/train", "-output", f"{folder}/model", "-wordNgrams", 2, "-thread", 2, *options)
        accuracy = re.search(r"P@1\s+(\S+)", run("fasttext", "test", f"{folder}/model.bin", f"{folder}/test")).group(1)
        return float(accuracy), time.time() - begin


def run_linear(train, test, **options):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    begin = time.time()
    model = make_pipeline(TfidfVectorizer(**options), LogisticRegression(max_iter=1000)).fit(train.text, train.label)
    return model.score(test.text, test.label), time.time() - begin


def texts(fovea, data, names):
    print("| texts | training, test, classes | model | accuracy | seconds |\n| --- | --- | --- | --- | --- |")
    for name, read in SETS.items():
        if names and name not in names:
            continue
        train, test = read(data, "train"), read(data, "test")
        with tempfile.TemporaryDirectory() as folder:
            train.to_csv(f"{folder}/train.csv", index=False)
            test.to_csv(f"{folder}/test.csv", index=False)
            metrics, _, seconds = run_fovea(fovea, "documents", folder)
        for who, (accuracy, taken) in (
                ("fovea", (metrics["accuracy"], seconds)),
                ("fastText", run_fasttext(train, test)),
                ("fastText, rate 1, 25 epochs", run_fasttext(train, test, "-lr", 1, "-epoch", 25)),
                ("TF-IDF, logistic regression", run_linear(train, test)),
                ("the same with bigrams", run_linear(train, test, ngram_range=(1, 2), sublinear_tf=True))):
            print(f"| {name} | {len(train):,}, {len(test):,}, {train.label.nunique()} | {who} | {accuracy:.4f} | {taken:.0f} |", flush=True)


def untagged_texts(data, folder):
    """English texts of other tasks, none of WNUT17: reviews, comments, Wikipedia (SQuAD), example sentences (Tatoeba)."""
    paths = [data / "imdb" / "train.tsv.gz", data / "imdb" / "test.tsv.gz", data / "goemotions" / "train.tsv.gz"]
    contexts = {}
    for name in "train", "dev":
        with gzip.open(data / "squad" / f"{name}.jsonl.gz", "rt") as file:
            contexts.update((json.loads(line)["context"].replace("\n", " "), None) for line in file)
    with gzip.open(data / "tatoeba" / "train.de-en.tsv.gz", "rt") as file:
        english = [line.split("\t")[0] for line in file]
    Path(f"{folder}/others.txt").write_text("\n".join([*contexts, *english]) + "\n")
    return ",".join(map(str, [*paths, f"{folder}/others.txt"]))


def names(fovea, data, _):
    print("| texts | seed | precision | recall | F1 | seconds |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        untagged = ["--set", f"data.texts={untagged_texts(data, folder)}"]
        runs = [(texts, seed, options) for texts, options in (("none", []), ("17 million words without tags", untagged)) for seed in range(3)]
        with ThreadPoolExecutor(max(1, os.cpu_count() // 2)) as pool:
            measured = pool.map(lambda run: run_fovea(fovea, "tag", data / "ner_wnut17", "--seed", run[1], "--threads", 2, *run[2]), runs)
            for (texts, seed, _), (metrics, _, seconds) in zip(runs, measured):
                print(f"| {texts} | {seed} | {metrics['precision']:.4f} | {metrics['recall']:.4f} | {metrics['f1']:.4f} | {seconds:.0f} |", flush=True)


def pairs(fovea, data, _):
    """The first 12,000 training pairs; test 2016."""
    print("| model | BLEU | chrF | seconds |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for source, name, count in (("train", "train", 12000), ("val", "val", None), ("test_2016_flickr", "test", None)):
            for language in "en", "de":
                with gzip.open(data / "multi30k" / f"{source}.{language}.gz", "rt") as file:
                    Path(f"{folder}/{name}.{language}").write_text("".join(file.readlines()[:count]))
        metrics, baselines, seconds = run_fovea(fovea, "translate", folder, "--direction", "en-de")
    print(f"| fovea | {metrics['bleu']:.1f} | {metrics['chrf']:.1f} | {seconds:.0f} |")
    for name, own in baselines.items():
        print(f"| {name} | {own['bleu']:.1f} | {own['chrf']:.1f} | |")


if __name__ == "__main__":
    parts = {"texts": texts, "names": names, "pairs": pairs}
    if len(sys.argv) < 4 or sys.argv[1] not in parts:
        sys.exit(__doc__)
    parts[sys.argv[1]](sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
