"""Reference numbers for multiple choice (bert_chooser), in float64, from PyTorch (1.13) alone: transformers is not needed.

Run:  python3 tests/golden/choices.py        (writes choices.json beside itself)

The encoders are those of hugging_face/bert-classifier.safetensors and distilbert-classifier.safetensors, whose weights transformers drew; the head is
the first row of their classifier. As …ForMultipleChoice computes it: every pair of question and choice by itself, the pooled first state, one number, a
softmax over the choices of the question. Texts are cut by the greedy WordPiece of hugging_face/bert/tokenizer.json. For each question: the ids of every
pair, the logits, the probabilities and, of the likeliest choice, what the last layer's heads look at.
"""
import json
import pathlib
import re
import struct

import torch

HERE = pathlib.Path(__file__).parent
ROWS = [
    {"question": "what does the man eat ?", "choices": ["an apple .", "the dog", "a man eats an apple ."]},
    {"context": "a man eats an apple . the dog runs .", "question": "who runs ?", "choices": ["a dog", "the man runs"]},
]
CLS, SEP, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        flat = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32)
        tensors[name] = flat.reshape(entry["shape"]).double()
    return tensors


def pieces(text, vocabulary):
    ids = []
    for word in re.findall(r"\w+|[^\w\s]", text.lower()):
        begin, own = 0, []
        while begin < len(word):
            for end in range(len(word), begin, -1):
                piece = ("##" if begin else "") + word[begin:end]
                if piece in vocabulary:
                    own.append(vocabulary[piece])
                    begin = end
                    break
            else:
                own, begin = [vocabulary[UNKNOWN]], len(word)
        ids += own
    return ids


def linear(weights, name, x):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def norm(weights, name, x):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weights[name + ".weight"], weights[name + ".bias"], 1e-12)


BERT = {
    "prefix": "bert.", "layer": "bert.encoder.layer.", "query": "attention.self.query", "key": "attention.self.key",
    "value": "attention.self.value", "output": "attention.output.dense", "first": "attention.output.LayerNorm",
    "up": "intermediate.dense", "down": "output.dense", "last": "output.LayerNorm", "pooler": "bert.pooler.dense",
}
DISTILBERT = {
    "prefix": "distilbert.", "layer": "distilbert.transformer.layer.", "query": "attention.q_lin", "key": "attention.k_lin",
    "value": "attention.v_lin", "output": "attention.out_lin", "first": "sa_layer_norm",
    "up": "ffn.lin1", "down": "ffn.lin2", "last": "output_layer_norm", "pooler": "pre_classifier",
}


def score(weights, names, ids, segments, layers=2, heads=4):
    """One pair: its number, and the last layer's attention [H, T, T]."""
    embeddings = names["prefix"] + "embeddings."
    x = weights[embeddings + "word_embeddings.weight"][ids] + weights[embeddings + "position_embeddings.weight"][: len(ids)]
    if embeddings + "token_type_embeddings.weight" in weights:
        x = x + weights[embeddings + "token_type_embeddings.weight"][segments]
    x = norm(weights, embeddings + "LayerNorm", x)
    width = x.shape[1] // heads
    for number in range(layers):
        at = f"{names['layer']}{number}."
        query, key, value = (linear(weights, at + names[part], x).view(-1, heads, width).transpose(0, 1) for part in ("query", "key", "value"))
        attention = torch.softmax(query @ key.transpose(1, 2) / width**0.5, -1)
        mixed = (attention @ value).transpose(0, 1).reshape(len(ids), -1)
        x = norm(weights, at + names["first"], x + linear(weights, at + names["output"], mixed))
        inner = torch.nn.functional.gelu(linear(weights, at + names["up"], x))
        x = norm(weights, at + names["last"], x + linear(weights, at + names["down"], inner))
    pooled = linear(weights, names["pooler"], x[0])
    pooled = torch.tanh(pooled) if names is BERT else torch.relu(pooled)
    return pooled @ weights["classifier.weight"][0] + weights["classifier.bias"][0], attention


def main():
    vocabulary = json.loads((HERE / "hugging_face/bert/tokenizer.json").read_text())["model"]["vocab"]
    result = {"rows": ROWS}
    for family, names in (("bert", BERT), ("distilbert", DISTILBERT)):
        weights = read_safetensors(HERE / f"hugging_face/{family}-classifier.safetensors")
        result[family] = []
        for row in ROWS:
            first = row.get("context", row["question"])
            before = row["question"] + " " if "context" in row else ""
            logits, maps, inputs = [], [], []
            for choice in row["choices"]:
                a, b = pieces(first, vocabulary), pieces(before + choice, vocabulary)
                ids = [vocabulary[CLS], *a, vocabulary[SEP], *b, vocabulary[SEP]]
                logit, attention = score(weights, names, ids, [0] * (len(a) + 2) + [1] * (len(b) + 1))
                logits.append(logit)
                maps.append(attention)
                inputs.append(ids)
            probabilities = torch.softmax(torch.stack(logits), 0)
            best = int(probabilities.argmax())
            result[family].append({
                "inputs": inputs, "logits": [float(x) for x in logits], "probabilities": probabilities.tolist(), "index": best,
                "first_row": [[round(float(x), 8) for x in head[0]] for head in maps[best]],
            })
    (HERE / "choices.json").write_text(json.dumps(result) + "\n")


main()
