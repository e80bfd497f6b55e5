"""Reference numbers for the caption model (show_attend_tell), in float64, from PyTorch (1.13).

Run:  python3 tests/golden/caption.py        (writes caption.json beside itself)

Xu et al. 2015, one caption at a time, so that nothing is padded: a small encoder (convolution, layer norm over the channels, ReLU, max pooling), learned
places, LSTM decoder with additive attention, gate and deep output. For each case the logits, the weights, the loss (the sum over captions of -log p(y) +
penalty * sum_i (1 - sum_t alpha_ti)^2, divided by the number of words) and its gradient for every parameter. Parameters have the names of ours.
"""
import json
import pathlib

import torch
from torch import nn
from torch.nn import functional as F

from packing import pack

torch.manual_seed(20261116)
torch.set_default_dtype(torch.float64)

SIDE, CHANNELS, SYMBOLS, EMBEDDING, HIDDEN, SCORE = 8, [4, 6], 9, 5, 7, 4
CAPTIONS = [[4, 5, 6, 3], [7, 3], [8, 4, 3]]
BEGIN = 2
CELLS = (SIDE // 4) ** 2


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        channels = [3] + CHANNELS
        for block in range(len(CHANNELS)):
            weight = nn.Parameter(torch.empty(channels[block + 1], channels[block], 3, 3))
            self.register_parameter(f"block{block}_0_weight", weight)
            self.register_parameter(f"block{block}_0_bias", nn.Parameter(torch.empty(channels[block + 1])))
            self.add_module(f"block{block}_0_norm", nn.LayerNorm(channels[block + 1]))

    def forward(self, image):
        x = (image - 127.5) / 64
        for block in range(len(CHANNELS)):
            x = F.conv2d(x, getattr(self, f"block{block}_0_weight"), getattr(self, f"block{block}_0_bias"), padding=1)
            x = getattr(self, f"block{block}_0_norm")(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2).relu()
            x = F.max_pool2d(x, 2)
        return x.flatten(2).transpose(1, 2)  # [1, cells, D]


class Score(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(HIDDEN, SCORE)
        self.key = nn.Linear(CHANNELS[-1], SCORE, bias=False)
        self.energy = nn.Linear(SCORE, 1, bias=False)

    def forward(self, hidden, cells):
        return self.energy(torch.tanh(self.query(hidden).unsqueeze(1) + self.key(cells))).squeeze(2)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        inputs = EMBEDDING + CHANNELS[-1]
        self.weight_ih_l0 = nn.Parameter(torch.empty(4 * HIDDEN, inputs))
        self.weight_hh_l0 = nn.Parameter(torch.empty(4 * HIDDEN, HIDDEN))
        self.bias_ih_l0 = nn.Parameter(torch.empty(4 * HIDDEN))
        self.bias_hh_l0 = nn.Parameter(torch.empty(4 * HIDDEN))

    def forward(self, x, hidden, cell):
        gates = F.linear(x, self.weight_ih_l0, self.bias_ih_l0) + F.linear(hidden, self.weight_hh_l0, self.bias_hh_l0)
        into, forget, new, out = gates.chunk(4, 1)
        cell = forget.sigmoid() * cell + into.sigmoid() * new.tanh()
        return out.sigmoid() * cell.tanh(), cell


class ShowAttendTell(nn.Module):
    def __init__(self, attention, gate, output):
        super().__init__()
        features = CHANNELS[-1]
        self.attention, self.has_gate, self.how = attention, gate, output
        self.encoder = Encoder()
        self.positions = nn.Parameter(torch.empty(CELLS, features))
        self.words = nn.Embedding(SYMBOLS, EMBEDDING)
        self.first_hidden = nn.Linear(features, HIDDEN)
        self.first_cell = nn.Linear(features, HIDDEN)
        self.recurrent = Recurrent()
        if attention != "none":
            self.score = Score()
        if gate:
            self.gate = nn.Linear(HIDDEN, 1)
        self.from_hidden = nn.Linear(HIDDEN, EMBEDDING)
        self.from_context = nn.Linear(features, EMBEDDING, bias=False)
        self.output = nn.Linear(EMBEDDING, SYMBOLS)

    def caption(self, image, caption):
        cells = self.encoder(image.unsqueeze(0)) + self.positions
        mean = cells.mean(1)
        hidden, cell = self.first_hidden(mean).tanh(), self.first_cell(mean).tanh()
        logits, weights = [], []
        for previous in [BEGIN] + caption[:-1]:
            word = self.words(torch.tensor([previous]))
            if self.attention == "none":
                context = mean
            else:
                alpha = torch.softmax(self.score(hidden, cells), 1)
                weights.append(alpha[0])
                context = torch.bmm(alpha.unsqueeze(1), cells).squeeze(1)
            if self.has_gate:
                context = context * self.gate(hidden).sigmoid()
            hidden, cell = self.recurrent(torch.cat([word, context], 1), hidden, cell)
            seen = word + self.from_hidden(hidden) + self.from_context(context)
            logits.append(self.output(seen.tanh() if self.how == "tanh" else seen)[0])
        return torch.stack(logits), torch.stack(weights) if weights else None


def case(images, attention, gate, output, penalty):
    model = ShowAttendTell(attention, gate, output)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.5)
    loss, words, all_logits, all_weights = 0, 0, [], []
    for image, caption in zip(images, CAPTIONS):
        logits, weights = model.caption(image, caption)
        loss = loss + F.cross_entropy(logits, torch.tensor(caption), reduction="sum")
        if weights is not None:
            loss = loss + penalty * (1 - weights.sum(0)).square().sum()
            all_weights.append(pack(weights))
        words += len(caption)
        all_logits.append(pack(logits.log_softmax(1).gather(1, torch.tensor(caption).unsqueeze(1)).squeeze(1)))
    loss = loss / words
    loss.backward()
    return {
        "attention": attention, "gate": gate, "output": output, "penalty": penalty, "loss": float(loss),
        "log_probabilities": all_logits, "weights": all_weights,
        "parameters": {name: pack(value) for name, value in model.named_parameters()},
        "gradients": {name: pack(value.grad) for name, value in model.named_parameters()},
    }


images = torch.randint(0, 256, (len(CAPTIONS), 3, SIDE, SIDE)).to(torch.float64)
cases = [case(images, "soft", True, "tanh", 0.3), case(images, "soft", False, "linear", 0), case(images, "none", True, "tanh", 0)]
result = {"captions": CAPTIONS, "images": pack(images), "cases": cases}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(result, indent=None, separators=(",", ":")) + "\n")
