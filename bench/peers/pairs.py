"""Pairs of texts as ours reads them: characters or words, vocabularies from the run's assets, batches of similar length."""
import json
import os
import typing

import torch
from torch.nn.utils.rnn import pad_sequence

from words import words_of

padding, unknown, begin, end = 0, 1, 2, 3


class Pairs(typing.NamedTuple):
    sources: torch.Tensor  # [N, S], padded
    targets: torch.Tensor  # [N, T], with the end symbol
    source_lengths: torch.Tensor  # [N], on the CPU
    target_lengths: torch.Tensor

    def batch(self, picked):
        """The rows of `picked` [B], without columns that are padding in all of them."""
        source_lengths, target_lengths = self.source_lengths[picked], self.target_lengths[picked]
        where = picked.to(self.sources.device)
        return Pairs(self.sources[where, : int(source_lengths.max())], self.targets[where, : int(target_lengths.max())], source_lengths, target_lengths)


def read_vocabulary(weights, side):
    """The symbols that follow the four special ones; one file for both sides where they share it."""
    folder = os.path.join(os.path.dirname(weights), "assets")
    path = os.path.join(folder, side + ".json")
    with open(path if os.path.exists(path) else os.path.join(folder, "source.json")) as file:
        return json.load(file)["vocabulary"]


def read_pairs(arguments, options, name):
    cut = list if options["data"]["tokens"] == "characters" else words_of
    sides = ([], [])
    vocabularies = [{symbol: place + 4 for place, symbol in enumerate(read_vocabulary(arguments.weights, side))} for side in ("source", "target")]
    with open(os.path.join(arguments.data, name)) as file:
        next(file)
        for line in file:
            for side, vocabulary, text in zip(sides, vocabularies, line.rstrip("\n").split("\t")[:2]):
                side.append([vocabulary.get(symbol, unknown) for symbol in cut(text)])
    for target in sides[1]:
        target.append(end)
    lengths = [torch.tensor([len(row) for row in side]) for side in sides]
    padded = [pad_sequence([torch.tensor(row) for row in side], True, padding).to(arguments.device) for side in sides]
    return Pairs(*padded, *lengths)


def batches_of(pairs, training, shuffle=False):
    """Rows of similar length together: sorted within pools of so many batches, as ours does; in a batch the longest source first."""
    lengths, size = torch.maximum(pairs.source_lengths, pairs.target_lengths), training["batch_size"]
    order = torch.randperm(len(lengths)) if shuffle else torch.arange(len(lengths))
    batches = []
    for pool in order.split(max(1, training["pool_batches"]) * size):
        pool = pool[lengths[pool].argsort(stable=True)]
        batches += [batch[pairs.source_lengths[batch].argsort(descending=True, stable=True)] for batch in pool.split(size)]
    return [batches[place] for place in torch.randperm(len(batches))] if shuffle else batches
