"""Graph attention (Velickovic et al. 2018) in plain PyTorch: the network that `fovea train graph` trains, all nodes at once as its users write it, with
lists of edges (index_add) rather than a dense matrix of pairs. Modes:
  loss      the loss of the first step, without dropout
  time      seconds per epoch (one step on all training nodes), dense features; the median of 15 after 3 of warm-up
  sparse    the same with sparse features (torch.sparse.mm), which PyTorch's users could also take
  floor     flop and bytes of an epoch that computes what the training nodes see, and nothing else"""
import json
import os
import statistics

import torch
from torch.nn.functional import cross_entropy, dropout, elu, leaky_relu

from common import adam_bytes, parse_arguments, read_options, read_weights, report, timed

arguments = parse_arguments()
mode, data = arguments.mode, arguments.data
weights, options = read_weights(arguments.weights), read_options(arguments.weights)
with open(os.path.join(os.path.dirname(arguments.weights), "assets", "graph.json")) as file:
    known = json.load(file)
model, training = options["model"], options["training"]
input_rate, attention_rate, value_rate = (0.0 if mode == "loss" else model[name] for name in ("dropout", "attention_dropout", "value_dropout"))
column = {name: place for place, name in enumerate(known["features"]["columns"])}
class_of = {name: place for place, name in enumerate(known["classes"])}


def lines(name):
    with open(os.path.join(data, name)) as file:
        return [line.rstrip("\n").split("\t") for line in file]


number, features = {}, []
for name, entries in lines("features.tsv"):
    features += [(len(number), column[entry]) for entry in entries.split()]
    number[name] = len(number)
nodes = len(number)
places = torch.tensor(features).t()  # [2, Z]
values = 1 / torch.bincount(places[0], minlength=nodes)[places[0]].float()  # a node's numbers share 1
pairs = {(number[one], number[other]) for one, other in lines("edges.tsv")}
pairs = {pair for one, other in pairs for pair in ((one, other), (other, one))} | {(node, node) for node in range(nodes)}
source, target = torch.tensor(sorted(pairs, key=lambda pair: (pair[1], pair[0]))).t()
labels = {name: class_of[label] for name, label in lines("labels.tsv") if label in class_of}
rows = [name for name, part in lines("split.tsv") if part == "train"]
row, wanted = torch.tensor([number[name] for name in rows]), torch.tensor([labels[name] for name in rows])
dense = torch.zeros(nodes, len(column)).index_put_((places[0], places[1]), values)


class Layer(torch.nn.Module):
    def __init__(self, place, heads):
        super().__init__()
        for name in ("weight", "to_target", "to_source", "bias"):
            self.register_parameter(name, torch.nn.Parameter(weights[f"layers.{place}.{name}"].clone()))
        self.heads, self.width = heads, self.weight.shape[1] // heads

    def forward(self, z):
        """z [N, H D], already x W -> [N, H D]"""
        by_head = z.view(-1, self.heads, self.width)
        scores = leaky_relu((by_head * self.to_target).sum(-1)[target] + (by_head * self.to_source).sum(-1)[source], model["slope"])  # [E, H]
        powers = (scores - scores.max()).exp()
        sums = torch.zeros(nodes, self.heads).index_add(0, target, powers)
        attention = dropout(powers / sums[target], attention_rate)
        terms = attention.unsqueeze(2) * dropout(by_head, value_rate)[source]
        return torch.zeros(nodes, self.heads, self.width).index_add(0, target, terms)


first, last = Layer(0, model["heads"]), Layer(1, model["output_heads"])
parameters = [*first.parameters(), *last.parameters()]


def projected():
    if mode == "sparse":
        return torch.sparse.mm(torch.sparse_coo_tensor(places, dropout(values, input_rate), dense.shape), first.weight)
    return dropout(dense, input_rate) @ first.weight


def step(optimiser):
    optimiser.zero_grad(set_to_none=True)
    hidden = elu(first(projected()).flatten(1) + first.bias)
    logits = last(dropout(hidden, input_rate) @ last.weight).mean(1) + last.bias
    loss = cross_entropy(logits[row], wanted)
    loss.backward()
    optimiser.step()
    return loss.item()


def floor():
    """The last layer needs the edges into training nodes, the first those into the nodes where these begin, and the features of the nodes beyond."""
    wanted_nodes = torch.zeros(nodes, dtype=torch.bool)
    wanted_nodes[row] = True
    edges, width = [], (last.weight.shape[1], first.weight.shape[1])
    for _ in width:
        seen = wanted_nodes[target]
        edges.append(int(seen.sum()))
        middle, wanted_nodes = wanted_nodes, torch.zeros(nodes, dtype=torch.bool).index_fill(0, source[seen], True)
    entries = int(wanted_nodes[places[0]].sum())  # features that are not 0
    # A product forward and one for the weights; between the layers one more for what is below.
    products = 2 * entries * width[1] + 3 * int(middle.sum()) * last.weight.numel()
    terms = 3 * sum(count * size for count, size in zip(edges, width))  # weight times value, and both gradients
    # Features (place and value) twice, what edges carry once forward and twice back.
    return {"flop": 2 * (products + terms), "bytes": 2 * 8 * entries + 4 * terms + adam_bytes(weights)}


decayed = [parameter for parameter in parameters if parameter.dim() > 1]
biases = [parameter for parameter in parameters if parameter.dim() == 1]
groups = [{"params": decayed, "weight_decay": training["weight_decay"]}, {"params": biases, "weight_decay": 0.0}]
optimiser = torch.optim.Adam(groups, lr=training["learning_rate"], betas=(training["beta1"], training["beta2"]), eps=training["epsilon"])
if mode == "loss":
    report(loss=step(optimiser))
elif mode == "floor":
    report(**floor())
else:
    times = [timed(lambda: step(optimiser))[0] for _ in range(18)][3:]
    report(seconds=statistics.median(times))
