"""The questions of SQuAD 1.1 in splits by article: usage: results_squad.py SQUAD OUT
OUT/train.jsonl holds the articles that dev_articles.tsv calls train and the questions of the training set, OUT/val.jsonl and
OUT/test.jsonl the other articles."""
import gzip
import json
import os
import sys


def rows_of(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def main(squad, out):
    split_of = {}
    with open(os.path.join(squad, "dev_articles.tsv"), encoding="utf-8") as lines:
        names = next(lines).rstrip("\n").split("\t")
        title, part = names.index("title"), names.index("part")
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            split_of[cells[title]] = cells[part]
    splits = {"train": list(rows_of(os.path.join(squad, "train.jsonl.gz"))), "val": [], "test": []}
    for row in rows_of(os.path.join(squad, "dev.jsonl.gz")):
        splits[split_of[row["title"]]].append(row)
    os.makedirs(out, exist_ok=True)
    for name, rows in splits.items():
        with open(os.path.join(out, name + ".jsonl"), "w", encoding="utf-8") as file:
            for row in rows:
                keys = ("id", "question", "context", "answers")
                file.write(json.dumps({key: row[key] for key in keys}, ensure_ascii=False) + "\n")
        print(f"{name}: {len(rows)} questions")


if __name__ == "__main__":
    main(*sys.argv[1:])
