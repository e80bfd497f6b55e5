"""Reference numbers from PyTorch for optimisers and for the first two models. Writes training.json beside itself.
Run with a Python that has torch: python3 tests/golden/training.py"""
import json
import os
import torch

torch.manual_seed(7)
golden = {}


def optimiser_paths():
    """20 steps on f(p) = sum(a * p^2) + sum(sin(p)), float32, for each optimiser."""
    start = torch.randn(13)
    scale = torch.rand(13) * 3
    kinds = {
        "sgd": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01),
        "nesterov": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
        "adam": lambda p: torch.optim.Adam(p, lr=0.05, betas=(0.8, 0.95), eps=1e-7, weight_decay=0.02),
        "adamw": lambda p: torch.optim.AdamW(p, lr=0.05, eps=1e-8, weight_decay=0.1),
        "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.02, alpha=0.95, momentum=0.5, eps=1e-6),
        "adadelta": lambda p: torch.optim.Adadelta(p, lr=1.0, rho=0.95, eps=1e-6),
    }
    golden["optimisers"] = {"start": start.tolist(), "scale": scale.tolist(), "paths": {}}
    for name, make in kinds.items():
        p = start.clone().requires_grad_(True)
        optimiser = make([p])
        path = []
        for _ in range(20):
            optimiser.zero_grad()
            ((scale * p * p).sum() + torch.sin(p).sum()).backward()
            optimiser.step()
            path.append(p.detach().tolist())
        golden["optimisers"]["paths"][name] = path


def features_model():
    """a = softmax(W x + b) per column; relu layer; two classes, several, a number. Loss and all gradients, float64."""
    column_of_input = [0, 0, 0, 1, 2, 2, 3]
    for name, outputs in (("two", 1), ("several", 3), ("number", 1)):
        inputs = torch.randn(9, 7, dtype=torch.float64)
        weights = {
            "attention.weight": torch.randn(4, 7, dtype=torch.float64),
            "attention.bias": torch.randn(4, dtype=torch.float64),
            "hidden.0.weight": torch.randn(5, 7, dtype=torch.float64),
            "hidden.0.bias": torch.randn(5, dtype=torch.float64),
            "output.weight": torch.randn(outputs, 5, dtype=torch.float64),
            "output.bias": torch.randn(outputs, dtype=torch.float64),
        }
        for tensor in weights.values():
            tensor.requires_grad_(True)
        attention = torch.softmax(inputs @ weights["attention.weight"].T + weights["attention.bias"], 1)
        z = inputs * attention[:, column_of_input]
        hidden = torch.relu(z @ weights["hidden.0.weight"].T + weights["hidden.0.bias"])
        out = hidden @ weights["output.weight"].T + weights["output.bias"]
        if name == "two":
            target = torch.tensor([0, 1, 1, 0, 1, 0, 0, 1, 1], dtype=torch.float64)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(out[:, 0], target)
        elif name == "several":
            target = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 1])
            loss = torch.nn.functional.cross_entropy(out, target)
        else:
            target = torch.randn(9, dtype=torch.float64)
            loss = torch.nn.functional.mse_loss(out[:, 0], target)
        loss.backward()
        golden["features_" + name] = {
            "column_of_input": column_of_input,
            "inputs": inputs.tolist(),
            "target": target.tolist(),
            "weights": {key: tensor.detach().tolist() for key, tensor in weights.items()},
            "attention": attention.detach().tolist(),
            "outputs": out.detach().tolist(),
            "loss": loss.item(),
            "gradients": {key: tensor.grad.tolist() for key, tensor in weights.items()},
        }


def context_model():
    inputs = torch.rand(6, 8, dtype=torch.float64)
    context = torch.tensor([0, 4, 2, 2, 1, 3])
    target = torch.rand(6, dtype=torch.float64)
    weights = {
        "attention.weight": torch.randn(5, 8, dtype=torch.float64),
        "output.weight": torch.randn(1, 8, dtype=torch.float64),
        "output.bias": torch.randn(1, dtype=torch.float64),
    }
    for tensor in weights.values():
        tensor.requires_grad_(True)
    out = (inputs * weights["attention.weight"][context]) @ weights["output.weight"].T + weights["output.bias"]
    loss = torch.nn.functional.mse_loss(out[:, 0], target)
    loss.backward()
    golden["context"] = {
        "inputs": inputs.tolist(), "context": context.tolist(), "target": target.tolist(),
        "weights": {key: tensor.detach().tolist() for key, tensor in weights.items()},
        "outputs": out.detach().tolist(), "loss": loss.item(),
        "gradients": {key: tensor.grad.tolist() for key, tensor in weights.items()},
    }


optimiser_paths()
features_model()
context_model()


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return value


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "training.json"), "w") as file:
    json.dump(rounded(golden), file)
