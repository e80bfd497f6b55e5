"""Hierarchical attention (Yang et al. 2016) in plain PyTorch: the network that `fovea train documents` trains (BiGRU over the words of a
sentence, attention with a context vector, BiGRU over the sentences, attention, softmax). All sentences have the same number of words and all
documents the same number of sentences, so nothing is packed: PyTorch's fastest way. Modes:
  loss      one epoch of train.tsv in file order, prints the mean loss
  time      seconds per optimiser step over one epoch, after three steps of warm-up
  floor     flop of a step in matrix products, and bytes of its optimiser"""
import json
import os

import torch
from torch.nn.functional import cross_entropy, dropout

from common import Trainer, adam_bytes, parse_arguments, read_options, read_weights, report, run_epoch, seconds_per_step

arguments = parse_arguments()
weights, options = read_weights(arguments.weights), read_options(arguments.weights)
unknown, special = 1, 4
batch_size = options["training"]["batch_size"]
rate = 0.0 if arguments.mode == "loss" else options["model"]["dropout"]


def read_documents(name):
    """Words [N, S, W] and classes [N]."""
    with open(os.path.join(os.path.dirname(arguments.weights), "assets", "words.json")) as file:
        vocabulary = {word: place + special for place, word in enumerate(json.load(file))}
    documents, labels = [], []
    with open(os.path.join(arguments.data, name)) as file:
        next(file)
        for line in file:
            text, label = line.rstrip("\n").split("\t")
            documents.append([[vocabulary.get(word, unknown) for word in sentence.split()] for sentence in text.split("<br>")])
            labels.append(int(label))
    return torch.tensor(documents), torch.tensor(labels)


class Pooling(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.projection = torch.nn.Linear(width, width)
        self.context = torch.nn.Parameter(torch.zeros(width))

    def forward(self, states):
        """[N, T, D] -> [N, D]"""
        attention = (self.projection(states).tanh() @ self.context).softmax(1)  # [N, T]
        return torch.bmm(attention.unsqueeze(1), states).squeeze(1)


class Hierarchical(torch.nn.Module):
    def __init__(self):
        super().__init__()
        symbols, embedding = weights["words.weight"].shape
        hidden, classes = weights["word_encoder.weight_hh_l0"].shape[1], weights["output.weight"].shape[0]
        self.words = torch.nn.Embedding(symbols, embedding)
        self.word_encoder = torch.nn.GRU(embedding, hidden, batch_first=True, bidirectional=True)
        self.word_pooling = Pooling(2 * hidden)
        self.sentence_encoder = torch.nn.GRU(2 * hidden, hidden, batch_first=True, bidirectional=True)
        self.sentence_pooling = Pooling(2 * hidden)
        self.output = torch.nn.Linear(2 * hidden, classes)
        self.load_state_dict(weights)

    def forward(self, documents):
        x = self.words(documents.flatten(0, 1))  # [B S, W, E]
        if rate > 0:  # one mask for all words of a sentence
            x = x * dropout(torch.ones(x.shape[0], 1, x.shape[2]), rate)
        states, _ = self.word_encoder(x)
        sentences = dropout(self.word_pooling(states).view(*documents.shape[:2], -1), rate)  # [B, S, D]
        states, _ = self.sentence_encoder(sentences)
        return self.output(dropout(self.sentence_pooling(states), rate))


model = Hierarchical()

documents, labels = read_documents("train.tsv")
batches = list(torch.arange(len(documents)).split(batch_size))


def loss_of(picked):
    return cross_entropy(model(documents[picked]), labels[picked]), len(picked)


def flop_per_row():
    """Multiplications and additions of all matrix products; backward is twice forward."""
    size = {name: tensor.numel() for name, tensor in weights.items()}
    _, sentences, words = documents.shape
    of = lambda start: sum(count for name, count in size.items() if name.startswith(start) and "weight" in name)
    forward = sentences * words * (of("word_encoder") + of("word_pooling")) + sentences * (of("sentence_encoder") + of("sentence_pooling"))
    return 3 * 2 * (forward + of("output"))


trainer = Trainer(model.parameters(), options["training"])
if arguments.mode == "loss":
    report(loss=run_epoch(trainer, batches, loss_of))
elif arguments.mode == "floor":
    report(flop=flop_per_row() * batch_size, bytes=adam_bytes(weights))
else:
    report(seconds=seconds_per_step(arguments, trainer, batches, loss_of))
