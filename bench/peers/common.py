"""What the peers share: their arguments, reading our files without any library of ours, training and timing."""
import argparse
import json
import os
import struct
import time

import numpy
import torch


def parse_arguments():
    """MODE DATA WEIGHTS of a peer that trains; see each peer's modes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("mode")
    parser.add_argument("data", help="the folder that ours reads too")
    parser.add_argument("weights", help="model.safetensors of a run of ours")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=0, help="the most optimiser steps that are timed; 0: an epoch")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="float32", help="bf16: autocast")
    parser.add_argument("--compile", action="store_true", help="torch.compile, of the peers that can")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.mode != "time":  # what is compared is float32
        arguments.precision, arguments.compile = "float32", False
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = arguments.mode == "time"
    return arguments


def read_weights(path):
    """A safetensors file as {name: float32 tensor}."""
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        values = numpy.frombuffer(content[8 + length + begin : 8 + length + end], dtype=numpy.float32)
        tensors[name] = torch.from_numpy(values.copy().reshape(entry["shape"]))
    return tensors


def read_options(weights):
    """The config.json beside the weights."""
    with open(os.path.join(os.path.dirname(weights), "config.json")) as file:
        return json.load(file)


def read_csv(path):
    return torch.from_numpy(numpy.loadtxt(path, delimiter=",", skiprows=1, dtype=numpy.float32))


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def report(**numbers):
    print(json.dumps(numbers))


class Trainer:
    """Adam, a linear warm-up that every run here stays within, and clipping, as the run's config.json says."""

    def __init__(self, parameters, training):
        self.parameters, self.clip_norm = list(parameters), training["clip_norm"]
        fused = {"fused": True} if self.parameters[0].is_cuda else {}
        self.optimiser = torch.optim.Adam(self.parameters, lr=training["learning_rate"], betas=(training["beta1"], training["beta2"]),
                                          eps=training["epsilon"], **fused)
        warmup = max(1, training["warmup_steps"])
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimiser, lambda step: min(1, (step + 1) / warmup))

    def step(self, loss):
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        if self.clip_norm > 0:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.clip_norm)
        self.optimiser.step()
        self.schedule.step()


def run_epoch(trainer, batches, loss_of):
    """loss_of(batch) -> (mean loss, over how many). The mean over all of them."""
    total, units = 0.0, 0
    for batch in batches:
        loss, count = loss_of(batch)
        trainer.step(loss)
        total, units = total + loss.detach().double() * count, units + count  # nothing is waited for
    return float(total) / float(units)


def seconds_per_step(arguments, trainer, batches, loss_of, warmup=3):
    """Of the first `steps` batches, after some of warm-up."""
    batches = batches[: arguments.steps or len(batches)]
    run_epoch(trainer, batches[:warmup], loss_of)
    seconds, _ = timed(lambda: run_epoch(trainer, batches, loss_of))  # reading the loss waits for a GPU
    return seconds / len(batches)


def adam_bytes(weights):
    """What an Adam step reads and writes: weights and both moments."""
    return 6 * 4 * sum(tensor.numel() for tensor in weights.values())
