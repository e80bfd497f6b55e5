"""Reference numbers for the models that predict ratings from reviews (dual_attention, multi_pointer), in float64, from PyTorch (1.13).

Run:  python3 tests/golden/ratings.py        (writes ratings.json beside itself)

One row at a time and nothing padded: the ratings, the mean squared error and its gradient for every parameter. The last row has a user without reviews.
Pointers take the largest score; hard ones have the gradient of the softmax. Parameters have the names of ours.
"""
import json
import pathlib

import torch
from torch.nn import functional as F

from packing import pack

torch.manual_seed(20261120)
torch.set_default_dtype(torch.float64)

WORDS, WIDTH, POINTERS, FACTORS, USERS, ITEMS, LONGEST = 8, 3, 2, 2, 2, 2, 4
DOCUMENT = 8  # words of the filter that is as long as a document
ROWS = [  # user, item, reviews of the user, reviews of the item
    (1, 2, [[2, 3, 4], [5, 1]], [[3, 6], [7, 2, 2, 4], [5]]),
    (2, 1, [[4]], [[2, 3], [6, 1, 7]]),
    (0, 1, [], [[2]]),
]
TARGET = torch.tensor([4.0, 2.0, 5.0])


def random_parameters(shapes):
    return {name: (torch.randn(shape) * 0.6 + 0.1).requires_grad_() for name, shape in shapes.items()}


def base_rating(p, user, item):
    rating = p["mean"][0]
    if "user_bias" in p:
        rating = rating + (p["user_bias"][user] if user > 0 else 0) + (p["item_bias"][item] if item > 0 else 0)
    return rating


def rate(p, row, term):
    user, item, of_user, of_item = row
    if not of_user or not of_item:
        return base_rating(p, user, item)
    own = term(p, of_user, of_item)
    return base_rating(p, user, item) + own if "user_bias" in p else own


def global_scores(p, side, x, kind):
    """A score for each word of a document x [K, E]."""
    if kind == "matched":
        wanted = p[side + ".match_weight"] @ x.mean(0)
        return torch.sigmoid(x @ wanted + p[side + ".match_bias"][0])
    weight, bias = p[side + ".document_weight"][0], p[side + ".document_bias"][0]  # [E, T]
    scores = []
    for i in range(len(x)):
        first = i - DOCUMENT // 2 if kind == "filter" else 0  # the word that the filter's first column meets
        scores.append(bias + sum(weight[:, j - first] @ x[j] for j in range(len(x)) if 0 <= j - first < DOCUMENT))
    return torch.sigmoid(torch.stack(scores))


def document(p, side, reviews, kind):
    x = p["words.weight"][[word for review in reviews for word in review]]  # [K, E]
    size, width = x.shape[0], p[side + ".window_weight"].shape[2]
    around = F.pad(x, (0, 0, width // 2, width // 2))
    local = torch.stack([
        torch.sigmoid((around[i : i + width].T * p[side + ".window_weight"][0]).sum() + p[side + ".window_bias"][0]) for i in range(size)
    ])
    whole = global_scores(p, side, x, kind)

    def strongest(gated, name):
        weight, bias = p[f"{side}.{name}_weight"], p[f"{side}.{name}_bias"]
        padded = F.pad(gated, (0, 0, 0, weight.shape[2] - 1))
        found = [(weight * padded[i : i + weight.shape[2]].T[None]).sum((1, 2)) + bias for i in range(size)]
        return torch.tanh(torch.stack(found)).max(0).values

    parts = [strongest(x * local[:, None], "local")]
    parts += [strongest(x * whole[:, None], f"global{width}") for width in (2, 3)]
    hidden = torch.relu(F.linear(torch.cat(parts), p["hidden.weight"], p["hidden.bias"]))
    return F.linear(hidden, p["output.weight"], p["output.bias"])


def dual_term(kind):
    return lambda p, of_user, of_item: document(p, "user", of_user, kind) @ document(p, "item", of_item, kind)


def affinity(p, name, pointer, left, right):
    layer = lambda x: torch.relu(x @ p[name + "_weight"][pointer] + p[name + "_bias"][pointer])
    return layer(left) @ p[name + "_match"][pointer] @ layer(right).T


def pointer_term(hard, combination, temperature):
    def pick(scores):
        soft = torch.softmax(scores / temperature, 0)
        if not hard:
            return soft
        chosen = F.one_hot(soft.argmax(), len(scores)).to(soft)
        return chosen + soft - soft.detach()

    def words_of(p, reviews):
        grid = torch.zeros(len(reviews), LONGEST, WIDTH)
        rows = [torch.cat([p["words.weight"][review], grid[0, len(review) :]]) for review in reviews]
        return torch.stack(rows), torch.tensor([[w < len(review) for w in range(LONGEST)] for review in reviews])

    def term(p, of_user, of_item):
        grids, keeps, gated = [], [], []
        for reviews in (of_user, of_item):
            grid, keep = words_of(p, reviews)
            sums = grid.sum(1)
            grids.append(grid)
            keeps.append(keep)
            gated.append(torch.sigmoid(F.linear(sums, p["gate.weight"], p["gate.bias"])) * torch.tanh(F.linear(sums, p["content.weight"], p["content.bias"])))
        read = [[], []]
        for pointer in range(POINTERS):
            scores = affinity(p, "review", pointer, gated[0], gated[1])
            picks = [pick(scores.max(1).values), pick(scores.max(0).values)]
            picked = [torch.einsum("r,rwe->we", y, grid) for y, grid in zip(picks, grids)]
            real = [(y.detach() @ keep.to(y)) > 0 for y, keep in zip(picks, keeps)]
            words = affinity(p, "word", pointer, picked[0], picked[1])
            for side, matrix in enumerate((words, words.T)):
                means = matrix[:, real[1 - side]].mean(1)[real[side]]
                read[side].append(torch.softmax(means, 0) @ picked[side][real[side]])
        x = []
        for side in range(2):
            z = torch.stack(read[side])
            if combination == "sum":
                x.append(z.sum(0))
            elif combination == "ffn":
                x.append(torch.relu(F.linear(z.reshape(-1), p["combine.weight"], p["combine.bias"])))
            else:
                x.append(z.reshape(-1))
            x.append(gated[side].sum(0))
        x = torch.cat(x)
        pairs = sum(p["factors"][i] @ p["factors"][j] * x[i] * x[j] for i in range(len(x)) for j in range(i))
        return (F.linear(x, p["linear.weight"], p["linear.bias"])[0]) + pairs

    return term


def biases():
    return {"user_bias": (USERS + 1,), "item_bias": (ITEMS + 1,)}


def dual_shapes(kind, with_biases):
    shapes = {"mean": (1,), **(biases() if with_biases else {}), "words.weight": (WORDS, WIDTH)}
    for side in ("user", "item"):
        whole = {".match_weight": (WIDTH, WIDTH), ".match_bias": (1,)} if kind == "matched" else {".document_weight": (1, WIDTH, DOCUMENT), ".document_bias": (1,)}
        shapes.update({
            side + ".window_weight": (1, WIDTH, 3), side + ".window_bias": (1,), **{side + name: shape for name, shape in whole.items()},
            side + ".local_weight": (4, WIDTH, 1), side + ".local_bias": (4,), side + ".global2_weight": (2, WIDTH, 2), side + ".global2_bias": (2,),
            side + ".global3_weight": (2, WIDTH, 3), side + ".global3_bias": (2,),
        })
    shapes.update({"hidden.weight": (5, 8), "hidden.bias": (5,), "output.weight": (3, 5), "output.bias": (3,)})
    return shapes


def pointer_shapes(combination, with_biases):
    shapes = {"mean": (1,), **(biases() if with_biases else {}), "words.weight": (WORDS, WIDTH)}
    shapes.update({f"{name}.{kind}": (WIDTH, WIDTH) if kind == "weight" else (WIDTH,) for name in ("gate", "content") for kind in ("weight", "bias")})
    for name in ("review", "word"):
        shapes.update({name + "_weight": (POINTERS, WIDTH, WIDTH), name + "_bias": (POINTERS, 1, WIDTH), name + "_match": (POINTERS, WIDTH, WIDTH)})
    if combination == "ffn":
        shapes.update({"combine.weight": (WIDTH, POINTERS * WIDTH), "combine.bias": (WIDTH,)})
    features = 2 * ((POINTERS * WIDTH if combination == "concat" else WIDTH) + WIDTH)
    shapes.update({"linear.weight": (1, features), "linear.bias": (1,), "factors": (features, FACTORS)})
    return shapes


def case_of(shapes, term, **options):
    p = random_parameters(shapes)
    ratings = torch.stack([rate(p, row, term) for row in ROWS])
    loss = (ratings - TARGET).square().mean()
    found = torch.autograd.grad(loss, list(p.values()), allow_unused=True)
    return {
        **options, "parameters": {name: pack(value) for name, value in p.items()}, "ratings": pack(ratings), "loss": float(loss.detach()),
        "gradients": {name: pack(g if g is not None else torch.zeros_like(p[name])) for name, g in zip(p, found)},
    }


def padded(lists, size):
    return [own + [0] * (size - len(own)) for own in lists]


def main():
    sides = {}
    for side, at in (("user", 2), ("item", 3)):
        words = [[word for review in row[at] for word in review] for row in ROWS]
        lengths = [[len(review) for review in row[at]] for row in ROWS]
        sides[side + "_words"] = padded(words, max(map(len, words)))
        sides[side + "_lengths"] = padded(lengths, max(map(len, lengths)))
    golden = {
        "user": [row[0] for row in ROWS], "item": [row[1] for row in ROWS], **sides, "target": TARGET.tolist(),
        "dual_attention": case_of(dual_shapes("matched", True), dual_term("matched")),
        "multi_pointer": [
            case_of(pointer_shapes(combination, with_biases), pointer_term(hard, combination, 0.7), hard=hard, combination=combination, biases=with_biases)
            for hard, combination, with_biases in ((True, "ffn", True), (False, "concat", True), (True, "sum", False))
        ],
        "dual_attention_of_the_paper": [
            case_of(dual_shapes(kind, False), dual_term(kind), global_attention=kind) for kind in ("filter", "scale")
        ],
    }
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
