"""Reference numbers for the task speech, in float64: log-mel features from NumPy, the model (listen_attend_spell) from PyTorch (1.13).

Run:  python3 tests/golden/speech.py        (writes speech.json beside itself)

features: the formulas of data/speech/log_mel.h word for word, with a Fourier sum instead of a fast transform.
cases: Chorowski et al. 2015 and Chan et al. 2016, one utterance at a time, so that nothing is padded but by the pyramid: loss (-log p of all symbols, divided
by their number), its gradient for every parameter, log-probabilities and attention. Parameters have the names of ours.
"""
import json
import math
import pathlib

import numpy
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(20261116)
torch.set_default_dtype(torch.float64)

RATE, WINDOW, STEP, BANDS, LOWEST, HIGHEST = 8000, 0.025, 0.01, 12, 100, 3800


def pack(tensor):
    tensor = torch.as_tensor(tensor).detach()
    return {"shape": list(tensor.shape), "data": [float(x) for x in tensor.reshape(-1)]}


def mel_of(hertz):
    return 2595 * math.log10(1 + hertz / 700)


def hertz_of(mel):
    return 700 * (10 ** (mel / 2595) - 1)


def filters(size):
    ends = [hertz_of(mel_of(LOWEST) + (mel_of(HIGHEST) - mel_of(LOWEST)) * i / (BANDS + 1)) for i in range(BANDS + 2)]
    table = numpy.zeros((BANDS, size // 2 + 1))
    for band in range(BANDS):
        low, peak, high = ends[band:band + 3]
        for k in range(size // 2 + 1):
            hertz = k * RATE / size
            if low < hertz <= peak:
                table[band, k] = (hertz - low) / (peak - low)
            elif peak < hertz < high:
                table[band, k] = (high - hertz) / (high - peak)
    return table


def log_mel(samples):
    window, step, size = round(WINDOW * RATE), round(STEP * RATE), 256
    table = filters(size)
    rows = []
    for frame in range(-(-len(samples) // step)):
        first = frame * step - (window - step) // 2
        power = numpy.zeros(size // 2 + 1)
        values = [samples[first + i] / 32768 if 0 <= first + i < len(samples) else 0 for i in range(window)]
        values = numpy.array([v * (1 - math.cos(2 * math.pi * i / window)) / 2 for i, v in enumerate(values)])
        for k in range(size // 2 + 1):
            angle = 2 * math.pi * k * numpy.arange(window) / size
            power[k] = (values * numpy.cos(angle)).sum() ** 2 + (values * numpy.sin(angle)).sum() ** 2
        rows.append(numpy.log(table @ power + 1e-8))
    return numpy.array(rows), table


def slopes(x):
    at = lambda t: x[min(max(t, 0), len(x) - 1)]
    return numpy.array([sum(n * (at(t + n) - at(t - n)) for n in (1, 2)) / 10 for t in range(len(x))])


def features():
    samples = [round(9000 * math.sin(2 * math.pi * 440 * n / RATE) * n / 1003 + 4000 * math.sin(2 * math.pi * 1730 * n / RATE))
               for n in range(1003)]
    samples[500:700] = [0] * 200
    bands, table = log_mel(samples)
    once = slopes(bands)
    return {"samples": samples, "filters": pack(table), "log_mel": pack(bands),
            "with_deltas": pack(numpy.concatenate([bands, once, slopes(once)], 1))}


WIDTH, ENCODER, HIDDEN, EMBEDDING, SYMBOLS, SCORE, READOUT, FILTERS, KERNEL = 6, 3, 5, 4, 8, 4, 3, 2, 3
SOUNDS = [torch.randn(7, WIDTH), torch.randn(4, WIDTH), torch.randn(5, WIDTH)]
TEXTS = [[4, 5, 6, 3], [7, 3], [5, 4, 3]]
BEGIN = 2


class Score(nn.Module):
    def __init__(self, location):
        super().__init__()
        self.query = nn.Linear(HIDDEN, SCORE, bias=location)
        self.key = nn.Linear(2 * ENCODER, SCORE, bias=False)
        self.energy = nn.Linear(SCORE, 1, bias=False)
        if location:
            self.location = nn.Linear(FILTERS, SCORE, bias=False)
            self.filters = nn.Parameter(torch.randn(FILTERS, 1, KERNEL))

    def forward(self, state, h, previous):
        """state [H], h [K, D], previous [K] or None -> [K]"""
        total = self.query(state)[None] + self.key(h)
        if previous is not None and hasattr(self, "location"):
            seen = F.conv1d(previous[None, None], self.filters, padding=KERNEL // 2)[0].T  # [K, f]
            total = total + self.location(seen)
        return self.energy(torch.tanh(total))[:, 0]


class Net(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.case = case
        kind = {"gru": nn.GRU, "lstm": nn.LSTM}[case["cell"]]
        self.encoder = nn.Module()
        for layer in range(case["layers"]):
            inputs = case["stack"] * WIDTH if layer == 0 else 2 * ENCODER * self.joined(layer)
            setattr(self.encoder, f"layer{layer}", kind(inputs, ENCODER, batch_first=True, bidirectional=True))
        self.bridge_l0 = nn.Linear(2 * ENCODER, HIDDEN)
        if case["cell"] == "lstm":
            self.cell_bridge_l0 = nn.Linear(2 * ENCODER, HIDDEN)
        self.embedding = nn.Embedding(SYMBOLS, EMBEDDING)
        self.decoder = nn.Module()
        self.decoder.recurrent = kind(EMBEDDING + 2 * ENCODER, HIDDEN, batch_first=True)
        self.decoder.score = Score(case["score"] == "location-aware")
        seen = HIDDEN + 2 * ENCODER + (0 if self.writes_first() else EMBEDDING)
        self.decoder.combine = nn.Linear(seen, 2 * READOUT)
        self.output = nn.Linear(READOUT, SYMBOLS)

    def writes_first(self):
        return self.case.get("decoder") == "chorowski"

    def joined(self, layer):
        return 2 if layer >= self.case["layers"] - self.case["pyramid"] else 1

    def listen(self, frames):
        """frames [S, F] -> h [K, D] and the last states, forward and backward side by side."""
        x = frames
        for layer in range(self.case["layers"]):
            count = self.case["stack"] if layer == 0 else self.joined(layer)
            missing = -len(x) % count
            x = torch.cat([x, torch.zeros(missing, x.shape[1])]).reshape(-1, count * x.shape[1])
            own = getattr(self.encoder, f"layer{layer}")
            if self.case.get("reset") == "before":
                x, last = self.both_ways(own, x)
                continue
            out, state = own(x[None])
            x = out[0]
        if self.case.get("reset") == "before":
            return x, [last]
        states = state if self.case["cell"] == "lstm" else (state,)
        return x, [torch.cat([own[0, 0], own[1, 0]]) for own in states]

    def both_ways(self, own, x):
        outputs, ends = [], []
        for suffix, places in (("l0", range(len(x))), ("l0_reverse", range(len(x) - 1, -1, -1))):
            h, states = torch.zeros(ENCODER), [None] * len(x)
            for t in places:
                h = states[t] = self.papers_gru(own, x[t], h, suffix)
            outputs.append(torch.stack(states))
            ends.append(h)
        return torch.cat(outputs, 1), torch.cat(ends)

    @staticmethod
    def papers_gru(own, x, h, suffix="l0"):
        """The reset gate before the product, U (r * h)."""
        w, u, bi, bh = (getattr(own, f"{kind}_{suffix}").chunk(3) for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
        r, z = (torch.sigmoid(w[k] @ x + bi[k] + u[k] @ h + bh[k]) for k in (0, 1))
        return z * h + (1 - z) * torch.tanh(w[2] @ x + bi[2] + u[2] @ (r * h) + bh[2])

    def normalise(self, e):
        if self.case["normaliser"] == "smoothing":
            return torch.sigmoid(e) / torch.sigmoid(e).sum()
        return torch.softmax(e, 0)

    def forward(self, frames, text):
        h, last = self.listen(frames)
        hidden = torch.tanh(self.bridge_l0(last[0]))
        cell = self.cell_bridge_l0(last[1]) if self.case["cell"] == "lstm" else None
        previous, before, logs, weights = None, BEGIN, [], []
        for symbol in text:
            alpha = self.normalise(self.decoder.score(hidden, h, previous))
            context = alpha @ h
            if self.writes_first():  # y_i from s_{i-1} and g_i, then s_i from y_i and g_i
                u = self.decoder.combine(torch.cat([hidden, context]))
                logs.append(torch.log_softmax(self.output(torch.maximum(u[0::2], u[1::2])), 0)[symbol])
                weights.append(alpha)
                hidden = self.papers_gru(self.decoder.recurrent, torch.cat([self.embedding(torch.tensor(symbol)), context]), hidden)
                previous = alpha
                continue
            word = self.embedding(torch.tensor(before))
            state = hidden[None, None] if cell is None else (hidden[None, None], cell[None, None])
            _, state = self.decoder.recurrent(torch.cat([word, context])[None, None], state)
            hidden, cell = (state[0, 0], None) if cell is None else (state[0][0, 0], state[1][0, 0])
            u = self.decoder.combine(torch.cat([hidden, word, context]))
            logs.append(torch.log_softmax(self.output(torch.maximum(u[0::2], u[1::2])), 0)[symbol])
            weights.append(alpha)
            previous, before = alpha, symbol
        return torch.stack(logs), torch.stack(weights)


def case(**options):
    net = Net(options)
    for parameter in net.parameters():
        nn.init.normal_(parameter, std=0.6)
    results = [net(frames, text) for frames, text in zip(SOUNDS, TEXTS)]
    loss = -sum(logs.sum() for logs, _ in results) / sum(len(text) for text in TEXTS)
    named = dict(net.named_parameters())
    gradients = torch.autograd.grad(loss, list(named.values()))
    return {**options, "loss": float(loss), "parameters": {name: pack(p) for name, p in named.items()},
            "gradients": {name: pack(g) for name, g in zip(named, gradients)},
            "log_probabilities": [pack(logs) for logs, _ in results], "weights": [pack(alpha) for _, alpha in results]}


if __name__ == "__main__":
    numbers = {
        "features": features(),
        "sounds": [pack(frames) for frames in SOUNDS],
        "texts": TEXTS,
        "cases": [
            case(cell="gru", layers=2, stack=1, pyramid=1, score="location-aware", normaliser="smoothing"),
            case(cell="lstm", layers=2, stack=2, pyramid=0, score="additive", normaliser="softmax"),
            case(cell="gru", layers=2, stack=1, pyramid=0, score="location-aware", normaliser="softmax",
                 decoder="chorowski", reset="before"),
        ],
    }
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(numbers) + "\n")
