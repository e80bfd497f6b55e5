"""Beam search in plain PyTorch: all hypotheses of a batch are rows of one tensor, states follow them by index_select, and sentences that are
decided leave the batch. The rules are those of fovea/decoding/beam.cc: a finished output scores log p / ((5 + length) / 6)^penalty.

A decoder has
  step(symbols [B, K], position) -> logits [B K, V]
  reorder(rows [B K])   every hypothesis goes on from that row of the step before
  keep(sentences [B'])  what is kept once per sentence"""
import itertools

import torch

from common import timed
from pairs import begin, end, padding, read_pairs, read_vocabulary, unknown

infinity, batch_size, width, penalty = float("inf"), 64, 4, 0.6


def divisor(length):
    return ((5 + length) / 6) ** penalty


def search(decoder, limits):
    """limits [B]: the most symbols of each output. For each sentence (symbols without the end, log-probability)."""
    sentence = torch.arange(len(limits))
    found = [None] * len(limits)
    best = torch.full((len(limits),), -infinity)
    scores = torch.full((len(limits), width), -infinity)
    scores[:, 0] = 0
    symbols = torch.full((len(limits), width), begin)
    written = torch.empty(len(limits), width, 0, dtype=torch.long)
    for position in itertools.count():
        steps = decoder.step(symbols, position).log_softmax(-1)  # [B K, V]
        steps[:, [padding, begin]] = -infinity
        size, length = steps.shape[1], position + 1
        scores, place = (scores.view(-1, 1) + steps).view(len(scores), -1).topk(width)  # [B, K]
        origin, symbols = place.div(size, rounding_mode="floor"), place % size
        written = torch.cat([written.gather(1, origin.unsqueeze(2).expand_as(written)), symbols.unsqueeze(2)], 2)
        ended = (symbols == end) | (length >= limits.unsqueeze(1))
        value, which = (scores / divisor(length)).masked_fill(~ended, -infinity).max(1)
        for row in (value > best).nonzero().flatten().tolist():
            best[row] = value[row]
            found[int(sentence[row])] = (written[row, which[row]].tolist(), float(scores[row, which[row]]))
        scores = scores.masked_fill(ended, -infinity)
        open_ones = (scores.amax(1) / divisor(limits) > best).nonzero().flatten()
        if len(open_ones) == 0:
            return found
        rows = torch.arange(len(scores)).unsqueeze(1) * width + origin
        if len(open_ones) < len(scores):
            sentence, limits, best, scores, symbols, written, rows = (
                part.index_select(0, open_ones) for part in (sentence, limits, best, scores, symbols, written, rows))
            decoder.keep(open_ones)
        decoder.reorder(rows.flatten())


def decode(arguments, options, start, flop_of):
    """Writes for every source of test.tsv, longest batches last. start(source [B, S], lengths [B]) -> decoder; flop_of(source length, output length)."""
    pairs = read_pairs(arguments, options, "test.tsv")
    order = pairs.source_lengths.argsort(stable=True)
    outputs = [None] * len(order)

    def write_all():
        for picked in order.split(batch_size):
            lengths = pairs.source_lengths[picked]
            found = search(start(pairs.sources[picked, : int(lengths.max())], lengths), 2 * lengths + 20)
            for row, output in zip(picked.tolist(), found):
                outputs[row] = output

    with torch.no_grad():
        seconds, _ = timed(write_all)
    flop = sum(flop_of(int(length), len(symbols)) for length, (symbols, _) in zip(pairs.source_lengths, outputs))
    shown = {place + 4: symbol for place, symbol in enumerate(read_vocabulary(arguments.weights, "target"))}
    shown[unknown] = "\u2581<unk>"
    texts = ["".join(shown[symbol] for symbol in symbols if symbol != end).replace("\u2581", " ").strip() for symbols, _ in outputs]
    return {"seconds": seconds, "outputs": [{"text": text, "log_probability": score} for text, (_, score) in zip(texts, outputs)], "flop": flop}
