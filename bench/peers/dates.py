"""Sequence to sequence with attention in plain PyTorch: the network that `fovea train dates` trains by default (bidirectional GRU,
dense bridge, GRU decoder, general score, tanh readout; Luong et al. 2015). Modes:
  evaluate  loss of val.tsv with the given weights, nats per symbol, the end symbol counted
  loss      one epoch of train.tsv in file order (sorted by length within pools, as ours), prints the mean loss
  time      seconds per optimiser step over one shuffled epoch, after ten steps of warm-up
  floor     flop per row of train.tsv in matrix products, and what a large product reaches, in flop per second"""
import json
import os
import sys

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from common import read_weights, timed

mode, data, weights_path, threads = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
torch.set_num_threads(threads)
weights = read_weights(weights_path)
padding, unknown, begin, end = 0, 1, 2, 3
batch_size, pool_batches, warmup_steps = 64, 20, 100


def read_vocabulary(side):
    with open(os.path.join(os.path.dirname(weights_path), "assets", side + ".json")) as file:
        return {token: place + 4 for place, token in enumerate(json.load(file)["vocabulary"])}


def read_pairs(name):
    """Both sides padded, [N, S] and [N, T] with the end symbol, and the lengths of the sources [N]."""
    to_source, to_target = read_vocabulary("source"), read_vocabulary("target")
    sources, targets = [], []
    with open(os.path.join(data, name)) as file:
        next(file)
        for line in file:
            source, target = line.rstrip("\n").split("\t")[:2]
            sources.append(torch.tensor([to_source.get(character, unknown) for character in source]))
            targets.append(torch.tensor([to_target.get(character, unknown) for character in target] + [end]))
    lengths = torch.tensor([len(source) for source in sources])
    return pad_sequence(sources, True, padding), pad_sequence(targets, True, padding), lengths


class Decoder(torch.nn.Module):
    def __init__(self, embedding, hidden, memory, readout):
        super().__init__()
        self.recurrent = torch.nn.GRU(embedding, hidden, batch_first=True)
        self.score = torch.nn.Linear(memory, hidden, bias=False)
        self.combine = torch.nn.Linear(memory + hidden, readout, bias=False)

    def forward(self, x, start, memory, keep):
        states, _ = self.recurrent(x, start.unsqueeze(0))  # [B, T, H]
        # s (W h) = (s W) h: targets are shorter than sources, so W goes to their side.
        scores = torch.bmm(states @ self.score.weight, memory.transpose(1, 2))  # [B, T, S]
        attention = scores.masked_fill(~keep.unsqueeze(1), float("-inf")).softmax(-1)
        context = torch.bmm(attention, memory)  # [B, T, D]
        return self.combine(torch.cat([context, states], -1)).tanh()


class Seq2Seq(torch.nn.Module):
    def __init__(self):
        super().__init__()
        shape = {name: tensor.shape for name, tensor in weights.items()}
        (source_symbols, embedding), (target_symbols, readout) = shape["source_embedding.weight"], shape["output.weight"]
        hidden, memory = shape["bridge_l0.weight"]
        self.source_embedding = torch.nn.Embedding(source_symbols, embedding)
        self.target_embedding = torch.nn.Embedding(target_symbols, embedding)
        self.encoder = torch.nn.GRU(embedding, memory // 2, batch_first=True, bidirectional=True)
        self.bridge_l0 = torch.nn.Linear(memory, hidden)
        self.decoder = Decoder(embedding, hidden, memory, readout)
        self.output = torch.nn.Linear(readout, target_symbols)
        self.load_state_dict(weights)

    def forward(self, source, lengths, target):
        packed = pack_padded_sequence(self.source_embedding(source), lengths, batch_first=True)
        packed, last = self.encoder(packed)
        memory, _ = pad_packed_sequence(packed, batch_first=True)  # [B, S, D]
        start = self.bridge_l0(torch.cat([last[0], last[1]], 1)).tanh()  # [B, H]
        shifted = torch.nn.functional.pad(target[:, :-1], (1, 0), value=begin)
        return self.output(self.decoder(self.target_embedding(shifted), start, memory, source != padding))


model = Seq2Seq()


def loss_of(pairs, picked, reduction="mean"):
    """picked: rows in the order of falling source length, as packing wants them."""
    sources, targets, lengths = pairs
    lengths, target = lengths[picked], targets[picked]
    logits = model(sources[picked, : lengths[0]], lengths, target)
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=padding, reduction=reduction)


def batches_of(pairs, order, shuffle):
    """Rows of similar length together: sorted within pools of so many batches. A date's source decides its length where it is
    longer than the target, as in ours."""
    lengths = pairs[2].clamp_min(pairs[1].shape[1])
    batches = []
    for pool in order.split(pool_batches * batch_size):
        pool = pool[lengths[pool].argsort(stable=True)]
        batches += [batch[pairs[2][batch].argsort(descending=True)] for batch in pool.split(batch_size)]
    return [batches[place] for place in torch.randperm(len(batches))] if shuffle else batches


def epoch(pairs, batches, optimiser, schedule):
    total, symbols = torch.zeros((), dtype=torch.float64), 0
    for picked in batches:
        optimiser.zero_grad(set_to_none=True)
        loss = loss_of(pairs, picked)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimiser.step()
        schedule.step()
        count = int((pairs[1][picked] != padding).sum())
        total += loss.detach() * count
        symbols += count
    return total.item() / symbols


def train(pairs, *passes):
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1, (step + 1) / warmup_steps))
    return [timed(lambda: epoch(pairs, batches, optimiser, schedule)) for batches in passes]


def evaluate(pairs):
    with torch.no_grad():
        total = sum(loss_of(pairs, picked, "sum").double() for picked in batches_of(pairs, torch.arange(len(pairs[0])), False))
    return total.item() / int((pairs[1] != padding).sum())


def flop_per_row(pairs):
    """Multiplications and additions of all matrix products without padding; backward is twice forward."""
    size = {name: tensor.numel() for name, tensor in weights.items() if tensor.dim() == 2}
    source, target = pairs[2].double().mean().item(), (pairs[1] != padding).sum().item() / len(pairs[1])
    lengths_product = (pairs[2] * (pairs[1] != padding).sum(1)).double().mean().item()
    encoder = source * sum(count for name, count in size.items() if name.startswith("encoder"))
    decoder = target * sum(count for name, count in size.items() if name.startswith(("decoder", "output")))
    attention = 2 * lengths_product * weights["bridge_l0.weight"].shape[1]
    return 3 * 2 * (encoder + size["bridge_l0.weight"] + decoder + attention)


def flop_per_second(width=2048):
    left, right = torch.randn(width, width), torch.randn(width, width)
    return 2 * width**3 / min(timed(lambda: left @ right)[0] for _ in range(5))


if mode == "evaluate":
    print(json.dumps({"loss": evaluate(read_pairs("val.tsv"))}))
elif mode == "floor":
    print(json.dumps({"flop_per_row": flop_per_row(read_pairs("train.tsv")), "flop_per_second": flop_per_second()}))
elif mode == "loss":
    pairs = read_pairs("train.tsv")
    print(json.dumps({"loss": train(pairs, batches_of(pairs, torch.arange(len(pairs[0])), False))[0][1]}))
else:
    pairs = read_pairs("train.tsv")
    batches = batches_of(pairs, torch.randperm(len(pairs[0])), True)
    (_, _), (seconds, _) = train(pairs, batches[:10], batches)
    print(json.dumps({"seconds": seconds / len(batches)}))
