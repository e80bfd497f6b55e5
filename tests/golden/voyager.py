"""Reference numbers for the hierarchical model of memory accesses (voyager), in float64, from PyTorch (1.13).

Run:  python3 tests/golden/voyager.py        (writes voyager.json beside itself)

Shi et al. 2019 and 2021, one window and one access at a time: experts by the page, two LSTMs (torch.nn.LSTM), the heads on the last state or also on
the mean of all states by attention; the loss of the last access or of every one; gradients for every parameter; the log-probabilities of the likeliest
page and offset, the weights of the experts and of the history at the last access. Parameters have the names of ours.
"""
import json
import math
import pathlib

import torch
from torch import nn

torch.manual_seed(20261116)
torch.set_default_dtype(torch.float64)

WINDOWS, ACCESSES, OFFSETS, NO_TARGET = 3, 5, 64, -100
PAGES, PCS, PAGE, EXPERTS, PC, HIDDEN = 7, 4, 2, 3, 1, 3


def pack(tensor, digits=14):
    return {"shape": list(tensor.shape), "data": [float(f"{x:.{digits}f}") for x in tensor.detach().reshape(-1)]}


class Voyager(nn.Module):
    def __init__(self, history, layers):
        super().__init__()
        self.history = history
        self.pages = nn.Parameter(torch.rand(PAGES, PAGE) * 2 - 1)
        self.offsets = nn.Parameter(torch.rand(OFFSETS + 1, EXPERTS, PAGE) * 2 - 1)
        self.pcs = nn.Parameter(torch.rand(PCS, PC) * 2 - 1)
        self.coarse = nn.LSTM(PC + 2 * PAGE, HIDDEN, layers)
        self.fine = nn.LSTM(PC + 2 * PAGE, HIDDEN, layers)
        seen = HIDDEN
        if history == "attention":
            seen = 2 * HIDDEN
            self.coarse_query = nn.Linear(HIDDEN, HIDDEN, bias=False)
            self.fine_query = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.page_output = nn.Linear(seen, PAGES)
        self.offset_output = nn.Linear(seen, OFFSETS)
        with torch.no_grad():  # few digits: most of the file is parameters
            for parameter in self.parameters():
                parameter.copy_(torch.tensor([round(float(x), 2) for x in parameter.reshape(-1)]).reshape(parameter.shape))

    def window(self, pages, offsets, pcs):
        """One window: logits of every access, the experts' weights, the history's weights at the last access."""
        inputs, experts = [], []
        for page, offset, pc in zip(pages, offsets, pcs):
            p, voices = self.pages[page], self.offsets[offset]
            weights = torch.stack([p.dot(voice) for voice in voices]).softmax(0)
            mixed = sum(weight * voice for weight, voice in zip(weights, voices))
            inputs.append(torch.cat([self.pcs[pc], p, mixed]))
            experts.append(weights)
        x = torch.stack(inputs)
        page_logits, page_history = self.half(self.coarse(x)[0], "coarse", self.page_output)
        offset_logits, offset_history = self.half(self.fine(x)[0], "fine", self.offset_output)
        return page_logits, offset_logits, torch.stack(experts), (page_history, offset_history)

    def half(self, states, name, output):
        logits, weights = [], None
        for t, state in enumerate(states):
            seen = state
            if self.history == "attention":
                query = getattr(self, name + "_query")(state)
                weights = torch.stack([query.dot(states[i]) / math.sqrt(HIDDEN) for i in range(t + 1)]).softmax(0)
                seen = torch.cat([state, sum(weights[i] * states[i] for i in range(t + 1))])
            logits.append(output(seen))
        return torch.stack(logits), weights


def cross_entropy(logits, targets):
    terms = [-row.log_softmax(0)[target] for row, target in zip(logits, targets) if target != NO_TARGET]
    return sum(terms) / len(terms)


def case(history, targets, layers, data):
    model = Voyager(history, layers)
    windows = [model.window(*window) for window in zip(data["pages"], data["offsets"], data["pcs"])]
    steps = ACCESSES if targets == "every" else 1
    loss = 0
    for part, name in ((0, "target_pages"), (1, "target_offsets")):
        logits = torch.cat([window[part][-steps:] for window in windows])
        loss = loss + cross_entropy(logits, data[name][:, -steps:].reshape(-1))
    loss.backward()
    result = {
        "history": history,
        "targets": targets,
        "layers": layers,
        "loss": float(loss),
        "best": pack(torch.stack([torch.stack([window[part][-1].log_softmax(0).max() for part in (0, 1)]) for window in windows])),
        "experts": pack(torch.stack([window[2] for window in windows])),
        "parameters": {name: pack(parameter) for name, parameter in model.named_parameters()},
        "gradients": {name: pack(parameter.grad, 11) for name, parameter in model.named_parameters()},
    }
    if history == "attention":
        result["looked"] = pack(torch.stack([torch.stack(window[3]) for window in windows]))
    return result


def main():
    data = {
        "pages": torch.randint(0, PAGES, (WINDOWS, ACCESSES)),
        "offsets": torch.randint(0, OFFSETS, (WINDOWS, ACCESSES)),
        "pcs": torch.randint(0, PCS, (WINDOWS, ACCESSES)),
        "target_pages": torch.randint(0, PAGES, (WINDOWS, ACCESSES)),
        "target_offsets": torch.randint(0, OFFSETS, (WINDOWS, ACCESSES)),
    }
    # The first window begins before its trace does.
    data["offsets"][0, :2] = OFFSETS
    data["pages"][0, :2] = data["pcs"][0, :2] = 0
    data["target_pages"][0, :2] = data["target_offsets"][0, :2] = NO_TARGET
    cases = [case("last", "last", 1, data), case("last", "every", 2, data), case("attention", "every", 1, data)]
    sizes = {"pages": PAGES, "pcs": PCS, "page": PAGE, "experts": EXPERTS, "pc": PC, "hidden": HIDDEN}
    inputs = {name: tensor.tolist() for name, tensor in data.items()}
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps({"sizes": sizes, "inputs": inputs, "cases": cases}) + "\n")


if __name__ == "__main__":
    main()
