"""A Llama of random weights as a Hugging Face folder, and how fast plain PyTorch writes with it.

  llama.py write FOLDER              1.1 billion parameters in bfloat16, the sizes of TinyLlama; a tokeniser of bytes
  llama.py generate FOLDER           greedy, with cached keys and values; prints tokens a second and the tokens

Beside it: fovea generate FOLDER "Once upon a time" --tokens 32 --temperature 0, and /usr/bin/time -v for its memory.
"""
import argparse
import json
import os
import resource
import struct
import time

import torch

SIZES = {
    "1b": dict(hidden_size=2048, num_hidden_layers=22, num_attention_heads=32, num_key_value_heads=4,
               intermediate_size=5632, vocab_size=32000, max_position_embeddings=2048),
    "tiny": dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                 intermediate_size=128, vocab_size=512, max_position_embeddings=128),
}


def shapes_of(sizes):
    width, inner = sizes["hidden_size"], sizes["intermediate_size"]
    keys = width // sizes["num_attention_heads"] * sizes["num_key_value_heads"]
    shapes = {"model.embed_tokens.weight": (sizes["vocab_size"], width), "lm_head.weight": (sizes["vocab_size"], width)}
    for i in range(sizes["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        for name, out in (("q", width), ("k", keys), ("v", keys), ("o", width)):
            shapes[f"{layer}self_attn.{name}_proj.weight"] = (out, width)
        shapes[layer + "mlp.gate_proj.weight"] = shapes[layer + "mlp.up_proj.weight"] = (inner, width)
        shapes[layer + "mlp.down_proj.weight"] = (width, inner)
        shapes[layer + "input_layernorm.weight"] = shapes[layer + "post_attention_layernorm.weight"] = (width,)
    shapes["model.norm.weight"] = (width,)
    return dict(sorted(shapes.items()))


def byte_letters():
    """The letter that a byte-level tokeniser writes for each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(others)) for byte in range(256)]


def write_folder(folder, sizes, kind):
    os.makedirs(folder, exist_ok=True)
    shapes, offset, header = shapes_of(sizes), 0, {"__metadata__": {"format": "pt"}}
    for name, shape in shapes.items():
        size = 2 * torch.Size(shape).numel()
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    generator = torch.Generator().manual_seed(1)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in shapes.items():
            tensor = torch.ones(shape) if "norm" in name else torch.randn(shape, generator=generator) * 0.02
            tensor = tensor.to(torch.bfloat16 if kind == "BF16" else torch.float16)
            file.write(tensor.view(torch.int16).numpy().tobytes())
    config = dict(sizes, architectures=["LlamaForCausalLM"], model_type="llama", hidden_act="silu", rms_norm_eps=1e-5,
                  rope_theta=10000.0, tie_word_embeddings=False, torch_dtype="bfloat16" if kind == "BF16" else "float16")
    tokeniser = {
        "version": "1.0", "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
        "post_processor": None, "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "vocab": {letter: byte for byte, letter in enumerate(byte_letters())}, "merges": []},
    }
    for name, content in (("config.json", config), ("tokenizer.json", tokeniser)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(content, file)


def read_folder(folder, precision, device):
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    path = os.path.join(folder, "model.safetensors")
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    size = (os.path.getsize(path) - 8 - length) // 2
    whole = torch.from_file(path, shared=False, size=size + (8 + length) // 2, dtype=torch.bfloat16)[(8 + length) // 2 :]
    weights = {}
    for name, entry in header.items():
        if name != "__metadata__":
            first, last = (place // 2 for place in entry["data_offsets"])
            tensor = whole[first:last].view(entry["shape"])
            weights[name] = (tensor if precision == "bf16" else tensor.float()).to(device)
    return config, weights


class Llama:
    """What LlamaForCausalLM computes, with cached keys and values."""

    def __init__(self, config, weights):
        self.config, self.weights = config, weights
        self.heads, self.key_heads = config["num_attention_heads"], config["num_key_value_heads"]
        self.size = config["hidden_size"] // self.heads
        self.device = weights["lm_head.weight"].device
        self.rates = config["rope_theta"] ** (-torch.arange(0, self.size, 2, device=self.device) / self.size)
        self.past = [None] * config["num_hidden_layers"]

    def norm(self, x, name):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.config["rms_norm_eps"])
        return wide.to(x.dtype) * self.weights[name + ".weight"]

    def linear(self, x, name):
        return torch.nn.functional.linear(x, self.weights[name + ".weight"])

    def turned(self, x, first):
        angle = torch.outer(torch.arange(first, first + x.shape[1], device=self.device), self.rates)
        angle = torch.cat([angle, angle], -1)
        half = self.size // 2
        other = torch.cat([-x[..., half:], x[..., :half]], -1)
        return x * angle.cos().to(x.dtype) + other * angle.sin().to(x.dtype)

    def step(self, tokens, first):
        x = self.weights["model.embed_tokens.weight"][tokens]  # [N, D]
        for i in range(len(self.past)):
            layer = f"model.layers.{i}."
            inner = self.norm(x, layer + "input_layernorm")
            q, k, v = (self.linear(inner, f"{layer}self_attn.{name}_proj").view(len(tokens), -1, self.size).transpose(0, 1)
                       for name in "qkv")
            q, k = self.turned(q, first), self.turned(k, first)
            if self.past[i] is not None:
                k, v = torch.cat([self.past[i][0], k], 1), torch.cat([self.past[i][1], v], 1)
            self.past[i] = k, v
            groups = self.heads // self.key_heads
            k, v = k.repeat_interleave(groups, 0), v.repeat_interleave(groups, 0)
            scores = (q @ k.transpose(1, 2)).float() / self.size**0.5  # [H, N, K]
            places = torch.arange(first, first + len(tokens), device=self.device)
            scores = scores.masked_fill(torch.arange(k.shape[1], device=self.device) > places[:, None], float("-inf"))
            looked = (scores.softmax(-1).to(v.dtype) @ v).transpose(0, 1).flatten(1)
            x = x + self.linear(looked, layer + "self_attn.o_proj")
            inner = self.norm(x, layer + "post_attention_layernorm")
            gate = torch.nn.functional.silu(self.linear(inner, layer + "mlp.gate_proj"))
            x = x + self.linear(gate * self.linear(inner, layer + "mlp.up_proj"), layer + "mlp.down_proj")
        return self.linear(self.norm(x[-1:], "model.norm"), "lm_head")[0].float()


def generate(folder, precision, prompt, count, device):
    config, weights = read_folder(folder, precision, device)
    with torch.no_grad():
        model = Llama(config, weights)
        tokens = list(prompt.encode())
        written, first = [], 0
        next_tokens = tokens
        begin = time.perf_counter()
        for _ in range(count):
            logits = model.step(torch.tensor(next_tokens, device=device), first)
            first += len(next_tokens)
            logits[256:] = float("-inf")  # rows that are no token
            next_tokens = [int(logits.argmax())]
            written += next_tokens
        seconds = time.perf_counter() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"device": device, "precision": precision, "tokens_per_second": round(count / seconds, 3), "seconds": round(seconds, 2),
                      "memory_over_file": round(memory / os.path.getsize(os.path.join(folder, "model.safetensors")), 3),
                      "tokens": written}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["write", "generate"])
    parser.add_argument("folder")
    parser.add_argument("--size", default="1b", choices=list(SIZES))
    parser.add_argument("--type", default="BF16", choices=["BF16", "F16"], help="of the weights that are written")
    parser.add_argument("--precision", default="bf16", choices=["bf16", "float32"])
    parser.add_argument("--prompt", default="Once upon a time")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.mode == "write":
        write_folder(arguments.folder, SIZES[arguments.size], arguments.type)
    else:
        generate(arguments.folder, arguments.precision, arguments.prompt, arguments.tokens, arguments.device)


if __name__ == "__main__":
    main()
