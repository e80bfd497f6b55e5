"""Reference numbers for the neural Turing machine (turing_machine), in float64, from PyTorch (1.13).

Run:  python3 tests/golden/turing_machine.py        (writes turing_machine.json beside itself)

Graves et al. 2014, slot by slot and head by head with loops instead of matrix products, the shift as the sum over j of w(j) s((i - j) mod N) and the
sharpening as powers; once with a feedforward controller and one head, once with an LSTM and two. Lengths are sqrt(v . v + 1e-6), memory begins as
1e-6. For each the logits, the weights of all heads at all steps, the mean cross entropy and its gradient for every parameter. Parameters have the
names of ours.
"""
import json
import pathlib

import torch
from torch import nn
from torch.nn import functional as F

from packing import pack

torch.manual_seed(20261122)
torch.set_default_dtype(torch.float64)

BITS, HIDDEN, SLOTS, WIDTH, RANGE = 3, 5, 6, 4, 1
SEQUENCES = [[5, 2, 7], [1, 6]]
ADDRESS = WIDTH + 3 + 2 * RANGE + 1


def bits(symbol):
    return [float((symbol >> bit) & 1) for bit in range(BITS)]


def length(vector):
    return torch.sqrt((vector * vector).sum() + 1e-6)


def address(memory, said, before):
    key, strength = torch.tanh(said[:WIDTH]), F.softplus(said[WIDTH])
    gate, shifts = torch.sigmoid(said[WIDTH + 1]), torch.softmax(said[WIDTH + 2:WIDTH + 5], 0)
    sharpness = 1 + F.softplus(said[WIDTH + 5])
    cosines = torch.stack([(key * memory[i]).sum() / (length(key) * length(memory[i])) for i in range(SLOTS)])
    gated = gate * torch.softmax(strength * cosines, 0) + (1 - gate) * before
    shifted = torch.stack([
        sum(gated[(i - by) % SLOTS] * shifts[RANGE + by] for by in range(-RANGE, RANGE + 1)) for i in range(SLOTS)
    ])
    powers = (shifted + 1e-16) ** sharpness
    return powers / powers.sum()


class Machine(nn.Module):
    def __init__(self, controller, heads):
        super().__init__()
        self.heads, self.kind = heads, controller
        seen = BITS + 1 + heads * WIDTH
        self.controller = nn.LSTM(seen, HIDDEN) if controller == "lstm" else nn.Linear(seen, HIDDEN)
        self.interface = nn.Linear(HIDDEN, heads * (2 * ADDRESS + 2 * WIDTH))
        self.output = nn.Linear(HIDDEN + heads * WIDTH, BITS)
        self.first_read = nn.Parameter(torch.zeros(heads * WIDTH))

    def run(self, sequence):
        inputs = [bits(symbol) + [0.0] for symbol in sequence] + [[0.0] * BITS + [1.0]] + [[0.0] * (BITS + 1)] * len(sequence)
        memory = [torch.full((WIDTH,), 1e-6) for _ in range(SLOTS)]
        first = torch.zeros(SLOTS)
        first[0] = 1
        weights = [first] * (2 * self.heads)  # those that read, then those that write
        read, state = self.first_read, None
        logits, reads, writes = [], [], []
        for x in inputs:
            seen = torch.cat([torch.tensor(x), read])
            if self.kind == "lstm":
                hidden, state = self.controller(seen[None, :], state)
                hidden = hidden[0]
            else:
                hidden = torch.tanh(self.controller(seen))
            said = self.interface(hidden)
            weights = [address(memory, said[head * ADDRESS:(head + 1) * ADDRESS], weights[head]) for head in range(2 * self.heads)]
            what = said[2 * self.heads * ADDRESS:].view(self.heads, 2 * WIDTH)
            for head in range(self.heads):
                erase = torch.sigmoid(what[head, :WIDTH])
                memory = [slot * (1 - weights[self.heads + head][i] * erase) for i, slot in enumerate(memory)]
            for head in range(self.heads):
                add = torch.tanh(what[head, WIDTH:])
                memory = [slot + weights[self.heads + head][i] * add for i, slot in enumerate(memory)]
            read = torch.cat([sum(weights[head][i] * memory[i] for i in range(SLOTS)) for head in range(self.heads)])
            logits.append(self.output(torch.cat([hidden, read])))
            reads.append(torch.stack(weights[:self.heads]))
            writes.append(torch.stack(weights[self.heads:]))
        return torch.stack(logits), torch.stack(reads, 1), torch.stack(writes, 1)


def case(controller, heads):
    model = Machine(controller, heads)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.6)
    rows = [model.run(sequence) for sequence in SEQUENCES]
    costs = [
        F.binary_cross_entropy_with_logits(logits[len(sequence) + 1:], torch.tensor([bits(s) for s in sequence]), reduction="sum")
        for (logits, _, _), sequence in zip(rows, SEQUENCES)
    ]
    loss = sum(costs) / (BITS * sum(len(sequence) for sequence in SEQUENCES))
    loss.backward()
    return {
        "controller": controller, "heads": heads, "loss": float(loss),
        "logits": [pack(row[0]) for row in rows], "read": [pack(row[1]) for row in rows], "write": [pack(row[2]) for row in rows],
        "parameters": {name: pack(value) for name, value in model.named_parameters()},
        "gradients": {name: pack(value.grad) for name, value in model.named_parameters()},
    }


result = {
    "bits": BITS, "hidden": HIDDEN, "slots": SLOTS, "width": WIDTH, "range": RANGE, "sequences": SEQUENCES,
    "cases": [case("feedforward", 1), case("lstm", 2)],
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(result, indent=None, separators=(",", ":")) + "\n")
