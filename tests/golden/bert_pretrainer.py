"""Reference numbers for fovea/models/bert_pretrainer, in float64, from PyTorch (1.13).

Run:  python3 tests/golden/bert_pretrainer.py        (writes bert_pretrainer.json beside itself)

A BERT of two layers, written out with plain tensor operations and Hugging Face's names: attention, logits of the masked positions and of next
sentence, and the mean-pooled embedding.
"""
import json
import math
import pathlib

import torch
import torch.nn.functional as F

torch.manual_seed(20181011)
torch.set_default_dtype(torch.float64)

VOCABULARY, WIDTH, HEADS, INNER, LAYERS, POSITIONS = 14, 8, 2, 12, 2, 9
EPSILON = 1e-12


def pack(tensor):
    return {"shape": list(tensor.shape), "data": [round(float(x), 9) for x in tensor.reshape(-1)]}


def make_weights():
    shapes = {
        "embeddings.word_embeddings.weight": (VOCABULARY, WIDTH), "embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }

    def norm(name):
        shapes[name + ".weight"] = shapes[name + ".bias"] = (WIDTH,)

    def dense(name, out, inner):
        shapes[name + ".weight"], shapes[name + ".bias"] = (out, inner), (out,)

    norm("embeddings.LayerNorm")
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}."
        for part in ("query", "key", "value"):
            dense(layer + "attention.self." + part, WIDTH, WIDTH)
        dense(layer + "attention.output.dense", WIDTH, WIDTH)
        norm(layer + "attention.output.LayerNorm")
        dense(layer + "intermediate.dense", INNER, WIDTH)
        dense(layer + "output.dense", WIDTH, INNER)
        norm(layer + "output.LayerNorm")
    dense("pooler.dense", WIDTH, WIDTH)
    dense("cls.predictions.transform.dense", WIDTH, WIDTH)
    norm("cls.predictions.transform.LayerNorm")
    shapes["cls.predictions.bias"] = (VOCABULARY,)
    dense("cls.seq_relationship", 2, WIDTH)
    # PyTorch starts biases and norms at 0 and 1, which would hide mistakes.
    return {name: torch.randn(shape) * 0.4 + (0.5 if len(shape) == 1 else 0) for name, shape in sorted(shapes.items())}


def run(weights, tokens, segments, keep):
    def dense(name, x):
        return x @ weights[name + ".weight"].T + weights[name + ".bias"]

    def norm(name, x):
        return F.layer_norm(x, (WIDTH,), weights[name + ".weight"], weights[name + ".bias"], EPSILON)

    def heads(x):
        return x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)

    x = weights["embeddings.word_embeddings.weight"][tokens] + weights["embeddings.token_type_embeddings.weight"][segments]
    x = norm("embeddings.LayerNorm", x + weights["embeddings.position_embeddings.weight"][: tokens.shape[1]])
    maps = []
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}."
        q, k, v = (heads(dense(layer + "attention.self." + part, x)) for part in ("query", "key", "value"))
        scores = (q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)).masked_fill(~keep[:, None, None, :], -math.inf)
        maps.append(scores.softmax(-1))
        mixed = (maps[-1] @ v).transpose(1, 2).flatten(2)
        x = norm(layer + "attention.output.LayerNorm", x + dense(layer + "attention.output.dense", mixed))
        x = norm(layer + "output.LayerNorm", x + dense(layer + "output.dense", F.gelu(dense(layer + "intermediate.dense", x))))
    pooled = torch.tanh(dense("pooler.dense", x[:, 0]))
    pieces = norm("cls.predictions.transform.LayerNorm", F.gelu(dense("cls.predictions.transform.dense", x)))
    pieces = pieces @ weights["embeddings.word_embeddings.weight"].T + weights["cls.predictions.bias"]
    mean = (x * keep[..., None]).sum(1) / keep.sum(1, keepdim=True)
    return maps, pieces, dense("cls.seq_relationship", pooled), mean / mean.norm(dim=1, keepdim=True)


def main():
    weights = make_weights()
    tokens = torch.tensor([[2, 4, 6, 3, 9, 8, 3], [2, 7, 4, 3, 0, 0, 0]])  # 2 [CLS], 3 [SEP], 4 [MASK]
    segments = torch.tensor([[0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0]])
    keep = tokens != 0
    maps, pieces, following, embedding = run(weights, tokens, segments, keep)
    result = {
        "sizes": {"vocabulary": VOCABULARY, "hidden": WIDTH, "heads": HEADS, "feed_forward": INNER, "layers": LAYERS, "maximum_length": POSITIONS},
        "weights": {name: pack(value) for name, value in weights.items()},
        "tokens": pack(tokens), "segments": pack(segments), "keep": pack(keep), "maps": [pack(one) for one in maps],
        "mask_log_probabilities": pack(pieces[tokens == 4].log_softmax(-1)), "next_logits": pack(following), "embedding": pack(embedding),
    }
    pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(result, separators=(",", ":")) + "\n")


main()
