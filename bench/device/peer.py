"""The networks of bench/device/steps.cc in plain PyTorch, from the same weights and pairs. usage: peer.py NETWORK FOLDER MODE
MODE: loss (float32, no dropout: the mean loss of the first epoch), eager or compiled (seconds a step by epoch; the Transformer in bf16 with dropout)."""
import json
import math
import os
import sys
import time

import torch
from torch.nn.functional import cross_entropy, embedding, linear, scaled_dot_product_attention

name, folder, mode = sys.argv[1:4]
begin, end = 2, 3


def read(path):
    """A safetensors file: float32 and int64 are all that there is."""
    with open(os.path.join(folder, path), "rb") as file:
        content = file.read()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    types = {"F32": torch.float32, "I64": torch.int64}
    tensors = {}
    for key, entry in header.items():
        first, last = (8 + length + place for place in entry["data_offsets"])
        tensors[key] = torch.frombuffer(bytearray(content[first:last]), dtype=types[entry["dtype"]]).reshape(entry["shape"]).cuda()
    return tensors


weights, pairs = read("model.safetensors"), read("pairs.safetensors")
rows = 80 if name == "rnnsearch" else 128
dropout = 0.0 if mode == "loss" or name == "rnnsearch" else 0.1


class RNNsearch(torch.nn.Module):
    """Bahdanau et al. 2015; the encoder is cuDNN's."""

    def __init__(self):
        super().__init__()
        (symbols, width), hidden = weights["source_embedding.weight"].shape, weights["decoder.recurrent.weight_hh_l0"].shape[1]
        self.source_embedding, self.target_embedding = torch.nn.Embedding(symbols, width), torch.nn.Embedding(symbols, width)
        self.encoder = torch.nn.GRU(width, hidden, batch_first=True, bidirectional=True)
        self.bridge = torch.nn.Linear(hidden, hidden)
        self.cell = torch.nn.GRUCell(width + 2 * hidden, hidden)
        self.query = torch.nn.Linear(hidden, hidden, bias="decoder.score.query.bias" in weights)
        self.key = torch.nn.Linear(2 * hidden, hidden, bias=False)
        self.energy = torch.nn.Linear(hidden, 1, bias=False)
        self.combine = torch.nn.Linear(hidden + width + 2 * hidden, weights["decoder.combine.weight"].shape[0])
        self.output = torch.nn.Linear(weights["output.weight"].shape[1], symbols)

    def forward(self, source, target):
        memory, last = self.encoder(self.source_embedding(source))
        keys = self.key(memory)  # [B, S, H]
        state = self.bridge(last[1]).tanh()
        inputs = self.target_embedding(torch.nn.functional.pad(target[:, :-1], (1, 0), value=begin))
        readouts = []
        for step in range(target.shape[1]):
            weights_now = self.energy((self.query(state)[:, None] + keys).tanh()).softmax(1)  # [B, S, 1]
            context = torch.bmm(weights_now.transpose(1, 2), memory)[:, 0]
            readouts.append(torch.cat([state, inputs[:, step], context], 1))
            state = self.cell(torch.cat([inputs[:, step], context], 1), state)
        pairs_of = self.combine(torch.stack(readouts, 1))
        return self.output(pairs_of.unflatten(-1, (-1, 2)).amax(-1))


def load_rnnsearch():
    names = {"bridge_l0": "bridge", "decoder.combine": "combine", "decoder.score.query": "query", "decoder.score.key": "key", "decoder.score.energy": "energy"}
    own = {}
    for key, value in weights.items():
        module, _, part = key.rpartition(".")
        if module == "decoder.recurrent":
            module, part = "cell", part.removesuffix("_l0")
        own[f"{names.get(module, module)}.{part}"] = value
    model = RNNsearch().cuda()
    model.load_state_dict(own)
    return model


class Attention(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.width = heads, width
        self.in_proj_weight, self.in_proj_bias = torch.nn.Parameter(torch.empty(3 * width, width)), torch.nn.Parameter(torch.empty(3 * width))
        self.out_proj = torch.nn.Linear(width, width)

    def forward(self, x, memory, causal):
        split = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        if memory is None:
            query, key, value = (split(part) for part in linear(x, self.in_proj_weight, self.in_proj_bias).chunk(3, -1))
        else:
            query = split(linear(x, self.in_proj_weight[: self.width], self.in_proj_bias[: self.width]))
            key, value = (split(part) for part in linear(memory, self.in_proj_weight[self.width :], self.in_proj_bias[self.width :]).chunk(2, -1))
        rate = dropout if self.training else 0.0
        return self.out_proj(scaled_dot_product_attention(query, key, value, dropout_p=rate, is_causal=causal).transpose(1, 2).flatten(2))


class Layer(torch.nn.Module):
    def __init__(self, width, heads, hidden, crosses):
        super().__init__()
        self.self_attn, self.multihead_attn = Attention(width, heads), Attention(width, heads) if crosses else None
        self.linear1, self.linear2 = torch.nn.Linear(width, hidden), torch.nn.Linear(hidden, width)
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.norm3 = torch.nn.LayerNorm(width) if crosses else None
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, x, memory=None):
        x = x + self.dropout(self.self_attn(self.norm1(x), None, memory is not None))
        if memory is not None:
            x = x + self.dropout(self.multihead_attn(self.norm2(x), memory, False))
        norm = self.norm2 if memory is None else self.norm3
        return x + self.dropout(self.linear2(self.dropout(torch.relu(self.linear1(norm(x))))))


class Transformer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        symbols, width = weights["source_embedding.weight"].shape
        hidden, self.width = weights["encoder.layers.0.linear1.weight"].shape[0], width
        self.source_embedding = torch.nn.Embedding(symbols, width)
        self.output_bias = torch.nn.Parameter(torch.zeros(symbols))
        stack = lambda crosses: torch.nn.ModuleDict({"layers": torch.nn.ModuleList(Layer(width, 8, hidden, crosses) for _ in range(6)), "norm": torch.nn.LayerNorm(width)})
        self.encoder, self.decoder = stack(False), stack(True)
        angle = torch.outer(torch.arange(512).double(), torch.exp(torch.arange(0, width, 2).double() * (-math.log(10000.0) / width)))
        self.register_buffer("positions", torch.stack([angle.sin(), angle.cos()], -1).flatten(1).float(), persistent=False)
        self.dropout = torch.nn.Dropout(dropout)

    def embed(self, symbols):
        return self.dropout(embedding(symbols, self.source_embedding.weight) * math.sqrt(self.width) + self.positions[: symbols.shape[1]])

    def forward(self, source, target):
        memory = self.embed(source)
        for layer in self.encoder["layers"]:
            memory = layer(memory)
        memory = self.encoder["norm"](memory)
        x = self.embed(torch.nn.functional.pad(target[:, :-1], (1, 0), value=begin))
        for layer in self.decoder["layers"]:
            x = layer(x, memory)
        return linear(self.decoder["norm"](x), self.source_embedding.weight, self.output_bias)


def load_transformer():
    model = Transformer().cuda()
    model.load_state_dict(weights)
    return model


model = load_rnnsearch() if name == "rnnsearch" else load_transformer()
rounds = name == "transformer" and mode != "loss"
smoothing, rate = (0.0, 2e-4) if name == "rnnsearch" else (0.1, 1e-4)


def loss_of(source, target):
    with torch.autocast("cuda", torch.bfloat16, enabled=rounds):
        logits = model(source, target)
        return cross_entropy(logits.flatten(0, 1), target.flatten(), label_smoothing=smoothing)


if mode == "compiled":
    loss_of = torch.compile(loss_of)
optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)


def epoch():
    total, steps = torch.zeros((), device="cuda"), 0
    for first in range(0, len(pairs["source"]), rows):
        optimiser.zero_grad(set_to_none=True)
        loss = loss_of(pairs["source"][first : first + rows], pairs["target"][first : first + rows])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimiser.step()
        total, steps = total + loss.detach(), steps + 1
    return (total / steps).item(), steps


losses, seconds = [], []
for _ in range(1 if mode == "loss" else 3):
    torch.cuda.synchronize()
    start = time.perf_counter()
    loss, steps = epoch()
    losses.append(loss)
    seconds.append((time.perf_counter() - start) / steps)
print(json.dumps({"losses": losses, "seconds": seconds}))
