"""GPT-2 of `fovea train language` in plain PyTorch, trained as nanoGPT does: windows that begin anywhere, AdamW whose decay spares vectors, warm-up and
cosine. Sizes, rates and steps come from the run's weights and config.json, tokens from its tokeniser of characters. DATA holds text.txt. Modes:
  evaluate  mean loss of the held-out end of the text, with the run's weights
  train     the whole training from the run's weights; prints the loss of the held-out end and the seconds
  time      seconds per optimiser step, after three steps of warm-up
  floor     flop of a step in matrix products, and bytes of its optimiser"""
import json
import math
import os
import time

import torch
from torch.nn.functional import cross_entropy, dropout, embedding, gelu, layer_norm, linear

from common import adam_bytes, parse_arguments, read_options, read_weights, report

arguments = parse_arguments()
options = read_options(arguments.weights)
model, data, training = options["model"], options["data"], options["training"]
weights = {name: value.to(arguments.device).requires_grad_() for name, value in read_weights(arguments.weights).items()}
heads, window = model["heads"], data["window"]
rows = training["batch_size"]


def read_tokens():
    """The text as numbers, for training and held out."""
    with open(os.path.join(os.path.dirname(arguments.weights), "assets", "tokenizer.json")) as file:
        vocabulary = json.load(file)["model"]["vocab"]
    with open(os.path.join(arguments.data, "text.txt"), newline="") as file:
        tokens = torch.tensor([vocabulary[character] for character in file.read()])
    cut = len(tokens) - int(len(tokens) * data["validation_fraction"])
    return tokens[:cut], tokens[cut:]


def attend(x, name, drop):
    shape = (x.shape[0], x.shape[1], heads, -1)
    query, key, value = (part.view(shape).transpose(1, 2) for part in linear(x, weights[name + "in_proj_weight"], weights.get(name + "in_proj_bias")).chunk(3, -1))
    if hasattr(torch.nn.functional, "scaled_dot_product_attention"):
        states = torch.nn.functional.scaled_dot_product_attention(query, key, value, dropout_p=drop, is_causal=True)
    else:
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        scores = (query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])).masked_fill(later, float("-inf"))
        states = dropout(scores.softmax(-1), drop, drop > 0) @ value
    return linear(states.transpose(1, 2).flatten(2), weights[name + "out_proj.weight"], weights.get(name + "out_proj.bias"))


def norm(x, name):
    return layer_norm(x, x.shape[-1:], weights[name + ".weight"], weights.get(name + ".bias"), 1e-5)


def loss_of(tokens, learns):
    """tokens [B, W + 1] -> the mean of -log p of all but the first."""
    drop = model["dropout"] if learns else 0.0
    inputs = tokens[:, :-1]
    x = dropout(embedding(inputs, weights["tokens.weight"]) + weights["positions.weight"][: inputs.shape[1]], drop, learns)
    for layer in range(model["layers"]):
        name = f"decoder.layers.{layer}."
        x = x + dropout(attend(norm(x, name + "norm1"), name + "self_attn.", model["attention_dropout"] if learns else 0.0), drop, learns)
        inner = gelu(linear(norm(x, name + "norm2"), weights[name + "linear1.weight"], weights.get(name + "linear1.bias")), approximate="tanh")
        x = x + dropout(linear(inner, weights[name + "linear2.weight"], weights.get(name + "linear2.bias")), drop, learns)
    logits = linear(norm(x, "decoder.norm"), weights["tokens.weight"])
    return cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())


@torch.no_grad()
def evaluate(tokens):
    """Windows side by side, as ours are; the last is shorter."""
    whole = (len(tokens) - 1) // window
    total, count = 0.0, whole * window
    for begins in torch.arange(whole).split(64):
        total += loss_of(torch.stack([tokens[i * window : (i + 1) * window + 1] for i in begins.tolist()]).to(arguments.device), False).item() * len(begins) * window
    if count < len(tokens) - 1:
        rest = tokens[count:]
        total, count = total + loss_of(rest[None].to(arguments.device), False).item() * (len(rest) - 1), len(tokens) - 1
    return total / count


class Trainer:
    def __init__(self, tokens):
        self.tokens = tokens
        decayed, others = ([value for value in weights.values() if (value.dim() > 1) == wide] for wide in (True, False))
        fused = {"fused": True} if arguments.device != "cpu" else {}
        self.optimiser = torch.optim.AdamW([{"params": decayed, "weight_decay": training["weight_decay"]}, {"params": others, "weight_decay": 0.0}],
                                           lr=training["learning_rate"], betas=(training["beta1"], training["beta2"]), **fused)
        self.done = 0

    def rate(self):
        warmup, most, least = training["warmup_steps"], training["learning_rate"], training["minimum_rate"]
        if self.done < warmup:
            return most * (self.done + 1) / (warmup + 1)
        share = (self.done - warmup) / max(1, training["steps"] - warmup)
        return least + 0.5 * (1 + math.cos(math.pi * share)) * (most - least)

    def step(self):
        begins = torch.randint(len(self.tokens) - window, (rows,))
        batch = torch.stack([self.tokens[begin : begin + window + 1] for begin in begins.tolist()]).to(arguments.device)
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        self.optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cuda" if arguments.device != "cpu" else "cpu", torch.bfloat16, enabled=arguments.precision == "bf16"):
            loss = loss_of(batch, True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), training["clip_norm"])
        self.optimiser.step()
        self.done += 1
        return loss


def steps_take(trainer, steps):
    begin = time.perf_counter()
    for _ in range(steps):
        loss = trainer.step()
    loss.item()  # waits for the device
    return time.perf_counter() - begin


def main():
    torch.manual_seed(options["seed"])
    if arguments.mode == "floor":
        products = sum(value.numel() for name, value in weights.items() if value.dim() > 1 and name != "positions.weight")
        attention = 2 * model["layers"] * model["hidden"] * window / 2
        return report(flop=6 * rows * window * (products + attention), bytes=adam_bytes(weights))
    learned, held_out = read_tokens()
    if arguments.mode == "evaluate":
        return report(loss=evaluate(held_out))
    trainer = Trainer(learned)
    if arguments.mode == "train":
        seconds = steps_take(trainer, training["steps"])
        return report(loss=evaluate(held_out), seconds=seconds)
    steps_take(trainer, 3)
    steps = arguments.steps or 100
    report(seconds=steps_take(trainer, steps) / steps)


main()
