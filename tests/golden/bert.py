"""Reference numbers for the models on words and pieces (bert_classifier, bert_tagger, lstm_tagger), in float64, from PyTorch (1.13).

Run:  python3 tests/golden/bert.py        (writes bert.json beside itself)

classifier: BERT with the [CLS] state or the mean of all states, texts that fit and texts in windows. tagger: the state of each word's first piece.
lstm: embeddings, a convolution over letters, torch.nn.LSTM in both directions, torch.nn.MultiheadAttention. Each with padding: logits, the mean cross
entropy and its gradient for every parameter. Parameters have the names of ours.
"""
import json
import pathlib

import torch
from torch import nn
from torch.nn import functional as F

from packing import pack

torch.manual_seed(20261117)
torch.set_default_dtype(torch.float64)

PIECES, WIDTH, HEADS, LAYERS, HIDDEN, POSITIONS, CLASSES = 9, 4, 2, 2, 5, 6, 3


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(PIECES, WIDTH)
        self.segments = nn.Embedding(2, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, dropout=0.0, activation="gelu", batch_first=True, layer_norm_eps=1e-12)
        self.encoder = nn.TransformerEncoder(layer, LAYERS)
        self.pooler = nn.Linear(WIDTH, WIDTH)

    def forward(self, tokens, segments, keep):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1])) + self.segments(segments)
        return self.encoder(self.norm(x), src_key_padding_mask=~keep)


class OnTop(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Bert()
        self.output = nn.Linear(WIDTH, CLASSES)

    def classify(self, tokens, segments, keep, pooling, window):
        """One text at a time, one window at a time, nothing padded."""
        rows = []
        for row in range(tokens.shape[0]):
            length = int(keep[row].sum())
            parts = []
            for begin in range(0, length, window):
                part = slice(begin, min(begin + window, length))
                real = torch.ones(1, part.stop - part.start, dtype=torch.bool)
                hidden = self.encoder(tokens[row : row + 1, part], segments[row : row + 1, part], real)[0]
                parts.append(self.output(torch.tanh(self.encoder.pooler(hidden[0])) if pooling == "cls" else hidden.mean(0)))
            rows.append(torch.stack(parts).mean(0))
        return torch.stack(rows)

    def tag(self, tokens, keep, words):
        hidden = self.encoder(tokens, torch.zeros_like(tokens), keep)
        return self.output(torch.gather(hidden, 1, words[:, :, None].expand(-1, -1, WIDTH)))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(7, 3)
        self.letters = nn.Embedding(6, 2)
        self.filters_weight = nn.Parameter(torch.zeros(4, 2, 3))
        self.filters_bias = nn.Parameter(torch.zeros(4))
        self.recurrent = nn.LSTM(7, 3, batch_first=True, bidirectional=True)
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
        self.norm = nn.LayerNorm(6)
        self.output = nn.Linear(6, CLASSES)

    def forward(self, words, letters, lengths):
        rows = []
        for row, length in enumerate(lengths):  # one sentence at a time, nothing padded
            spelled = []
            for word in range(length):
                real = letters[row, word][letters[row, word] != 0]
                x = self.letters(real).T[None]
                spelled.append(F.conv1d(x, self.filters_weight, self.filters_bias, padding=1)[0].relu().max(-1).values)
            x = torch.cat([self.words(words[row, :length]), torch.stack(spelled)], -1)[None]
            h, _ = self.recurrent(x)
            looked, _ = self.attention(h, h, h)
            rows.append(self.output(self.norm(h + looked))[0])
        return rows


def shuffled(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4 + (0.3 if parameter.dim() == 1 else 0))
    return module


def case_of(module, logits, target, **inputs):
    loss = F.cross_entropy(logits, target)
    named = dict(module.named_parameters())
    found = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    return {
        **inputs, "logits": pack(logits), "loss": float(loss.detach()),
        "gradients": {name: pack(g) for name, g in zip(named, found) if g is not None},
    }


def main():
    bert = shuffled(OnTop())
    lengths = torch.tensor([6, 3, 5])
    tokens = torch.randint(1, PIECES, (3, 6))
    keep = torch.arange(6)[None] < lengths[:, None]
    tokens = tokens.masked_fill(~keep, 0)
    segments = ((torch.arange(6)[None] > 2) & keep).long()
    target = torch.tensor([2, 0, 1])
    classifier = [
        case_of(bert, bert.classify(tokens, segments, keep, pooling, window), target, pooling=pooling, window=window)
        for pooling in ("cls", "mean") for window in (6, 4)
    ]
    words = torch.tensor([[1, 3, 4], [1, 0, 0], [2, 3, 0]])
    real = torch.tensor([[1, 1, 1], [1, 0, 0], [1, 1, 0]], dtype=torch.bool)
    tags = torch.tensor([[0, 1, 2], [1, 0, 0], [2, 0, 0]])
    tagger = case_of(bert, bert.tag(tokens, keep, words)[real], tags[real], words=words.tolist(), keep=real.tolist(), tags=tags.tolist())

    lstm = shuffled(Lstm())
    sizes = [3, 1, 2]
    word_ids = torch.randint(1, 7, (3, 3)).masked_fill(~real, 0)
    letters = torch.randint(1, 6, (3, 3, 4))
    letters[0, 1, 2:] = 0
    letters[2, 0, 1:] = 0
    letters = letters.masked_fill(~real[:, :, None], 0)
    lstm_case = case_of(lstm, torch.cat(lstm(word_ids, letters, sizes)), tags[real], words=word_ids.tolist(), letters=letters.tolist(),
                        keep=real.tolist(), tags=tags.tolist())
    parameters = lambda module: {name: pack(value) for name, value in module.named_parameters()}
    golden = {
        "tokens": tokens.tolist(), "segments": segments.tolist(), "keep": keep.tolist(), "target": target.tolist(),
        "bert_parameters": parameters(bert), "classifier": classifier, "tagger": tagger,
        "lstm_parameters": parameters(lstm), "lstm": lstm_case,
    }
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
