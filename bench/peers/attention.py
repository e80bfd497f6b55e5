"""softmax(Q K^T / 8) V of 8 heads of 64, forward and backward, in plain PyTorch: the work of bench/attention/attention.cc.
  attention.py LENGTH full|causal [--threads N]"""
import argparse
import json
import resource
import statistics

import torch

from common import timed

parser = argparse.ArgumentParser()
parser.add_argument("length", type=int)
parser.add_argument("kind", choices=("full", "causal"))
parser.add_argument("--threads", type=int, default=1)
arguments = parser.parse_args()
length, causal, heads, head_size = arguments.length, arguments.kind == "causal", 8, 64
torch.set_num_threads(arguments.threads)


def wave(rate):
    return torch.sin(torch.arange(heads * length * head_size, dtype=torch.float64) * rate).float().view(heads, length, head_size)


query, key, value = (wave(rate).requires_grad_() for rate in (0.37, 0.61, 0.83))
coefficients = wave(0.11)
hidden = torch.ones(length, length, dtype=torch.bool).triu(1) if causal else None


def forward():
    scores = torch.bmm(query * head_size**-0.5, key.transpose(1, 2))
    if causal:
        scores = scores.masked_fill_(hidden, float("-inf"))
    return torch.bmm(scores.softmax(-1), value)


def gradients():
    return torch.autograd.grad((forward() * coefficients).sum(), (query, key, value))


def median_seconds(work):
    first, _ = timed(work)
    return statistics.median(timed(work)[0] for _ in range(min(200, max(3, int(1.5 / first)))))


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


before = peak()
gradient = sum(part.abs().sum().item() for part in gradients())
grown = peak() - before
seconds = median_seconds(gradients)
with torch.no_grad():
    loss = (forward() * coefficients).sum().item()
    alone = median_seconds(forward)
print(json.dumps({"loss": loss, "gradient": gradient, "seconds": seconds, "forward": alone, "bytes": grown}))
