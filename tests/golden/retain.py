"""Reference numbers for RETAIN and for the GRU beside it (retain, visit_baselines), in float64, from PyTorch (1.13).

Run:  python3 tests/golden/retain.py        (writes retain.json beside itself)

Choi et al. 2016 with torch.nn.GRU, one patient at a time and the visits turned round by hand, so that nothing is padded; once with times and once
without. For each the log odds, the weights of the visits, the contribution of every code (by the formula, code by code), the mean cross entropy with
l2 and its gradient for every parameter. Parameters have the names of ours.
"""
import json
import pathlib

import torch
from torch import nn
from torch.nn import functional as F

from packing import pack

torch.manual_seed(20261121)
torch.set_default_dtype(torch.float64)

CODES, EMBEDDING, VISIT_HIDDEN, CODE_HIDDEN, L2, FIRST = 12, 5, 4, 3, 0.01, 4
PATIENTS = [[[4, 5, 6], [7]], [[8, 1, 4]], [[9, 10], [], [11, 4, 5, 6], [1]]]
TARGET = [1, 0, 1]


def gaps(row, visits):
    return torch.tensor([0.25 * ((3 * number + row) % 5) for number in range(visits)])


class Visits(nn.Module):
    def __init__(self, times):
        super().__init__()
        self.times = times
        self.codes = nn.Embedding(CODES, EMBEDDING)

    def visit_vectors(self, visits):
        known = [[code for code in visit if code >= FIRST] for visit in visits]
        return torch.stack([self.codes.weight[visit].sum(0) if visit else torch.zeros(EMBEDDING) for visit in known])

    def inputs(self, row, v):
        return torch.cat([v, gaps(row, len(v))[:, None]], 1) if self.times else v


class Retain(Visits):
    def __init__(self, times):
        super().__init__(times)
        self.visit_encoder = nn.GRU(EMBEDDING + times, VISIT_HIDDEN)
        self.code_encoder = nn.GRU(EMBEDDING + times, CODE_HIDDEN)
        self.alpha = nn.Linear(VISIT_HIDDEN, 1)
        self.beta = nn.Linear(CODE_HIDDEN, EMBEDDING)
        self.output = nn.Linear(EMBEDDING, 1)

    def patient(self, row, visits):
        v = self.visit_vectors(visits)
        backwards = self.inputs(row, v).flip(0)
        alpha = torch.softmax(self.alpha(self.visit_encoder(backwards)[0]).flip(0)[:, 0], 0)
        beta = torch.tanh(self.beta(self.code_encoder(backwards)[0])).flip(0)
        log_odds = self.output((alpha[:, None] * beta * v).sum(0))[0]
        contributions = [
            alpha[j] * (self.output.weight[0] @ (beta[j] * self.codes.weight[code])) if code >= FIRST else torch.tensor(0.0)
            for j, visit in enumerate(visits) for code in visit
        ]
        return log_odds, alpha, torch.stack(contributions)

    def penalised(self):
        return [self.codes.weight, self.alpha.weight, self.beta.weight, self.output.weight]


class Gru(Visits):
    def __init__(self, times):
        super().__init__(times)
        self.encoder = nn.GRU(EMBEDDING + times, VISIT_HIDDEN)
        self.output = nn.Linear(VISIT_HIDDEN, 1)

    def patient(self, row, visits):
        v = self.visit_vectors(visits)
        return self.output(self.encoder(self.inputs(row, v))[0][-1])[0], None, None

    def penalised(self):
        return [self.codes.weight, self.output.weight]


def case(make, times):
    model = make(times)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.7)
    rows = [model.patient(row, visits) for row, visits in enumerate(PATIENTS)]
    log_odds = torch.stack([row[0] for row in rows])
    loss = F.binary_cross_entropy_with_logits(log_odds, torch.tensor(TARGET, dtype=torch.float64))
    loss = loss + L2 * sum((weight ** 2).sum() for weight in model.penalised())
    loss.backward()
    result = {
        "model": make.__name__.lower(), "times": times, "log_odds": pack(log_odds), "loss": float(loss),
        "parameters": {name: pack(value) for name, value in model.named_parameters()},
        "gradients": {name: pack(value.grad) for name, value in model.named_parameters()},
    }
    if make is Retain:
        result["alpha"] = [pack(row[1]) for row in rows]
        result["contributions"] = [pack(row[2]) for row in rows]
        for row in rows:
            assert abs(row[2].sum() + model.output.bias[0] - row[0]) < 1e-12
    return result


result = {
    "patients": PATIENTS, "target": TARGET, "l2": L2,
    "cases": [case(make, times) for make in (Retain, Gru) for times in (False, True)],
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(result, indent=None, separators=(",", ":")) + "\n")
