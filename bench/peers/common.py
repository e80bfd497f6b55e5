"""What both peers share: reading our files without any library of ours, and timing."""
import json
import struct
import time

import numpy
import torch


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


def read_csv(path):
    return torch.from_numpy(numpy.loadtxt(path, delimiter=",", skiprows=1, dtype=numpy.float32))


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result
