"""Context attention at batch 1 in plain PyTorch. Modes as in features.py; `time` prints seconds per row over 2,000 rows, `floor` is of a row."""
import torch

from common import adam_bytes, parse_arguments, read_csv, read_weights, report, timed

arguments = parse_arguments()
rows = read_csv(arguments.data + "/train.csv")
context, inputs, target = rows[:, 0].long().contiguous(), rows[:, 1:-1].contiguous(), rows[:, -1:].contiguous()
weights = read_weights(arguments.weights)


class ContextAttention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = torch.nn.Embedding(*weights["attention.weight"].shape)
        self.output = torch.nn.Linear(inputs.shape[1], 1)
        self.load_state_dict(weights)

    def forward(self, c, x):
        return self.output(x * self.attention(c))


model = ContextAttention()
optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_function = torch.nn.MSELoss()


def run(count):
    total = torch.zeros((), dtype=torch.float64)
    for row in range(count):
        optimiser.zero_grad(set_to_none=True)
        loss = loss_function(model(context[row : row + 1], inputs[row : row + 1]), target[row : row + 1])
        loss.backward()
        optimiser.step()
        total += loss.detach()
    return total.item() / count


if arguments.mode == "loss":
    report(loss=run(len(inputs)))
elif arguments.mode == "floor":
    # Adam moves all weights at every row; its bytes count although they fit the cache.
    report(flop=2 * 2 * 2 * inputs.shape[1], bytes=4 * rows.shape[1] + adam_bytes(weights))
else:
    run(200)
    seconds, _ = timed(lambda: run(2000))
    report(seconds=seconds / 2000)
