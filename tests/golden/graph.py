"""Reference numbers for graph attention (graph_attention), in float64, from PyTorch (1.13).

Run:  python3 tests/golden/graph.py        (writes graph.json beside itself)

Velickovic et al. 2018 and Brody et al. 2022 by their dense formulas: scores of all pairs of nodes, those without an edge masked away, softmax over each
row, no list of edges anywhere. Two layers, the heads of the first side by side, those of the last averaged. For each score the logits of all nodes, the
weights [H, N, N] of both layers, the mean cross entropy of some nodes and its gradient for every parameter. Parameters have the names of ours.
"""
import json
import pathlib

import torch
from torch.nn import functional as F

from packing import pack

torch.manual_seed(20261119)
torch.set_default_dtype(torch.float64)

NODES, FEATURES, HEADS, WIDTH, OUTPUT_HEADS, CLASSES = 9, 6, 3, 4, 2, 3
EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (5, 3), (6, 0), (6, 5), (7, 6)]  # without direction; node 8 has none
ROWS, TARGET = [4, 0, 8, 6], [2, 0, 1, 0]
SLOPE = 0.2


def adjacency():
    seen = torch.eye(NODES, dtype=torch.bool)
    for one, other in EDGES:
        seen[one, other] = seen[other, one] = True
    return seen


def layer(x, p, score, heads, width):
    """[N, F] -> [H, N, D], weights [H, N, N]."""
    z = (x @ p["weight"]).view(NODES, heads, width).transpose(0, 1)
    if score == "gat":
        scores = F.leaky_relu(torch.einsum("hnd,hd->hn", z, p["to_target"]).unsqueeze(2) + torch.einsum("hnd,hd->hn", z, p["to_source"]).unsqueeze(1), SLOPE)
    elif score == "gatv2":
        y = (x @ p["query_weight"]).view(NODES, heads, width).transpose(0, 1)
        scores = torch.einsum("hijd,hd->hij", F.leaky_relu(y.unsqueeze(2) + z.unsqueeze(1), SLOPE), p["to_target"])
    else:
        scores = torch.zeros(heads, NODES, NODES)
    weights = scores.masked_fill(~adjacency(), float("-inf")).softmax(2)
    return weights @ z, weights


def parameters(score, inputs, heads, width, outputs):
    shapes = {"weight": (inputs, heads * width)}
    if score == "gatv2":
        shapes["query_weight"] = (inputs, heads * width)
    if score != "uniform":
        shapes["to_target"] = (heads, width)
    if score == "gat":
        shapes["to_source"] = (heads, width)
    shapes["bias"] = (outputs,)
    return {name: (torch.randn(shape) * 0.8).requires_grad_() for name, shape in shapes.items()}


def case(score, features):
    first = parameters(score, FEATURES, HEADS, WIDTH, HEADS * WIDTH)
    last = parameters(score, HEADS * WIDTH, OUTPUT_HEADS, CLASSES, CLASSES)
    mixed, first_weights = layer(features, first, score, HEADS, WIDTH)
    hidden = F.elu(mixed.transpose(0, 1).reshape(NODES, HEADS * WIDTH) + first["bias"])
    mixed, last_weights = layer(hidden, last, score, OUTPUT_HEADS, CLASSES)
    logits = mixed.mean(0) + last["bias"]
    loss = F.cross_entropy(logits[ROWS], torch.tensor(TARGET))
    loss.backward()
    named = {f"layers.{place}.{name}": value for place, group in enumerate((first, last)) for name, value in group.items()}
    return {
        "score": score, "logits": pack(logits), "loss": float(loss), "weights": [pack(first_weights), pack(last_weights)],
        "parameters": {name: pack(value) for name, value in named.items()},
        "gradients": {name: pack(value.grad) for name, value in named.items()},
    }


def main():
    features = torch.randn(NODES, FEATURES) * (torch.rand(NODES, FEATURES) < 0.6)  # node by node some are 0
    result = {
        "edges": EDGES, "features": pack(features), "rows": ROWS, "target": TARGET, "slope": SLOPE,
        "heads": HEADS, "width": WIDTH, "output_heads": OUTPUT_HEADS, "classes": CLASSES,
        "cases": [case(score, features) for score in ("gat", "gatv2", "uniform")],
    }
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(result) + "\n")


main()
