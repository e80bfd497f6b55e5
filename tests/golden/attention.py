"""Reference numbers for fovea/attention, in float64, from PyTorch (1.13).

Run:  python3 tests/golden/attention.py        (writes attention.json beside itself)

Each case holds inputs, parameters, and the expected weights, context and gradients of
    loss = sum(context * context_coefficients) + sum(weights * weight_coefficients).
The formulas are written here the long way (concatenated vectors, a loop for the convolution, bisection), not the way the C++ does them.
"""
import json
import math
import pathlib

import torch

from packing import pack

torch.manual_seed(20240611)
torch.set_default_dtype(torch.float64)
B, Q, K, DQ, DK, DV, M, S, F, R = 2, 3, 5, 3, 4, 2, 6, 7, 2, 3
LENGTHS = [5, 3]
KEEP = torch.arange(K)[None, :] < torch.tensor(LENGTHS)[:, None]  # [B, K]


def leaf(*shape, scale=1.0):
    return (torch.randn(*shape) * scale).requires_grad_()


def masked_softmax(scores):
    return torch.softmax(scores.masked_fill(~KEEP[:, None, :], -math.inf), -1)


def sparsemax(scores):
    """tau by bisection of sum max(z - tau, 0) = 1, then one exact step on the support found."""
    z = scores.masked_fill(~KEEP[:, None, :], -1e9)
    low, high = z.detach().amax(-1, True) - 1, z.detach().amax(-1, True)
    for _ in range(200):
        middle = (low + high) / 2
        too_low = (z.detach() - middle).clamp_min(0).sum(-1, True) > 1
        low, high = torch.where(too_low, middle, low), torch.where(too_low, high, middle)
    support = (z.detach() > high).to(z.dtype)
    tau = ((z * support).sum(-1, True) - 1) / support.sum(-1, True)
    return (z - tau) * support


def finish(case, weights, context, leaves):
    context_coefficients, weight_coefficients = torch.randn_like(context), torch.randn_like(weights)
    loss = (context * context_coefficients).sum() + (weights * weight_coefficients).sum()
    gradients = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
    case["context_coefficients"], case["weight_coefficients"] = pack(context_coefficients), pack(weight_coefficients)
    case["weights"], case["context"] = pack(weights), pack(context)
    case["gradients"] = {name: pack(torch.zeros_like(leaves[name]) if g is None else g)
                         for name, g in zip(leaves, gradients)}
    return case


def pairs(query, keys):
    """[B, Q, K, DQ + DK]: each query beside each key."""
    return torch.cat([query[:, :, None, :].expand(-1, -1, K, -1), keys[:, None, :, :].expand(-1, Q, -1, -1)], -1)


def content(query, keys, p, previous):
    beta = torch.nn.functional.softplus(p["raw_sharpness"])
    u, v = query[:, :, None, :], keys[:, None, :, :]
    return beta * (u * v).sum(-1) / (u.norm(dim=-1) * v.norm(dim=-1) + 1e-8)


def additive(query, keys, p, previous):
    weight = torch.cat([p["query.weight"], p["key.weight"]], 1)
    return torch.tanh(pairs(query, keys) @ weight.T) @ p["energy.weight"][0]


def location_base(query, keys, p, previous):
    return (query @ p["weight"].T)[..., :K]


def general(query, keys, p, previous):
    return torch.einsum("bqi,ij,bkj->bqk", query, p["weight"], keys)


def dot(query, keys, p, previous):
    return torch.einsum("bqi,bki->bqk", query, keys)


def scaled_dot(query, keys, p, previous):
    return torch.einsum("bqi,bki->bqk", query, keys) / math.sqrt(keys.shape[-1])


def location_aware(query, keys, p, previous):
    padded = torch.nn.functional.pad(previous, (R // 2, R // 2))
    features = torch.stack([(padded[..., j:j + R, None] * p["filters"][:, 0, :].T).sum(-2) for j in range(K)], -2)
    weight = torch.cat([p["query.weight"], p["key.weight"], p["location.weight"]], 1)
    return torch.tanh(torch.cat([pairs(query, keys), features], -1) @ weight.T + p["query.bias"]) @ p["energy.weight"][0]


SCORES = {
    "content": (content, DK, {"raw_sharpness": (1,)}),
    "additive": (additive, DQ, {"query.weight": (M, DQ), "key.weight": (M, DK), "energy.weight": (1, M)}),
    "location-base": (location_base, DQ, {"weight": (S, DQ)}),
    "general": (general, DQ, {"weight": (DQ, DK)}),
    "dot": (dot, DK, {}),
    "scaled-dot": (scaled_dot, DK, {}),
    "location-aware": (location_aware, DQ, {"query.weight": (M, DQ), "query.bias": (M,), "key.weight": (M, DK),
                                           "location.weight": (M, F), "energy.weight": (1, M), "filters": (F, 1, R)}),
}


def score_case(name, normaliser):
    function, query_size, shapes = SCORES[name]
    query, keys, values = leaf(B, Q, query_size), leaf(B, K, DK), leaf(B, K, DV)
    parameters = {key: leaf(*shape) for key, shape in shapes.items()}
    previous = torch.softmax(torch.randn(B, Q, K), -1) * KEEP[:, None, :]
    scores = function(query, keys, parameters, previous)
    weights = {"softmax": masked_softmax,
               "sparsemax": sparsemax,
               "temperature": lambda e: masked_softmax(e / 0.5),
               "smoothing": lambda e: smoothing(e)}[normaliser](scores)
    context = weights @ values
    case = {"kind": "score", "score": name, "normaliser": normaliser, "hidden_size": M, "maximum_length": S,
            "filters": F, "kernel_width": R, "lengths": LENGTHS,
            "inputs": {"query": pack(query), "keys": pack(keys), "values": pack(values), "previous": pack(previous)},
            "parameters": {key: pack(value) for key, value in parameters.items()}}
    return finish(case, weights, context, {"query": query, "keys": keys, "values": values, **parameters})


def smoothing(scores):
    gates = torch.sigmoid(scores) * KEEP[:, None, :]
    return gates / gates.sum(-1, True)


def local_p_case():
    half_width = 2
    query, keys, values = leaf(B, Q, DK), leaf(B, K, DK), leaf(B, K, DV)
    parameters = {"position.weight": leaf(M, DK), "energy.weight": leaf(1, M)}
    share = torch.sigmoid(torch.tanh(query @ parameters["position.weight"].T) @ parameters["energy.weight"][0])
    center = torch.tensor(LENGTHS, dtype=torch.float64)[:, None] * share
    places = torch.arange(K, dtype=torch.float64)
    distance = places - center[..., None]
    window = KEEP[:, None, :] & (distance.abs() <= half_width)
    scores = torch.einsum("bqi,bki->bqk", query, keys)
    weights = torch.softmax(scores.masked_fill(~window, -math.inf), -1) * torch.exp(-distance ** 2 / (2 * (half_width / 2) ** 2))
    context = weights @ values
    case = {"kind": "local-p", "half_width": half_width, "hidden_size": M, "lengths": LENGTHS,
            "inputs": {"query": pack(query), "keys": pack(keys), "values": pack(values)},
            "parameters": {key: pack(value) for key, value in parameters.items()}}
    return finish(case, weights, context, {"query": query, "keys": keys, "values": values, **parameters})


def multi_head_case(causal):
    width, heads, places = 8, 2, K if not causal else Q
    module = torch.nn.MultiheadAttention(width, heads, batch_first=True)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.5)
    query = leaf(B, Q, width)
    keys = query if causal else leaf(B, places, width)
    values = query if causal else leaf(B, places, width)
    masks = {"attn_mask": torch.ones(Q, Q, dtype=torch.bool).triu(1)} if causal else {"key_padding_mask": ~KEEP}
    context, weights = module(query, keys, values, need_weights=True, average_attn_weights=False, **masks)
    leaves = {"query": query, **dict(module.named_parameters())}
    if not causal:
        leaves = {**leaves, "keys": keys, "values": values}
    case = {"kind": "multi-head", "causal": causal, "width": width, "heads": heads, "lengths": LENGTHS,
            "inputs": {"query": pack(query), "keys": pack(keys), "values": pack(values)},
            "parameters": {key: pack(value) for key, value in module.named_parameters()}}
    return finish(case, weights, context, leaves)


def main():
    cases = [score_case(name, "softmax") for name in SCORES]
    cases += [score_case("dot", normaliser) for normaliser in ("sparsemax", "temperature", "smoothing")]
    cases += [local_p_case(), multi_head_case(False), multi_head_case(True)]
    lines = ",\n".join(json.dumps(case) for case in cases)
    text = f'{{"torch": "{torch.__version__}", "cases": [\n{lines}\n]}}\n'
    pathlib.Path(__file__).with_suffix(".json").write_text(text)


if __name__ == "__main__":
    main()
