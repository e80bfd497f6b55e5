"""Reference numbers for tests/metrics, written as plainly as possible: python3 tests/golden/metrics.py > tests/golden/metrics.json"""
import json
import math

import numpy
import torch


def auc_by_pairs(scores, targets):
    wins = [(p > n) + 0.5 * (p == n) for p in scores[targets == 1] for n in scores[targets == 0]]
    return sum(wins) / len(wins)


def f1(predicted, targets, label):
    hits = ((predicted == label) & (targets == label)).sum()
    precision = hits / max((predicted == label).sum(), 1)
    recall = hits / max((targets == label).sum(), 1)
    return 0.0 if hits == 0 else 2 * precision * recall / (precision + recall)


def student_t_quantile(probability, degrees):
    """Simpson's rule on the density from 0 to t, then bisection."""
    log_scale = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - 0.5 * math.log(degrees * math.pi)

    def below(t):
        x = numpy.linspace(0, t, 200001)
        density = numpy.exp(log_scale - (degrees + 1) / 2 * numpy.log1p(x * x / degrees))
        weights = numpy.ones_like(x)
        weights[1:-1:2], weights[2:-1:2] = 4, 2
        return 0.5 + (weights * density).sum() * (x[1] - x[0]) / 3

    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < probability else (low, middle)
    return low


random = numpy.random.RandomState(7)
rows, classes = 60, 4

binary_targets = random.randint(0, 2, rows)
binary_scores = numpy.round(numpy.clip(random.rand(rows) * 0.7 + 0.25 * binary_targets, 0, 1), 1)  # rounded: many ties
binary_loss_scores = numpy.clip(binary_scores, 0.01, 0.99)
targets = random.randint(0, classes, rows)
logits = torch.tensor(random.randn(rows, classes) + 1.5 * numpy.eye(classes)[targets])
predicted = logits.argmax(1).numpy()
confusion = numpy.zeros((classes, classes), dtype=int)
for target, chosen in zip(targets, predicted):
    confusion[target, chosen] += 1
numbers = random.randn(rows)
guesses = numbers + 0.3 * random.randn(rows)
weights = random.rand(2, 3, 4, 5) - 0.3
keep = random.rand(2, 4, 5) < 0.4
keep[..., 0] = True
shares = [numpy.abs(weights[b, h, q])[keep[b, q]].sum() / numpy.abs(weights[b, h, q]).sum()
          for b in range(2) for h in range(3) for q in range(4)]
seeds = numpy.round(random.randn(7), 3)

print(json.dumps({
    "binary": {
        "scores": binary_scores.tolist(), "loss_scores": binary_loss_scores.tolist(), "targets": binary_targets.tolist(),
        "accuracy": float(((binary_scores >= 0.5) == binary_targets).mean()),
        "log_loss": torch.nn.functional.binary_cross_entropy(
            torch.tensor(binary_loss_scores), torch.tensor(binary_targets).double()).item(),
        "auc": auc_by_pairs(binary_scores, binary_targets)},
    "classes": {
        "scores": logits.softmax(1).tolist(), "targets": targets.tolist(),
        "accuracy": float((predicted == targets).mean()),
        "log_loss": torch.nn.functional.cross_entropy(logits, torch.tensor(targets)).item(),
        "macro_f1": float(numpy.mean([f1(predicted, targets, label) for label in range(classes)])),
        "confusion": confusion.tolist()},
    "regression": {
        "predicted": guesses.tolist(), "targets": numbers.tolist(),
        "mse": float(((guesses - numbers) ** 2).mean()),
        "mae": float(numpy.abs(guesses - numbers).mean()),
        "r2": float(1 - ((guesses - numbers) ** 2).sum() / ((numbers - numbers.mean()) ** 2).sum())},
    "attention_truth": {"weights": weights.tolist(), "keep": keep.astype(int).tolist(), "share": float(numpy.mean(shares))},
    "statistics": {
        "values": seeds.tolist(), "mean": float(seeds.mean()), "median": float(numpy.median(seeds)),
        "deviation": float(seeds.std(ddof=1)), "minimum": float(seeds.min()), "maximum": float(seeds.max()),
        "interval": student_t_quantile(0.975, len(seeds) - 1) * float(seeds.std(ddof=1)) / math.sqrt(len(seeds))},
    "student_t": [{"degrees": d, "probability": p, "quantile": student_t_quantile(p, d)}
                  for d, p in [(1, 0.9), (2, 0.975), (3, 0.975), (4, 0.975), (9, 0.975), (29, 0.995), (200, 0.95)]],
}, indent=None))
