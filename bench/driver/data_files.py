"""Random data in the shapes that rows are timed on: all of one length, so that nothing but the network is timed."""
import gzip
import json
import os
import random

import numpy

LETTERS, DIGITS = "abcdefghijklmnopqrstuvwxyz0123456789", "0123456789-"


def dealt(different):
    """Hands out words like cards, so that all of them occur: a function that gives so many, as one text."""
    draw, deck = random.Random(1), []

    def line(count):
        while len(deck) < count:
            deck[:0] = draw.sample(range(different), different)  # those left over come first
        return " ".join(f"w{deck.pop()}" for _ in range(count))

    return line


def write_table(path, header, lines):
    with open(path, "w") as file:
        file.write(header + "\n")
        file.writelines(line + "\n" for line in lines)


def write_pairs(folder, rows, pair):
    os.makedirs(folder)
    for name, count in (("train.tsv", rows), ("val.tsv", 8)):
        write_table(os.path.join(folder, name), "source\ttarget", ("\t".join(pair()) for _ in range(count)))


def write_words(folder, rows, words, different, symbols=None):
    """Pairs of random words; `symbols` of a target with its end symbol, as many as the source's words unless told."""
    source, target, symbols = dealt(different), dealt(different), symbols or words
    write_pairs(folder, rows, lambda: (source(words), target(symbols - 1)))


def write_prepared_words(folder, rows, words, different):
    """The same, and a prepared file (docs/formats/prepared.md) of it: a machine with a GPU may have no tokeniser."""
    write_words(folder, rows, words, different)
    vocabulary = [f"\u2581w{word}" for word in range(different)]
    tensors = {}
    for part, name in (("train.", "train.tsv"), ("val.", "val.tsv")):
        with open(os.path.join(folder, name)) as file:
            columns = list(zip(*(line.rstrip("\n").split("\t") for line in list(file)[1:])))
        for side, texts in zip(("source", "target"), columns):
            ids, spans, offsets, starts = [], [], [0], [0]
            for text in texts:
                place = 0
                for word in text.split():
                    place = text.index(word, place)
                    ids.append(4 + int(word[1:]))
                    spans.append((place, place + len(word)))
                    place += len(word)
                offsets.append(len(ids))
                starts.append(starts[-1] + len(text))
            tensors |= {f"{part}{side}.ids": numpy.array(ids, "int32"), f"{part}{side}.spans": numpy.array(spans, "int32"),
                        f"{part}{side}.offsets": numpy.array(offsets, "int64")}
            kind = "source" if side == "source" else "references"
            tensors |= {f"{part}{kind}.text": numpy.frombuffer("".join(texts).encode(), "uint8"),
                        f"{part}{kind}.text_offsets": numpy.array(starts, "int64")}
        tensors[f"{part}references.offsets"] = numpy.arange(len(columns[0]) + 1)
    tokeniser = json.dumps({"kind": "words", "vocabulary": vocabulary})
    write_safetensors(os.path.join(folder, "prepared.safetensors"), tensors, {
        "format": "fovea-prepared", "version": "1", "options": "{}", "notes": "[]", "task": "translate",
        "source_tokeniser": tokeniser, "target_tokeniser": tokeniser})


def write_safetensors(path, tensors, metadata):
    types = {"uint8": "U8", "int32": "I32", "int64": "I64"}
    header, place = {"__metadata__": metadata}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": types[str(values.dtype)], "shape": list(values.shape), "data_offsets": [place, place + values.nbytes]}
        place += values.nbytes
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)
    with open(path, "wb") as file:
        file.write(len(encoded).to_bytes(8, "little") + encoded)
        for values in tensors.values():
            file.write(values.tobytes())


def write_characters(folder, rows, source, target):
    """Pairs of random characters; the end symbol is one of `target`."""
    draw = random.Random(1)
    write_pairs(folder, rows, lambda: ("".join(draw.choices(LETTERS, k=source)), "".join(draw.choices(DIGITS, k=target - 1))))


def write_documents(folder, rows, sentences, words, different):
    """Texts of random words and a class by turns."""
    line = dealt(different)
    os.makedirs(folder)
    for name, count in (("train.tsv", rows), ("val.tsv", 8)):
        texts = ("<br>".join(line(words) for _ in range(sentences)) + f"\t{row % 2}" for row in range(count))
        write_table(os.path.join(folder, name), "text\tlabel", texts)


def write_graph(folder, nodes, edges, features, each, classes):
    """A random graph: 20 training nodes of each class, 500 for validation, 1,000 for the test."""
    draw, word = random.Random(1), dealt(features)
    os.makedirs(folder)
    pairs = set()
    while len(pairs) < edges:
        one, other = draw.sample(range(nodes), 2)
        pairs.add((min(one, other), max(one, other)))
    train = 20 * classes
    part = lambda node: "train" if node < train else "val" if node < train + 500 else "test" if node < train + 1500 else "unused"
    tables = {
        "edges.tsv": (f"{one}\t{other}\n" for one, other in sorted(pairs)),
        "features.tsv": (f"{node}\t{' '.join(sorted(set(word(each).split())))}\n" for node in range(nodes)),
        "labels.tsv": (f"{node}\t{node % classes}\n" for node in range(nodes)),
        "split.tsv": (f"{node}\t{part(node)}\n" for node in range(nodes)),
    }
    for name, lines in tables.items():
        with open(os.path.join(folder, name), "w") as file:
            file.writelines(lines)


def write_multi30k(folder, corpus, rows, tests):
    """The first pairs of Multi30k's training part, English to German, and of its test of 2016."""
    os.makedirs(folder)
    for name, part, count in (("train.tsv", "train", rows), ("val.tsv", "val", 8), ("test.tsv", "test_2016_flickr", tests)):
        sides = [gzip.open(os.path.join(corpus, f"{part}.{language}.gz"), "rt") for language in ("en", "de")]
        pairs = list(zip(*sides))[:count]
        write_table(os.path.join(folder, name), "source\ttarget", ("\t".join(side.strip().replace("\t", " ") for side in pair) for pair in pairs))
