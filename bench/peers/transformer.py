"""The Transformer of `fovea train translate --set model.name=transformer` in plain PyTorch: torch.nn's own encoder and decoder layers, pre-norm, ReLU,
sinusoidal positions, tied output matrix, label smoothing. Sizes come from the weights, heads and rates from the run's config.json. Modes:
  loss      one epoch of train.tsv in file order without dropout, prints the mean loss
  time      seconds per optimiser step with dropout, after three steps of warm-up
  beam      writes for every source of test.tsv with kept keys and values (beam.py)
  floor     flop of a step in matrix products, and bytes of its optimiser"""
import math

import torch
from torch.nn.functional import cross_entropy, embedding, linear

import beam
from common import Trainer, adam_bytes, parse_arguments, read_options, read_weights, report, run_epoch, seconds_per_step
from pairs import batches_of, begin, padding, read_pairs

arguments = parse_arguments()
weights, options = read_weights(arguments.weights), read_options(arguments.weights)
heads = options["model"]["heads"]
dropout = options["model"]["dropout"] if arguments.mode == "time" else 0.0


def sinusoids(length, width):
    angle = torch.outer(torch.arange(length).double(), torch.exp(torch.arange(0, width, 2).double() * (-math.log(10000.0) / width)))
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1).float()


class Transformer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(weights["source_embedding.weight"].clone())
        self.target_table = torch.nn.Parameter(weights.get("target_embedding.weight", weights["source_embedding.weight"]).clone())
        if "target_embedding.weight" not in weights:
            self.target_table = self.table
        self.bias = torch.nn.Parameter(weights["output_bias"].clone())
        self.width = self.table.shape[1]
        hidden = weights["encoder.layers.0.linear1.weight"].shape[0]
        common = {"dim_feedforward": hidden, "dropout": dropout, "batch_first": True, "norm_first": True}
        count = lambda side: 1 + max(int(name.split(".")[2]) for name in weights if name.startswith(side + ".layers."))
        self.encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(self.width, heads, **common), count("encoder"),
                                                   torch.nn.LayerNorm(self.width), enable_nested_tensor=False)
        self.decoder = torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(self.width, heads, **common), count("decoder"),
                                                   torch.nn.LayerNorm(self.width))
        for side in ("encoder", "decoder"):
            own = {name[len(side) + 1:]: value for name, value in weights.items() if name.startswith(side + ".")}
            getattr(self, side).load_state_dict(own)
        self.dropout = torch.nn.Dropout(dropout)
        self.register_buffer("positions", sinusoids(512, self.width))

    def embed(self, table, symbols, first=0):
        return self.dropout(embedding(symbols, table) * math.sqrt(self.width) + self.positions[first : first + symbols.shape[1]])

    def encode(self, source, mask):
        """mask: where the source is padding, or None."""
        return self.encoder(self.embed(self.table, source), src_key_padding_mask=mask)

    def forward(self, source, target, mask):
        shifted = torch.nn.functional.pad(target[:, :-1], (1, 0), value=begin)
        causal = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool, device=target.device).triu(1)
        states = self.decoder(self.embed(self.target_table, shifted), self.encode(source, mask), tgt_mask=causal, memory_key_padding_mask=mask)
        logits = linear(states, self.target_table, self.bias)
        return cross_entropy(logits.flatten(0, 1).float(), target.flatten(), ignore_index=padding, label_smoothing=options["model"]["label_smoothing"])


model = Transformer().to(arguments.device).train(arguments.mode == "time")
loss_function = torch.compile(model) if arguments.compile else model


def mask_of(source, lengths):
    return source == padding if int(lengths.min()) < source.shape[1] else None


def split_heads(x):
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def attend(query, keys, values, mask, projection):
    scores = query @ keys.transpose(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    return projection((scores.softmax(-1) @ values).transpose(1, 2).flatten(2))


class Writer:
    """One step of all hypotheses, [B, K], as one would write it by hand in PyTorch. Keys and values of what was written are kept for each
    hypothesis; those of the source once per sentence, looked at with K queries."""

    def __init__(self, source, lengths):
        mask, width = mask_of(source, lengths), model.width
        memory = model.encode(source, mask)
        self.mask = None if mask is None else mask[:, None, None, :]
        self.written, self.source = [], []
        for layer in model.decoder.layers:
            projected = linear(memory, layer.multihead_attn.in_proj_weight[width:], layer.multihead_attn.in_proj_bias[width:])
            self.source.append([split_heads(part).contiguous() for part in projected.chunk(2, -1)])  # [B, H, S, D]
            self.written.append([projected.new_empty(len(source) * beam.width, heads, 0, width // heads) for _ in range(2)])

    def step(self, symbols, position):
        width = model.width
        x = model.embed(model.target_table, symbols.view(-1, 1), position)  # [B K, 1, W]
        for layer, written, source in zip(model.decoder.layers, self.written, self.source):
            own, other = layer.self_attn, layer.multihead_attn
            query, *new = (split_heads(part) for part in linear(layer.norm1(x), own.in_proj_weight, own.in_proj_bias).chunk(3, -1))
            written[:] = [torch.cat(parts, 2) for parts in zip(written, new)]
            x = x + attend(query, *written, None, own.out_proj)
            query = linear(layer.norm2(x), other.in_proj_weight[:width], other.in_proj_bias[:width]).view(*symbols.shape, width)  # [B, K, W]
            x = x + attend(split_heads(query), *source, self.mask, other.out_proj).view_as(x)
            x = x + layer.linear2(torch.relu(layer.linear1(layer.norm3(x))))
        return linear(model.decoder.norm(x)[:, 0], model.target_table, model.bias)

    def reorder(self, rows):
        for written in self.written:
            written[:] = [part.index_select(0, rows) for part in written]

    def keep(self, sentences):
        for source in self.source:
            source[:] = [part.index_select(0, sentences) for part in source]
        self.mask = None if self.mask is None else self.mask.index_select(0, sentences)


def forward_flop(source, target, hypotheses=1):
    """Multiplications and additions of all matrix products: so many source and target symbols."""
    size = {name: tensor.numel() for name, tensor in weights.items() if tensor.dim() == 2}
    of = lambda start: sum(count for name, count in size.items() if name.startswith(start))
    cross = sum(count for name, count in size.items() if "multihead_attn.in_proj_weight" in name) * 2 / 3  # keys and values of the source
    layers = len(model.encoder.layers), len(model.decoder.layers)
    once = source * (of("encoder") + cross) + 2 * model.width * layers[0] * source**2
    each = target * (of("decoder") - cross + model.target_table.numel()) + 2 * model.width * layers[1] * (target**2 / 2 + source * target)
    return 2 * (once + hypotheses * each)


def main():
    if arguments.mode == "beam":
        return report(**beam.decode(arguments, options, Writer, lambda source, target: forward_flop(source, target, beam.width)))
    pairs = read_pairs(arguments, options, "train.tsv")
    if arguments.mode == "floor":
        row = forward_flop(pairs.source_lengths.double(), pairs.target_lengths.double()).mean().item()
        return report(flop=3 * row * options["training"]["batch_size"], bytes=adam_bytes(weights))  # backward is twice forward

    def loss_of(picked):
        batch = pairs.batch(picked)
        with torch.autocast(arguments.device, torch.bfloat16, enabled=arguments.precision == "bf16"):
            loss = loss_function(batch.sources, batch.targets, mask_of(batch.sources, batch.source_lengths))
        return loss, int(batch.target_lengths.sum())

    batches = batches_of(pairs, options["training"])
    trainer = Trainer(model.parameters(), options["training"])
    if arguments.mode == "loss":
        return report(loss=run_epoch(trainer, batches, loss_of))
    report(seconds=seconds_per_step(arguments, trainer, batches, loss_of))


main()
