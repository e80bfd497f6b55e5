"""Reference numbers for fovea/models/t5, from PyTorch (1.13): T5 written out, in float64.

Run:  python3 tests/golden/t5.py        (writes t5.json beside itself)

First it reads hugging_face/t5.safetensors, what transformers computes with a tiny T5, and stops unless it finds the same logits and attention to the source.
tiny: its attention of the source and of the output to themselves, which the file has not. cases: small networks of version 1.0 (relu, tied, scaled) and 1.1
(gated gelu, an output of its own), heads whose width is not D / H, a source that is padded: weights under transformers' names, logits, maps, loss, gradients.
"""
import json
import math
import pathlib
import struct

import torch

from packing import pack

torch.manual_seed(20261118)
torch.set_default_dtype(torch.float64)
HERE = pathlib.Path(__file__).parent


def read_tensors(path):
    raw = path.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + length])
    config = json.loads(head.pop("__metadata__")["config"])
    kinds = {"F32": torch.float32, "I64": torch.int64}
    tensors = {}
    for name, entry in head.items():
        first, last = entry["data_offsets"]
        flat = torch.frombuffer(bytearray(raw[8 + length + first:8 + length + last]), dtype=kinds[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return config, tensors


def bucket_of(distance, both_ways, buckets, farthest):
    """Of one distance, key - query."""
    base = 0
    if both_ways:
        buckets //= 2
        base = buckets if distance > 0 else 0
        distance = abs(distance)
    else:
        distance = max(0, -distance)
    exact = buckets // 2
    if distance < exact:
        return base + distance
    # In float32, as transformers has it: at a border that decides.
    ratio = torch.tensor(distance, dtype=torch.float32) / exact
    wide = exact + int(torch.log(ratio) / math.log(farthest / exact) * (buckets - exact))
    return base + min(wide, buckets - 1)


class T5:
    def __init__(self, config, weights):
        self.c, self.w = config, weights

    def norm(self, x, name):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.c["layer_norm_epsilon"]) * self.w[name + ".layer_norm.weight"]

    def attend(self, x, memory, name, bias):
        heads, size = self.c["num_heads"], self.c["d_kv"]

        def split(y, part):
            return (y @ self.w[f"{name}.{part}.weight"].T).reshape(*y.shape[:2], heads, size).transpose(1, 2)

        scores = split(x, "q") @ split(memory, "k").transpose(2, 3) + bias
        weights = scores.softmax(-1)
        return (weights @ split(memory, "v")).transpose(1, 2).flatten(2) @ self.w[name + ".o.weight"].T, weights

    def positions(self, side, length):
        table = self.w[f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
        c = self.c
        rows = [[bucket_of(k - q, side == "encoder", c["relative_attention_num_buckets"], c["relative_attention_max_distance"]) for k in range(length)]
                for q in range(length)]
        return table[torch.tensor(rows)].permute(2, 0, 1)[None]

    def think(self, x, name):
        w = self.w
        if self.c["feed_forward_proj"] == "relu":
            hidden = (x @ w[name + ".wi.weight"].T).relu()
        else:  # gated-gelu, whose gelu is the one with tanh
            u = x @ w[name + ".wi_0.weight"].T
            hidden = 0.5 * u * (1 + torch.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u ** 3))) * (x @ w[name + ".wi_1.weight"].T)
        return hidden @ w[name + ".wo.weight"].T

    def stack(self, side, symbols, hidden_keys, memory=None, memory_bias=0):
        x = self.w["shared.weight"][symbols]
        bias = self.positions(side, symbols.shape[1]) + hidden_keys
        own, other = [], []
        for i in range(self.c["num_layers" if side == "encoder" else "num_decoder_layers"]):
            name = f"{side}.block.{i}.layer."
            added, weights = self.attend(self.norm(x, name + "0"), self.norm(x, name + "0"), name + "0.SelfAttention", bias)
            x = x + added
            own.append(weights)
            if memory is not None:
                added, weights = self.attend(self.norm(x, name + "1"), memory, name + "1.EncDecAttention", memory_bias)
                x = x + added
                other.append(weights)
            last = name + ("1" if memory is None else "2")
            x = x + self.think(self.norm(x, last), last + ".DenseReluDense")
        scale = self.w[side + ".final_layer_norm.weight"]
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.c["layer_norm_epsilon"]) * scale, own, other

    def __call__(self, source, keep, begun):
        """source, keep [B, S], begun [B, T]: what is written, begin first -> logits [B, T, V] and maps of each layer."""
        unseen = torch.zeros(keep.shape).masked_fill(~keep, -math.inf)[:, None, None]
        memory, encoder, _ = self.stack("encoder", source, unseen)
        length = begun.shape[1]
        later = torch.zeros(length, length).masked_fill(torch.ones(length, length).triu(1).bool(), -math.inf)
        x, decoder, cross = self.stack("decoder", begun, later, memory, unseen)
        tied = self.c["tie_word_embeddings"]
        logits = x * self.c["d_model"] ** -0.5 @ self.w["shared.weight"].T if tied else x @ self.w["lm_head.weight"].T
        return logits, {"encoder": encoder, "decoder": decoder, "attention": cross}


def tiny():
    config, tensors = read_tensors(HERE / "hugging_face" / "t5.safetensors")
    model = T5(config, {name: value.double() for name, value in tensors.items() if not name.startswith("expected.")})
    found = []
    for i in range(3):
        source = tensors[f"expected.{i}.ids"][None]
        logits, maps = model(source, torch.ones_like(source).bool(), tensors["expected.decoder_input_ids"][None])
        assert (logits[0] - tensors[f"expected.{i}.logits"]).abs().max() < 1e-4
        for layer, weights in enumerate(maps["attention"]):
            assert (weights[0] - tensors[f"expected.{i}.cross.{layer}"]).abs().max() < 1e-5
        found.append({name: [pack(weights[0]) for weights in maps[name]] for name in ("encoder", "decoder")} if i == 0 else {})
    return found[0]


def drawn_weights(c):
    inner = c["num_heads"] * c["d_kv"]
    weights = {"shared.weight": torch.randn(c["vocab_size"], c["d_model"])}
    for side in ("encoder", "decoder"):
        weights[f"{side}.final_layer_norm.weight"] = torch.rand(c["d_model"]) + 0.5
        for i in range(c["num_layers" if side == "encoder" else "num_decoder_layers"]):
            for part, name in enumerate(["SelfAttention", *(["EncDecAttention"] if side == "decoder" else []), "DenseReluDense"]):
                base = f"{side}.block.{i}.layer.{part}"
                weights[base + ".layer_norm.weight"] = torch.rand(c["d_model"]) + 0.5
                if name == "DenseReluDense":
                    for wi in ["wi"] if c["feed_forward_proj"] == "relu" else ["wi_0", "wi_1"]:
                        weights[f"{base}.{name}.{wi}.weight"] = torch.randn(c["d_ff"], c["d_model"]) * 0.5
                    weights[f"{base}.{name}.wo.weight"] = torch.randn(c["d_model"], c["d_ff"]) * 0.5
                    continue
                for matrix in "qkv":
                    weights[f"{base}.{name}.{matrix}.weight"] = torch.randn(inner, c["d_model"]) * 0.5
                weights[f"{base}.{name}.o.weight"] = torch.randn(c["d_model"], inner) * 0.5
        table = torch.randn(c["relative_attention_num_buckets"], c["num_heads"])
        weights[f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"] = table
    if not c["tie_word_embeddings"]:
        weights["lm_head.weight"] = torch.randn(c["vocab_size"], c["d_model"])
    return weights


def case(feed_forward, tied):
    config = {"vocab_size": 11, "d_model": 6, "d_kv": 4, "d_ff": 7, "num_layers": 2, "num_decoder_layers": 1, "num_heads": 2,
              "relative_attention_num_buckets": 8, "relative_attention_max_distance": 6, "feed_forward_proj": feed_forward,
              "layer_norm_epsilon": 1e-6, "tie_word_embeddings": tied}
    weights = {name: value.requires_grad_() for name, value in drawn_weights(config).items()}
    lengths, width = [12, 5], 12
    keep = torch.arange(width)[None] < torch.tensor(lengths)[:, None]
    source = torch.randint(2, 11, (2, width)) * keep
    target = torch.randint(2, 11, (2, 10))
    target[0, 9] = target[1, 6] = 1  # the end
    target[1, 7:] = 0
    begun = torch.cat([torch.zeros(2, 1, dtype=torch.long), target[:, :-1]], 1)
    logits, maps = T5(config, weights)(source, keep, begun)
    log_p = logits.log_softmax(-1).gather(2, target[..., None])[..., 0]
    real = target != 0
    loss = -(log_p * real).sum() / real.sum()
    gradients = torch.autograd.grad(loss, list(weights.values()))
    return {"config": config, "source": source.tolist(), "lengths": lengths, "target": target.tolist(), "loss": loss.item(),
            "log_probabilities": pack(log_p * real), "weights": {name: pack(value) for name, value in weights.items()},
            "gradients": {name: pack(value) for name, value in zip(weights, gradients)},
            "maps": {name: [pack(one) for one in layers] for name, layers in maps.items()}}


def buckets():
    return {"from": -40, "encoder": [bucket_of(d, True, 32, 128) for d in range(-40, 41)],
            "decoder": [bucket_of(d, False, 32, 128) for d in range(-40, 41)]}


numbers = {"tiny": tiny(), "cases": [case("relu", True), case("gated-gelu", False)], "buckets": buckets()}
(HERE / "t5.json").write_text(json.dumps(numbers, separators=(",", ":")) + "\n")
