"""Reference numbers for the recurrent model of glimpses (recurrent_glimpses), in float64, from PyTorch (1.13).

Run:  python3 tests/golden/glimpses.py        (writes glimpses.json beside itself)

Mnih et al. 2014, one picture and one glimpse at a time. The places are given, so nothing is drawn: the class's cross entropy, the reward, the
REINFORCE term with torch.distributions.Normal (less the density's constant, which has no gradient) and the baseline's squared error, each the mean over
episodes; what the sensor saw, the class probabilities after the last glimpse, and the gradient for every parameter. Parameters have the names of ours.
"""
import json
import math
import pathlib

import torch
from torch import nn
from torch.nn import functional as F

from packing import pack

torch.manual_seed(20261119)
torch.set_default_dtype(torch.float64)

PICTURES, SAMPLES, GLIMPSES = 3, 2, 4
CHANNELS, HEIGHT, WIDTH, CLASSES = 2, 9, 11, 3
PATCH, GLIMPSE_HIDDEN, HIDDEN, SIGMA = 4, 3, 5, 0.3


def sensor(picture, place, scales):
    """picture [C, H, W], place (x, y)"""
    corner_x = math.floor((place[0].item() + 1) / 2 * WIDTH + 0.5)
    corner_y = math.floor((place[1].item() + 1) / 2 * HEIGHT + 0.5)
    patches = []
    for scale in range(scales):
        side = PATCH * 2 ** scale
        framed = F.pad(picture, (side, side, side, side))
        top, left = corner_y - side // 2 + side, corner_x - side // 2 + side
        patch = framed[:, top:top + side, left:left + side]
        patches.append(F.avg_pool2d(patch, 2 ** scale).reshape(-1))
    return torch.cat(patches)


class Glimpses(nn.Module):
    def __init__(self, scales, means):
        super().__init__()
        self.scales, self.means = scales, means
        self.what = nn.Linear(scales * CHANNELS * PATCH * PATCH, GLIMPSE_HIDDEN)
        self.where = nn.Linear(2, GLIMPSE_HIDDEN)
        self.combine = nn.Linear(2 * GLIMPSE_HIDDEN, HIDDEN)
        self.core_input = nn.Linear(HIDDEN, HIDDEN)
        self.core_state = nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.locate = nn.Linear(HIDDEN, 2)
        self.baseline = nn.Linear(HIDDEN, 1)
        self.classify = nn.Linear(HIDDEN, CLASSES)

    def episode(self, picture, draws, target):
        state, policy, misfit, seen = torch.zeros(HIDDEN), 0, 0, []
        chosen = []
        for step in range(GLIMPSES):
            place = draws[step].clamp(-1, 1)
            seen.append(sensor(picture, place, self.scales))
            both = torch.cat([F.relu(self.what(seen[-1])), F.relu(self.where(place))])
            state = F.relu(self.core_input(F.relu(self.combine(both))) + self.core_state(state))
            if step + 1 < GLIMPSES:
                held = state.detach()
                mean = self.locate(held)
                mean = torch.tanh(mean) if self.means == "tanh" else mean
                law = torch.distributions.Normal(mean, SIGMA)
                constant = -math.log(SIGMA) - 0.5 * math.log(2 * math.pi)
                chosen.append(((law.log_prob(draws[step + 1]) - constant).sum(), self.baseline(held)[0]))
        logits = self.classify(state)
        reward = float(logits.argmax().item() == target)
        for log_density, expected in chosen:
            policy = policy - log_density * (reward - expected.item())
            misfit = misfit + (expected - reward) ** 2 / (GLIMPSES - 1)
        entropy = F.cross_entropy(logits.unsqueeze(0), torch.tensor([target]))
        return {"entropy": entropy, "policy": policy, "misfit": misfit, "reward": reward, "seen": torch.stack(seen),
                "scores": logits.softmax(0)}


def case(scales, means, pictures, draws, target):
    model = Glimpses(scales, means)
    with torch.no_grad():
        model.what.bias.add_(0.5)
        model.combine.bias.add_(0.3)
    episodes = [[model.episode(pictures[b], draws[b, m], target[b]) for m in range(SAMPLES)] for b in range(PICTURES)]
    flat = [one for row in episodes for one in row]
    mean = lambda name: sum(one[name] for one in flat) / len(flat)
    loss = mean("entropy") + mean("policy") + mean("misfit")
    loss.backward()
    return {
        "scales": scales, "means": means, "loss": loss.item(), "cross_entropy": mean("entropy").item(), "reward": mean("reward"),
        "baseline": mean("misfit").item(),
        "seen": pack(torch.stack([torch.stack([one["seen"] for one in row]) for row in episodes])),
        "scores": pack(torch.stack([torch.stack([one["scores"] for one in row]) for row in episodes])),
        "parameters": {name: pack(value) for name, value in model.named_parameters()},
        "gradients": {name: pack(value.grad) for name, value in model.named_parameters()},
    }


def main():
    pictures = torch.rand(PICTURES, CHANNELS, HEIGHT, WIDTH)
    draws = torch.randn(PICTURES, SAMPLES, GLIMPSES, 2) * 0.8
    target = [0, 2, 1]
    result = {
        "pictures": pack(pictures), "draws": pack(draws), "target": target, "sigma": SIGMA, "patch": PATCH, "glimpse_hidden": GLIMPSE_HIDDEN,
        "hidden": HIDDEN, "classes": CLASSES,
        "cases": [case(1, "linear", pictures, draws, target), case(3, "tanh", pictures, draws, target)],
    }
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(result) + "\n")
    for one in result["cases"]:
        print(one["scales"], one["means"], one["loss"], one["reward"])


if __name__ == "__main__":
    main()
