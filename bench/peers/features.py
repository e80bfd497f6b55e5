"""Feature attention in plain PyTorch. Modes: `loss` (one epoch in file order, prints the mean loss) and `time` (prints seconds
per epoch, shuffled, after one epoch of warm-up)."""
import json
import sys

import torch

from common import read_csv, read_weights, timed

mode, data, weights_path, threads = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
torch.set_num_threads(threads)
rows = read_csv(data + "/train.csv")
inputs, target = rows[:, :-1].contiguous(), rows[:, -1].contiguous()
weights = read_weights(weights_path)
batch_size = 128


class FeatureAttention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = torch.nn.Linear(inputs.shape[1], inputs.shape[1])
        self.output = torch.nn.Linear(inputs.shape[1], 1)
        self.load_state_dict(weights)

    def forward(self, x):
        return self.output(torch.softmax(self.attention(x), 1) * x).squeeze(1)


model = FeatureAttention()
optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-7)
loss_function = torch.nn.BCEWithLogitsLoss()


def epoch(order):
    total = torch.zeros((), dtype=torch.float64)
    for begin in range(0, len(order), batch_size):
        picked = order[begin : begin + batch_size]
        optimiser.zero_grad(set_to_none=True)
        loss = loss_function(model(inputs[picked]), target[picked])
        loss.backward()
        optimiser.step()
        total += loss.detach() * len(picked)
    return total.item() / len(order)


if mode == "loss":
    print(json.dumps({"loss": epoch(torch.arange(len(inputs)))}))
else:
    epoch(torch.randperm(len(inputs)))
    seconds, _ = timed(lambda: epoch(torch.randperm(len(inputs))))
    print(json.dumps({"seconds": seconds}))
