"""Reference numbers for fovea/nn and fovea/models/seq2seq, in float64, from PyTorch (1.13).

Run:  python3 tests/golden/seq2seq.py        (writes seq2seq.json beside itself)

recurrent: torch.nn.RNN, GRU and LSTM over packed sequences of different lengths, two layers, both directions.
models: whole networks, with Bahdanau's decoder, with Luong's, and those of Cho 2014, Sutskever 2014 and the date demonstration, written step by step
from their formulas: the loss of a batch and the gradient of every parameter. Parameters have the names that the C++ models give them.
"""
import json
import math
import pathlib

import torch
from torch import nn

from packing import pack

torch.manual_seed(20261115)
torch.set_default_dtype(torch.float64)


def recurrent_case(cell):
    module = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[cell](3, 4, num_layers=2, bidirectional=True, batch_first=True)
    x = torch.randn(3, 5, 3, requires_grad=True)
    lengths = torch.tensor([3, 5, 1])
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    outputs, state = module(packed)
    outputs, _ = nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True, total_length=5)
    states = state if cell == "lstm" else (state,)
    coefficients = [torch.randn_like(outputs)] + [torch.randn_like(s) for s in states]
    loss = sum((value * c).sum() for value, c in zip((outputs, *states), coefficients))
    named = dict(module.named_parameters())
    gradients = torch.autograd.grad(loss, [x, *named.values()])
    return {
        "cell": cell, "x": pack(x), "lengths": lengths.tolist(), "outputs": pack(outputs),
        "hidden": pack(states[0]), "memory": pack(states[1]) if cell == "lstm" else None,
        "coefficients": [pack(c) for c in coefficients],
        "parameters": {name: pack(value) for name, value in named.items()},
        "input_gradient": pack(gradients[0]),
        "gradients": {name: pack(g) for name, g in zip(named, gradients[1:])},
    }


SOURCE, TARGET, EMBEDDING, HIDDEN = 8, 7, 3, 4
SOURCE_IDS = torch.tensor([[4, 6, 5, 7, 4], [7, 5, 4, 0, 0]])
LENGTHS = [5, 3]
KEEP = torch.arange(5)[None, :] < torch.tensor(LENGTHS)[:, None]
TARGET_IDS = torch.tensor([[5, 6, 4, 3], [6, 3, 0, 0]])
BEGIN = 2


def fresh(*shape):
    return (torch.randn(*shape) * 0.5).requires_grad_()


def cell_parameters(prefix, gates, inputs, hidden, suffix):
    return {f"{prefix}weight_ih_{suffix}": fresh(gates * hidden, inputs), f"{prefix}weight_hh_{suffix}": fresh(gates * hidden, hidden),
            f"{prefix}bias_ih_{suffix}": fresh(gates * hidden), f"{prefix}bias_hh_{suffix}": fresh(gates * hidden)}


def step(cell, p, prefix, suffix, x, state):
    """One step of a cell from named parameters, by its textbook formula."""
    h = state[0]
    gi = x @ p[f"{prefix}weight_ih_{suffix}"].T + p[f"{prefix}bias_ih_{suffix}"]
    gh = h @ p[f"{prefix}weight_hh_{suffix}"].T + p[f"{prefix}bias_hh_{suffix}"]
    if cell == "gru":
        ri, zi, ni = gi.chunk(3, -1)
        rh, zh, nh = gh.chunk(3, -1)
        r, z = torch.sigmoid(ri + rh), torch.sigmoid(zi + zh)
        return ((1 - z) * torch.tanh(ni + r * nh) + z * h,)
    i, f, g, o = (gi + gh).chunk(4, -1)
    c = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
    return (torch.sigmoid(o) * torch.tanh(c), c)


def encode(cell, p, hidden):
    """Each sentence on its own, so that padding cannot enter."""
    kinds = 2 if cell == "lstm" else 1
    encoded, last = [], []
    for row, length in enumerate(LENGTHS):
        x = p["source_embedding.weight"][SOURCE_IDS[row, :length]]
        both, ends = [], []
        for suffix, places in (("l0", range(length)), ("l0_reverse", range(length - 1, -1, -1))):
            state = tuple(torch.zeros(1, hidden) for _ in range(kinds))
            outputs = [None] * length
            for t in places:
                state = step(cell, p, "encoder.", suffix, x[t:t + 1], state)
                outputs[t] = state[0]
            both.append(torch.cat(outputs))
            ends.append(state)
        padded = torch.zeros(5, 2 * hidden)
        encoded.append(torch.cat([torch.cat(both, 1), padded[length:]]))
        last.append([torch.cat([end[k] for end in ends], 1) for k in range(kinds)])
    return torch.stack(encoded), [torch.cat([row[k] for row in last]) for k in range(kinds)]


def attention(scores):
    return torch.softmax(scores.masked_fill(~KEEP, -math.inf), -1)


def cross_entropy(logits):
    """Mean of -log p over the positions that are no padding, smoothed by .1."""
    log_p = torch.log_softmax(logits, -1)
    hit = -log_p.gather(2, TARGET_IDS[..., None])[..., 0]
    every = -log_p.mean(-1)
    keep = TARGET_IDS != 0
    return ((0.9 * hit + 0.1 * every) * keep).sum() / keep.sum()


def bahdanau():
    """gru, additive score with the old state, maxout readout from the old state, backward bridge."""
    enc, score, maxout = 2, 5, 3
    p = {"source_embedding.weight": fresh(SOURCE, EMBEDDING), "target_embedding.weight": fresh(TARGET, EMBEDDING),
         **cell_parameters("encoder.", 3, EMBEDDING, enc, "l0"), **cell_parameters("encoder.", 3, EMBEDDING, enc, "l0_reverse"),
         "bridge_l0.weight": fresh(HIDDEN, enc), "bridge_l0.bias": fresh(HIDDEN),
         **cell_parameters("decoder.recurrent.", 3, EMBEDDING + 2 * enc, HIDDEN, "l0"),
         "decoder.score.query.weight": fresh(score, HIDDEN), "decoder.score.key.weight": fresh(score, 2 * enc),
         "decoder.score.energy.weight": fresh(1, score),
         "decoder.combine.weight": fresh(2 * maxout, HIDDEN + EMBEDDING + 2 * enc), "decoder.combine.bias": fresh(2 * maxout),
         "output.weight": fresh(TARGET, maxout), "output.bias": fresh(TARGET)}
    h, last = encode("gru", p, enc)
    s = torch.tanh(last[0][:, enc:] @ p["bridge_l0.weight"].T + p["bridge_l0.bias"])
    y = torch.full((2,), BEGIN)
    logits = []
    for t in range(4):
        e = torch.tanh((s @ p["decoder.score.query.weight"].T)[:, None] + h @ p["decoder.score.key.weight"].T)
        a = attention((e @ p["decoder.score.energy.weight"].T)[..., 0])
        c = (a[..., None] * h).sum(1)
        x = p["target_embedding.weight"][y]
        u = torch.cat([s, x, c], 1) @ p["decoder.combine.weight"].T + p["decoder.combine.bias"]
        r = torch.maximum(u[:, 0::2], u[:, 1::2])
        logits.append(r @ p["output.weight"].T + p["output.bias"])
        (s,) = step("gru", p, "decoder.recurrent.", "l0", torch.cat([x, c], 1), (s,))
        y = TARGET_IDS[:, t]
    return p, torch.stack(logits, 1)


def luong():
    """lstm, general score with the new state, input feeding, tanh readout, dense bridge."""
    enc = 2
    p = {"source_embedding.weight": fresh(SOURCE, EMBEDDING), "target_embedding.weight": fresh(TARGET, EMBEDDING),
         **cell_parameters("encoder.", 4, EMBEDDING, enc, "l0"), **cell_parameters("encoder.", 4, EMBEDDING, enc, "l0_reverse"),
         "bridge_l0.weight": fresh(HIDDEN, 2 * enc), "bridge_l0.bias": fresh(HIDDEN),
         "cell_bridge_l0.weight": fresh(HIDDEN, 2 * enc), "cell_bridge_l0.bias": fresh(HIDDEN),
         **cell_parameters("decoder.recurrent.", 4, EMBEDDING + HIDDEN, HIDDEN, "l0"),
         "decoder.score.weight": fresh(HIDDEN, 2 * enc),
         "decoder.combine.weight": fresh(HIDDEN, 2 * enc + HIDDEN),
         "output.weight": fresh(TARGET, HIDDEN), "output.bias": fresh(TARGET)}
    h, last = encode("lstm", p, enc)
    state = (torch.tanh(last[0] @ p["bridge_l0.weight"].T + p["bridge_l0.bias"]),
             last[1] @ p["cell_bridge_l0.weight"].T + p["cell_bridge_l0.bias"])
    y, r = torch.full((2,), BEGIN), torch.zeros(2, HIDDEN)
    logits = []
    for t in range(4):
        state = step("lstm", p, "decoder.recurrent.", "l0", torch.cat([p["target_embedding.weight"][y], r], 1), state)
        a = attention((state[0][:, None] * (h @ p["decoder.score.weight"].T)).sum(-1))
        c = (a[..., None] * h).sum(1)
        r = torch.tanh(torch.cat([c, state[0]], 1) @ p["decoder.combine.weight"].T)
        logits.append(r @ p["output.weight"].T + p["output.bias"])
        y = TARGET_IDS[:, t]
    return p, torch.stack(logits, 1)


def papers_gru(p, prefix, suffix, x, h, gated=None):
    """Cho 2014's GRU: U (r * h) in the candidate; with `gated`, the last inputs, r * (U h + C c)."""
    w, u = p[f"{prefix}weight_ih_{suffix}"].chunk(3), p[f"{prefix}weight_hh_{suffix}"].chunk(3)
    b = [bi + bh for bi, bh in zip(p[f"{prefix}bias_ih_{suffix}"].chunk(3), p[f"{prefix}bias_hh_{suffix}"].chunk(3))]
    both = x if gated is None else torch.cat([x, gated], 1)
    r = torch.sigmoid(both @ w[0].T + h @ u[0].T + b[0])
    z = torch.sigmoid(both @ w[1].T + h @ u[1].T + b[1])
    if gated is None:
        new = torch.tanh(x @ w[2].T + (r * h) @ u[2].T + b[2])
    else:
        bi, bh = p[f"{prefix}bias_ih_{suffix}"].chunk(3)[2], p[f"{prefix}bias_hh_{suffix}"].chunk(3)[2]
        own = x.shape[1]
        new = torch.tanh(x @ w[2][:, :own].T + bi + r * (h @ u[2].T + gated @ w[2][:, own:].T + bh))
    return z * h + (1 - z) * new


def cho():
    """c = tanh(V h_T); s_0 = tanh(V' c); the reset gate scales C c; maxout of s_t, y_{t-1} and c; output matrix of rank 2."""
    maxout, rank = 3, 2
    p = {"source_embedding.weight": fresh(SOURCE, EMBEDDING), "target_embedding.weight": fresh(TARGET, EMBEDDING),
         **cell_parameters("encoder.", 3, EMBEDDING, HIDDEN, "l0"),
         "summary.weight": fresh(HIDDEN, HIDDEN), "summary.bias": fresh(HIDDEN),
         "bridge_l0.weight": fresh(HIDDEN, HIDDEN), "bridge_l0.bias": fresh(HIDDEN),
         **cell_parameters("decoder.recurrent.", 3, EMBEDDING + HIDDEN, HIDDEN, "l0"),
         "decoder.combine.weight": fresh(2 * maxout, HIDDEN + EMBEDDING + HIDDEN), "decoder.combine.bias": fresh(2 * maxout),
         "output_factor.weight": fresh(rank, maxout), "output.weight": fresh(TARGET, rank), "output.bias": fresh(TARGET)}
    last = []
    for row, length in enumerate(LENGTHS):
        h = torch.zeros(1, HIDDEN)
        for t in range(length):
            h = papers_gru(p, "encoder.", "l0", p["source_embedding.weight"][SOURCE_IDS[row, t]][None], h)
        last.append(h)
    c = torch.tanh(torch.cat(last) @ p["summary.weight"].T + p["summary.bias"])
    s = torch.tanh(c @ p["bridge_l0.weight"].T + p["bridge_l0.bias"])
    y, logits = torch.full((2,), BEGIN), []
    for t in range(4):
        x = p["target_embedding.weight"][y]
        s = papers_gru(p, "decoder.recurrent.", "l0", x, s, c)
        u = torch.cat([s, x, c], 1) @ p["decoder.combine.weight"].T + p["decoder.combine.bias"]
        r = torch.maximum(u[:, 0::2], u[:, 1::2])
        logits.append(r @ (p["output.weight"] @ p["output_factor.weight"]).T + p["output.bias"])
        y = TARGET_IDS[:, t]
    return p, torch.stack(logits, 1)


def sutskever():
    """Two layers of lstm, the source from its end, states handed over, softmax of the top state alone."""
    p = {"source_embedding.weight": fresh(SOURCE, EMBEDDING), "target_embedding.weight": fresh(TARGET, EMBEDDING),
         **cell_parameters("encoder.", 4, EMBEDDING, HIDDEN, "l0"), **cell_parameters("encoder.", 4, HIDDEN, HIDDEN, "l1"),
         **cell_parameters("decoder.recurrent.", 4, EMBEDDING, HIDDEN, "l0"),
         **cell_parameters("decoder.recurrent.", 4, HIDDEN, HIDDEN, "l1"),
         "output.weight": fresh(TARGET, HIDDEN), "output.bias": fresh(TARGET)}

    def stacked(prefix, x, states):
        after = []
        for layer, state in enumerate(states):
            after.append(step("lstm", p, prefix, f"l{layer}", x, state))
            x = after[-1][0]
        return after

    rows = []
    for row, length in enumerate(LENGTHS):
        states = [(torch.zeros(1, HIDDEN), torch.zeros(1, HIDDEN)) for _ in range(2)]
        for t in reversed(range(length)):
            states = stacked("encoder.", p["source_embedding.weight"][SOURCE_IDS[row, t]][None], states)
        rows.append(states)
    states = [tuple(torch.cat([row[layer][k] for row in rows]) for k in range(2)) for layer in range(2)]
    y, logits = torch.full((2,), BEGIN), []
    for t in range(4):
        states = stacked("decoder.recurrent.", p["target_embedding.weight"][y], states)
        logits.append(states[-1][0] @ p["output.weight"].T + p["output.bias"])
        y = TARGET_IDS[:, t]
    return p, torch.stack(logits, 1)


def demonstration():
    """One-hot symbols, BiLSTM encoder, s_0 from the first encoded position, the network's own softmax fed back, nothing at first; all from s_{t-1}."""
    enc, score = 2, 5
    p = {**cell_parameters("encoder.", 4, SOURCE, enc, "l0"), **cell_parameters("encoder.", 4, SOURCE, enc, "l0_reverse"),
         "bridge_l0.weight": fresh(HIDDEN, 2 * enc),
         **cell_parameters("decoder.recurrent.", 3, TARGET + 2 * enc, HIDDEN, "l0"),
         "decoder.score.query.weight": fresh(score, HIDDEN), "decoder.score.query.bias": fresh(score),
         "decoder.score.key.weight": fresh(score, 2 * enc), "decoder.score.energy.weight": fresh(1, score),
         "output.weight": fresh(TARGET, HIDDEN + TARGET + 2 * enc), "output.bias": fresh(TARGET)}
    h, _ = encode("lstm", {**p, "source_embedding.weight": torch.eye(SOURCE)}, enc)
    s = torch.tanh(h[:, 0] @ p["bridge_l0.weight"].T)
    y, logits = torch.zeros(2, TARGET), []
    for t in range(4):
        e = torch.tanh((s @ p["decoder.score.query.weight"].T + p["decoder.score.query.bias"])[:, None] + h @ p["decoder.score.key.weight"].T)
        a = attention((e @ p["decoder.score.energy.weight"].T)[..., 0])
        c = (a[..., None] * h).sum(1)
        logits.append(torch.cat([s, y, c], 1) @ p["output.weight"].T + p["output.bias"])
        s = papers_gru(p, "decoder.recurrent.", "l0", torch.cat([y, c], 1), s)
        y = torch.softmax(logits[-1], -1)
    return p, torch.stack(logits, 1)


def model_case(name, make):
    p, logits = make()
    loss = cross_entropy(logits)
    gradients = torch.autograd.grad(loss, list(p.values()))
    return {"name": name, "parameters": {k: pack(v) for k, v in p.items()}, "logits": pack(logits), "loss": float(loss),
            "gradients": {k: pack(g) for k, g in zip(p, gradients)}}


def main():
    out = {
        "recurrent": [recurrent_case(cell) for cell in ("rnn", "gru", "lstm")],
        "source": SOURCE_IDS.tolist(), "keep": KEEP.tolist(), "target": TARGET_IDS.tolist(),
        "models": [model_case(make.__name__, make) for make in (bahdanau, luong, cho, sutskever, demonstration)],
    }
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(out) + "\n")
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
