"""Feature attention in plain PyTorch. Modes:
  loss      one epoch of train.csv in file order, prints the mean loss
  time      seconds per epoch, shuffled, after one epoch of warm-up
  floor     flop and bytes of an epoch"""
import torch

from common import adam_bytes, parse_arguments, read_csv, read_weights, report, timed

arguments = parse_arguments()
rows = read_csv(arguments.data + "/train.csv")
inputs, target = rows[:, :-1].contiguous(), rows[:, -1].contiguous()
weights = read_weights(arguments.weights)
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


if arguments.mode == "loss":
    report(loss=epoch(torch.arange(len(inputs))))
elif arguments.mode == "floor":
    # Forward and the gradients of the weights: nobody needs those of the inputs.
    matrices = sum(tensor.numel() for tensor in weights.values() if tensor.dim() == 2)
    steps = -(-len(rows) // batch_size)
    report(flop=2 * 2 * matrices * len(rows), bytes=4 * rows.numel() + steps * adam_bytes(weights))
else:
    epoch(torch.randperm(len(inputs)))
    seconds, _ = timed(lambda: epoch(torch.randperm(len(inputs))))
    report(seconds=seconds)
