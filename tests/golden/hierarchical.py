"""Reference numbers for the hierarchical model of documents (hierarchical), in float64, from PyTorch (1.13).

Run:  python3 tests/golden/hierarchical.py        (writes hierarchical.json beside itself)

Yang et al. 2016 with torch.nn.GRU in both directions, one document and one sentence at a time, so that nothing is padded. attention: u . tanh(W h + b)
with softmax; average, max: in place of it. For each the logits, the weights of sentences and words, the mean cross entropy and its gradient for every
parameter. Parameters have the names of ours.
"""
import json
import pathlib

import torch
from torch import nn
from torch.nn import functional as F

from packing import pack

torch.manual_seed(20261118)
torch.set_default_dtype(torch.float64)

WORDS, EMBEDDING, HIDDEN, CLASSES = 9, 4, 3, 3
DOCUMENTS = [[[4, 5, 6], [7], [8, 4]], [[5, 1, 4, 6, 7]], [[8, 8], [4, 6, 5, 7, 1, 8]]]
TARGET = [2, 0, 1]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.projection = nn.Linear(2 * HIDDEN, 2 * HIDDEN)
        self.context = nn.Parameter(torch.randn(2 * HIDDEN))

    def forward(self, states):
        weights = torch.softmax(torch.tanh(self.projection(states)) @ self.context, 0)
        return weights @ states, weights


class Plain(nn.Module):
    def __init__(self, pooling):
        super().__init__()
        self.pooling = pooling

    def forward(self, states):
        return (states.mean(0) if self.pooling == "average" else states.max(0)[0]), torch.zeros(states.shape[0])


class Hierarchical(nn.Module):
    def __init__(self, pooling):
        super().__init__()
        make = Attention if pooling == "attention" else lambda: Plain(pooling)
        self.words = nn.Embedding(WORDS, EMBEDDING)
        self.word_encoder = nn.GRU(EMBEDDING, HIDDEN, bidirectional=True)
        self.word_pooling = make()
        self.sentence_encoder = nn.GRU(2 * HIDDEN, HIDDEN, bidirectional=True)
        self.sentence_pooling = make()
        self.output = nn.Linear(2 * HIDDEN, CLASSES)

    def document(self, sentences):
        vectors, of_words = zip(*(self.word_pooling(self.word_encoder(self.words(torch.tensor(words)))[0]) for words in sentences))
        vector, of_sentences = self.sentence_pooling(self.sentence_encoder(torch.stack(vectors))[0])
        return self.output(vector), of_sentences, torch.cat(of_words)


def case(pooling):
    model = Hierarchical(pooling)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.7)
    rows = [model.document(sentences) for sentences in DOCUMENTS]
    logits = torch.stack([row[0] for row in rows])
    loss = F.cross_entropy(logits, torch.tensor(TARGET))
    loss.backward()
    return {
        "pooling": pooling, "logits": pack(logits), "loss": float(loss),
        "sentence_weights": [pack(row[1]) for row in rows], "word_weights": [pack(row[2]) for row in rows],
        "parameters": {name: pack(value) for name, value in model.named_parameters()},
        "gradients": {name: pack(value.grad) for name, value in model.named_parameters()},
    }


result = {"documents": DOCUMENTS, "target": TARGET, "cases": [case(pooling) for pooling in ("attention", "average", "max")]}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(result, indent=None, separators=(",", ":")) + "\n")
