"""Sequence to sequence with attention in plain PyTorch: the networks that `fovea train dates` and `fovea train translate` train. A bidirectional
GRU or LSTM reads; a bridge makes the decoder's first state; the decoder looks back with the general score after its recurrence (Luong et al. 2015:
all steps at once) or with the additive score inside of it (Bahdanau et al. 2015: a loop over steps with torch's own cells; readout and output are
done for all steps together). Sizes come from the weights, the rest from the run's config.json; no dropout. Modes:
  evaluate  loss of val.tsv with the given weights, nats per symbol, the end symbol counted
  loss      one epoch of train.tsv in file order (sorted by length within pools, as ours), prints the mean loss
  time      seconds per optimiser step over one shuffled epoch, after three steps of warm-up
  beam      writes for every source of test.tsv (beam.py)
  floor     flop of a mean step in matrix products, and bytes of its optimiser"""
import torch
from torch.nn.functional import cross_entropy, linear
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import beam
from common import Trainer, adam_bytes, parse_arguments, read_options, read_weights, report, run_epoch, seconds_per_step
from pairs import batches_of, begin, padding, read_pairs

arguments = parse_arguments()
weights, options = read_weights(arguments.weights), read_options(arguments.weights)
settings = options["model"]
layers = {"gru": torch.nn.GRU, "lstm": torch.nn.LSTM}
looks_first = settings["decoder"] == "bahdanau"


# A score prepares the memory [B, S, D] once; forward is query [B, Q, H], keys [B, S, ...] -> [B, Q, S].


class General(torch.nn.Module):
    def __init__(self, hidden, memory):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(hidden, memory))

    def prepare(self, memory):
        return memory

    def forward(self, query, keys):
        # s (W h) = (s W) h: targets are shorter than sources, so W goes to their side.
        return torch.bmm(query @ self.weight, keys.transpose(1, 2))


class Additive(torch.nn.Module):
    def __init__(self, hidden, memory):
        super().__init__()
        self.query = torch.nn.Linear(hidden, settings["score_hidden"], bias=False)
        self.key = torch.nn.Linear(memory, settings["score_hidden"], bias=False)
        self.energy = torch.nn.Linear(settings["score_hidden"], 1, bias=False)

    def prepare(self, memory):
        return self.key(memory)

    def forward(self, query, keys):
        return self.energy((self.query(query).unsqueeze(2) + keys.unsqueeze(1)).tanh()).squeeze(3)


class Decoder(torch.nn.Module):
    def __init__(self, embedding, hidden, memory):
        super().__init__()
        self.recurrent = layers[settings["cell"]](embedding + (memory if looks_first else 0), hidden, batch_first=True)
        self.score = {"general": General, "additive": Additive}[settings["score"]](hidden, memory)
        if "decoder.combine.weight" in weights:
            outputs, inputs = weights["decoder.combine.weight"].shape
            self.combine = torch.nn.Linear(inputs, outputs, bias="decoder.combine.bias" in weights)

    def look(self, query, keys, memory, mask):
        """query [B, Q, H] -> context [B, Q, D]"""
        scores = self.score(query, keys)
        if mask is not None:
            scores = scores.masked_fill(mask.unsqueeze(1), float("-inf"))
        return torch.bmm(scores.softmax(-1), memory)

    def step(self, x, state):
        """x [B, E'] -> the next state, (s,) or (s, c)."""
        parameters = (self.recurrent.weight_ih_l0, self.recurrent.weight_hh_l0, self.recurrent.bias_ih_l0, self.recurrent.bias_hh_l0)
        if len(state) == 2:
            return torch.lstm_cell(x, state, *parameters)
        return (torch.gru_cell(x, state[0], *parameters),)

    def read_out(self, states, x, context):
        if settings["readout"] == "linear":
            return torch.cat([states, x, context], -1)
        if settings["readout"] == "maxout":
            return self.combine(torch.cat([states, x, context], -1)).unflatten(-1, (-1, 2)).amax(-1)
        return self.combine(torch.cat([context, states], -1)).tanh()

    def forward(self, x, state, memory, mask):
        keys = self.score.prepare(memory)
        if not looks_first:
            whole = tuple(part.unsqueeze(0) for part in state)
            states, _ = self.recurrent(x, whole if len(whole) == 2 else whole[0])  # [B, T, H]
            return self.read_out(states, x, self.look(states, keys, memory, mask))
        states, contexts = [state[0]], []
        for now in x.unbind(1):
            context = self.look(state[0].unsqueeze(1), keys, memory, mask).squeeze(1)
            state = self.step(torch.cat([now, context], 1), state)
            states.append(state[0])
            contexts.append(context)
        used = states[:-1] if settings["readout_from"] == "previous" else states[1:]
        return self.read_out(torch.stack(used, 1), x, torch.stack(contexts, 1))


class Seq2Seq(torch.nn.Module):
    def __init__(self):
        super().__init__()
        symbols, embedding = weights["source_embedding.weight"].shape
        hidden, bridged = weights["bridge_l0.weight"].shape
        reader = weights["encoder.weight_hh_l0"].shape[1]
        self.source_embedding = torch.nn.Embedding(symbols, embedding)
        self.target_embedding = torch.nn.Embedding(*weights["target_embedding.weight"].shape)
        self.encoder = layers[settings["cell"]](embedding, reader, batch_first=True, bidirectional=True)
        self.bridge_l0 = torch.nn.Linear(bridged, hidden)
        if settings["cell"] == "lstm":
            self.cell_bridge_l0 = torch.nn.Linear(bridged, hidden)
        self.decoder = Decoder(embedding, hidden, 2 * reader)
        if settings["tie_embeddings"]:
            self.output_bias = torch.nn.Parameter(torch.empty(len(self.target_embedding.weight)))
        else:
            self.output = torch.nn.Linear(weights["output.weight"].shape[1], len(weights["output.weight"]))
        self.load_state_dict(weights)

    def encode(self, source, lengths):
        """What the decoder looks at [B, S, D], its mask or None, and its first state. Nothing is packed where all are equally long."""
        x = self.source_embedding(source)
        ragged = int(lengths.min()) < source.shape[1]
        if ragged:
            x = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        memory, last = self.encoder(x)
        if ragged:
            memory, _ = pad_packed_sequence(memory, batch_first=True)
        of = (lambda part: part[1]) if settings["bridge"] == "backward" else (lambda part: torch.cat([part[0], part[1]], 1))
        mask = source == padding if ragged else None
        if settings["cell"] == "gru":
            return memory, mask, (self.bridge_l0(of(last)).tanh(),)
        return memory, mask, (self.bridge_l0(of(last[0])).tanh(), self.cell_bridge_l0(of(last[1])))

    def logits(self, readout):
        return linear(readout, self.target_embedding.weight, self.output_bias) if settings["tie_embeddings"] else self.output(readout)

    def forward(self, source, lengths, target):
        memory, mask, state = self.encode(source, lengths)
        shifted = torch.nn.functional.pad(target[:, :-1], (1, 0), value=begin)
        return self.logits(self.decoder(self.target_embedding(shifted), state, memory, mask))


model = Seq2Seq().to(arguments.device)


def loss_of_pairs(pairs, reduction="mean"):
    with torch.autocast(arguments.device, torch.bfloat16, enabled=arguments.precision == "bf16"):
        logits = model(pairs.sources, pairs.source_lengths, pairs.targets)
    return cross_entropy(logits.flatten(0, 1).float(), pairs.targets.flatten(), ignore_index=padding, reduction=reduction)


class Writer:
    """One step of all hypotheses, [B, K]; the source is kept once per sentence and looked at with K queries."""

    def __init__(self, source, lengths):
        self.memory, self.mask, state = model.encode(source, lengths)
        self.keys = model.decoder.score.prepare(self.memory)
        self.state = tuple(part.repeat_interleave(beam.width, 0) for part in state)

    def look(self):
        sentences = len(self.memory)
        return model.decoder.look(self.state[0].view(sentences, beam.width, -1), self.keys, self.memory, self.mask).flatten(0, 1)

    def step(self, symbols, position):
        x = model.target_embedding(symbols.flatten())  # [B K, E]
        previous = self.state[0]
        if looks_first:
            context = self.look()
            self.state = model.decoder.step(torch.cat([x, context], 1), self.state)
        else:
            self.state = model.decoder.step(x, self.state)
            context = self.look()
        used = previous if settings["readout_from"] == "previous" else self.state[0]
        return model.logits(model.decoder.read_out(used, x, context))

    def reorder(self, rows):
        self.state = tuple(part.index_select(0, rows) for part in self.state)

    def keep(self, sentences):
        self.memory, self.keys = self.memory.index_select(0, sentences), self.keys.index_select(0, sentences)
        self.mask = None if self.mask is None else self.mask.index_select(0, sentences)


def forward_flop(source, target, pairs, hypotheses=1):
    """Multiplications and additions of all matrix products: so many source symbols, target symbols, and pairs of both."""
    size = {name: tensor.numel() for name, tensor in weights.items() if tensor.dim() == 2}
    of = lambda *starts: sum(count for name, count in size.items() if name.startswith(starts))
    memory, additive = 2 * weights["encoder.weight_hh_l0"].shape[1], settings["score"] == "additive"
    output = size["target_embedding.weight"] if settings["tie_embeddings"] else size["output.weight"]
    once, energy = of("decoder.score.key"), size.get("decoder.score.energy.weight", 0)
    a_step = of("decoder") - once - energy + output
    attention = memory + (energy if additive else memory)  # of each query and key
    return 2 * (source * (of("encoder") + once) + of("bridge", "cell_bridge") + hypotheses * (target * a_step + pairs * attention))


def flop_of_step(pairs):
    mean = lambda lengths: lengths.double().mean().item()
    row = forward_flop(mean(pairs.source_lengths), mean(pairs.target_lengths), mean(pairs.source_lengths * pairs.target_lengths))
    return 3 * row * options["training"]["batch_size"]  # backward is twice forward


def main():
    if arguments.mode == "beam":
        flop_of = lambda source, target: forward_flop(source, target, source * target, beam.width)
        return report(**beam.decode(arguments, options, Writer, flop_of))
    pairs = read_pairs(arguments, options, "val.tsv" if arguments.mode == "evaluate" else "train.tsv")
    if arguments.mode == "floor":
        return report(flop=flop_of_step(pairs), bytes=adam_bytes(weights))
    batches = batches_of(pairs, options["training"], arguments.mode == "time")
    if arguments.mode == "evaluate":
        with torch.no_grad():
            total = sum(loss_of_pairs(pairs.batch(picked), "sum").double() for picked in batches)
        return report(loss=total.item() / int(pairs.target_lengths.sum()))

    def loss_of(picked):
        batch = pairs.batch(picked)
        return loss_of_pairs(batch), int(batch.target_lengths.sum())

    trainer = Trainer(model.parameters(), options["training"])
    if arguments.mode == "loss":
        return report(loss=run_epoch(trainer, batches, loss_of))
    report(seconds=seconds_per_step(arguments, trainer, batches, loss_of))


main()
