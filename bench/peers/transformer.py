"""The Transformer of `fovea train translate --set model.name=transformer` in plain PyTorch: torch.nn's own encoder and decoder layers, pre-norm, ReLU,
sinusoidal positions, tied output matrix, label smoothing. Sizes come from the weights, heads and rates from the run's config.json. Modes:
  loss      one epoch of train.tsv in file order without dropout, prints the mean loss
  time      seconds per optimiser step with dropout, after three steps of warm-up
  decode    seconds to write greedily for every source of test.tsv, with (cache) or without (recompute) kept keys and values: decode-cache, decode-recompute
  floor     flop per row of train.tsv in matrix products, and what a large product reaches, in flop per second"""
import json
import math
import os
import sys

import torch
from torch.nn.functional import cross_entropy, embedding, linear

from common import read_weights, timed
from words import words_of

mode, data, weights_path, threads = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
torch.set_num_threads(threads)
weights = read_weights(weights_path)
folder = os.path.dirname(weights_path)
with open(os.path.join(folder, "config.json")) as file:
    options = json.load(file)
padding, unknown, begin, end = 0, 1, 2, 3
batch_size = options["training"]["batch_size"]
dropout = 0.0 if mode == "loss" else options["model"]["dropout"]


def read_vocabulary(side):
    path = os.path.join(folder, "assets", side + ".json")
    if not os.path.exists(path):
        path = os.path.join(folder, "assets", "source.json")
    with open(path) as file:
        return {token: place + 4 for place, token in enumerate(json.load(file)["vocabulary"])}


def read_pairs(name):
    """Sources [N, S] and targets [N, T] with the end symbol, padded."""
    sides = ([], [])
    vocabularies = read_vocabulary("source"), read_vocabulary("target")
    with open(os.path.join(data, name)) as file:
        next(file)
        for line in file:
            for side, vocabulary, text in zip(sides, vocabularies, line.rstrip("\n").split("\t")[:2]):
                side.append([vocabulary.get(word, unknown) for word in words_of(text)])
    for target in sides[1]:
        target.append(end)
    return tuple(torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in side], True, padding) for side in sides)


def sinusoids(length, width):
    angle = torch.outer(torch.arange(length).double(), torch.exp(torch.arange(0, width, 2).double() * (-math.log(10000.0) / width)))
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1).float()


class Transformer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(weights["source_embedding.weight"].clone())
        self.target_table = torch.nn.Parameter(weights.get("target_embedding.weight", weights["source_embedding.weight"]).clone())
        if "target_embedding.weight" not in weights:
            self.target_table = self.table
        self.bias = torch.nn.Parameter(weights["output_bias"].clone())
        self.width, heads = self.table.shape[1], options["model"]["heads"]
        hidden = weights["encoder.layers.0.linear1.weight"].shape[0]
        common = {"dim_feedforward": hidden, "dropout": dropout, "batch_first": True, "norm_first": True}
        count = lambda side: 1 + max(int(name.split(".")[2]) for name in weights if name.startswith(side + ".layers."))
        self.encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(self.width, heads, **common), count("encoder"),
                                                   torch.nn.LayerNorm(self.width), enable_nested_tensor=False)
        self.decoder = torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(self.width, heads, **common), count("decoder"),
                                                   torch.nn.LayerNorm(self.width))
        for side in ("encoder", "decoder"):
            own = {name[len(side) + 1:]: value for name, value in weights.items() if name.startswith(side + ".")}
            getattr(self, side).load_state_dict(own)
        self.dropout = torch.nn.Dropout(dropout)
        self.positions = sinusoids(512, self.width)

    def embed(self, table, symbols, first=0):
        return self.dropout(embedding(symbols, table) * math.sqrt(self.width) + self.positions[first : first + symbols.shape[1]])

    def encode(self, source):
        return self.encoder(self.embed(self.table, source), src_key_padding_mask=source == padding)

    def decode(self, written, memory, source):
        causal = torch.ones(written.shape[1], written.shape[1], dtype=torch.bool).triu(1)
        return self.decoder(self.embed(self.target_table, written), memory, tgt_mask=causal, memory_key_padding_mask=source == padding)

    def forward(self, source, target):
        shifted = torch.nn.functional.pad(target[:, :-1], (1, 0), value=begin)
        return linear(self.decode(shifted, self.encode(source), source), self.target_table, self.bias)


model = Transformer()


def loss_of(source, target):
    logits = model(source, target)
    return cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=padding, label_smoothing=options["model"]["label_smoothing"])


def trimmed(rows):
    return rows[:, : int((rows != padding).sum(1).max())]


def epoch(pairs, batches, optimiser, schedule):
    total, symbols = 0.0, 0
    for picked in batches:
        source, target = trimmed(pairs[0][picked]), trimmed(pairs[1][picked])
        optimiser.zero_grad(set_to_none=True)
        loss = loss_of(source, target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), options["training"]["clip_norm"])
        optimiser.step()
        schedule.step()
        count = int((target != padding).sum())
        total, symbols = total + loss.item() * count, symbols + count
    return total / symbols


def train(pairs, *passes):
    training = options["training"]
    optimiser = torch.optim.Adam(model.parameters(), lr=training["learning_rate"], betas=(training["beta1"], training["beta2"]), eps=training["epsilon"])
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1, (step + 1) / training["warmup_steps"]))
    return [timed(lambda: epoch(pairs, batches, optimiser, schedule)) for batches in passes]


def batches_of(pairs):
    return list(torch.arange(len(pairs[0])).split(batch_size))


# --- writing ---------------------------------------------------------------------------------------------------------------------


def recompute(source, longest):
    memory = model.encode(source)
    written = torch.full((len(source), 1), begin)
    done = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(longest):
        last = model.decode(written, memory, source)[:, -1]
        symbol = linear(last, model.target_table, model.bias).argmax(-1).masked_fill(done, padding)
        written = torch.cat([written, symbol[:, None]], 1)
        done |= symbol == end
        if done.all():
            break
    return written


def split_heads(x, heads):
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def attend(query, keys, values, mask, projection):
    scores = query @ keys.transpose(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    return projection((scores.softmax(-1) @ values).transpose(1, 2).flatten(2))


def cached(source, longest):
    """The same with kept keys and values, as one would write it by hand in PyTorch."""
    heads, width = options["model"]["heads"], model.width
    memory, mask = model.encode(source), (source == padding)[:, None, None, :]
    kept = []
    for layer in model.decoder.layers:
        projected = linear(memory, layer.multihead_attn.in_proj_weight[width:], layer.multihead_attn.in_proj_bias[width:])
        kept.append([None, None, *(split_heads(part, heads) for part in projected.chunk(2, -1))])
    symbol, done, written = torch.full((len(source), 1), begin), torch.zeros(len(source), dtype=torch.bool), []
    for place in range(longest):
        x = model.embed(model.target_table, symbol, place)
        for layer, memory_of in zip(model.decoder.layers, kept):
            normed = layer.norm1(x)
            query, key, value = (split_heads(part, heads) for part in
                                 linear(normed, layer.self_attn.in_proj_weight, layer.self_attn.in_proj_bias).chunk(3, -1))
            memory_of[0] = key if memory_of[0] is None else torch.cat([memory_of[0], key], 2)
            memory_of[1] = value if memory_of[1] is None else torch.cat([memory_of[1], value], 2)
            x = x + attend(query, memory_of[0], memory_of[1], None, layer.self_attn.out_proj)
            other = layer.multihead_attn
            query = split_heads(linear(layer.norm2(x), other.in_proj_weight[:width], other.in_proj_bias[:width]), heads)
            x = x + attend(query, memory_of[2], memory_of[3], mask, other.out_proj)
            x = x + layer.linear2(torch.relu(layer.linear1(layer.norm3(x))))
        logits = linear(model.decoder.norm(x)[:, 0], model.target_table, model.bias)
        symbol = logits.argmax(-1, keepdim=True).masked_fill(done[:, None], padding)
        written.append(symbol)
        done |= symbol[:, 0] == end
        if done.all():
            break
    return torch.cat(written, 1)


def decode(write):
    model.eval()
    sources = read_pairs("test.tsv")[0]
    order = (sources != padding).sum(1).argsort()
    with torch.no_grad():
        def all_batches():
            return [write(trimmed(sources[picked]), 2 * int((sources[picked] != padding).sum(1).max()) + 20) for picked in order.split(64)]
        seconds, outputs = timed(all_batches)
    return {"seconds": seconds, "symbols": int(sum(((out == unknown) | (out > end)).sum() for out in outputs))}


def flop_per_row(pairs):
    """Multiplications and additions of all matrix products, padding left out; backward is twice forward."""
    size = {name: tensor.numel() for name, tensor in weights.items() if tensor.dim() == 2}
    source, target = [(side != padding).sum(1).double() for side in pairs]
    width = model.width
    of = lambda start: sum(count for name, count in size.items() if name.startswith(start))
    cross = sum(count for name, count in size.items() if "multihead_attn.in_proj_weight" in name) * 2 / 3  # keys and values of the source
    layers = len(model.encoder.layers), len(model.decoder.layers)
    forward = source * (of("encoder") + cross) + target * (of("decoder") - cross + model.target_table.numel())
    forward += 2 * width * (layers[0] * source**2 + layers[1] * (target**2 / 2 + source * target))
    return 3 * 2 * forward.mean().item()


def flop_per_second(width=2048):
    left, right = torch.randn(width, width), torch.randn(width, width)
    return 2 * width**3 / min(timed(lambda: left @ right)[0] for _ in range(5))


if mode == "loss":
    pairs = read_pairs("train.tsv")
    print(json.dumps({"loss": train(pairs, batches_of(pairs))[0][1]}))
elif mode == "floor":
    print(json.dumps({"flop_per_row": flop_per_row(read_pairs("train.tsv")), "flop_per_second": flop_per_second()}))
elif mode.startswith("decode"):
    print(json.dumps(decode(cached if mode.endswith("cache") else recompute)))
else:
    pairs = read_pairs("train.tsv")
    batches = batches_of(pairs)
    (_, _), (seconds, _) = train(pairs, batches[:3], batches)
    print(json.dumps({"seconds": seconds / len(batches)}))
