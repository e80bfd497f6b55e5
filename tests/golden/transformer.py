"""Reference numbers for fovea/nn/transformer_layer and fovea/nn/layer_norm, in float64, from PyTorch (1.13).

Run:  python3 tests/golden/transformer.py        (writes transformer.json beside itself)

norm: torch.nn.LayerNorm. encoder, decoder: torch.nn.TransformerEncoderLayer and TransformerDecoderLayer, pre- and post-norm, ReLU and GELU, with padding
(and the causal mask in the decoder): outputs, and the gradients of every parameter and input. Parameters have PyTorch's names, which are ours too.
"""
import json
import pathlib

import torch
from torch import nn

from packing import pack

torch.manual_seed(20261116)
torch.set_default_dtype(torch.float64)

WIDTH, HEADS, HIDDEN = 6, 2, 5


def gradients_of(module, inputs, output):
    coefficients = torch.randn_like(output)
    named = dict(module.named_parameters())
    found = torch.autograd.grad((output * coefficients).sum(), [*inputs, *named.values()])
    return {
        "inputs": [pack(x) for x in inputs], "output": pack(output), "coefficients": pack(coefficients),
        "parameters": {name: pack(value) for name, value in named.items()},
        "input_gradients": [pack(g) for g in found[: len(inputs)]],
        "gradients": {name: pack(g) for name, g in zip(named, found[len(inputs):])},
    }


def shuffled(module):
    """PyTorch starts biases and norms at 0 and 1, which would hide mistakes."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4 + (0.5 if parameter.dim() == 1 else 0))
    return module


def norm_case():
    module = shuffled(nn.LayerNorm(WIDTH))
    x = torch.randn(2, 3, WIDTH, requires_grad=True)
    return gradients_of(module, [x], module(x))


def layer_options(norm, activation):
    return {"dim_feedforward": HIDDEN, "dropout": 0.0, "activation": activation, "batch_first": True, "norm_first": norm == "pre"}


def encoder_case(norm, activation):
    module = shuffled(nn.TransformerEncoderLayer(WIDTH, HEADS, **layer_options(norm, activation)))
    x = torch.randn(2, 4, WIDTH, requires_grad=True)
    padding = torch.arange(4)[None, :] >= torch.tensor([4, 2])[:, None]
    case = gradients_of(module, [x], module(x, src_key_padding_mask=padding))
    return {"norm": norm, "activation": activation, "lengths": [4, 2], **case}


def decoder_case(norm, activation):
    module = shuffled(nn.TransformerDecoderLayer(WIDTH, HEADS, **layer_options(norm, activation)))
    x = torch.randn(2, 3, WIDTH, requires_grad=True)
    source = torch.randn(2, 4, WIDTH, requires_grad=True)
    padding = torch.arange(4)[None, :] >= torch.tensor([3, 4])[:, None]
    causal = torch.ones(3, 3, dtype=torch.bool).triu(1)
    case = gradients_of(module, [x, source], module(x, source, tgt_mask=causal, memory_key_padding_mask=padding))
    return {"norm": norm, "activation": activation, "lengths": [3, 4], **case}


KINDS = [("post", "relu"), ("pre", "gelu")]
result = {"norm": norm_case(), "encoder": [encoder_case(*kind) for kind in KINDS], "decoder": [decoder_case(*kind) for kind in KINDS]}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(result, indent=None, separators=(",", ":")) + "\n")
