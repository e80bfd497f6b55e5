"""Beam-4 decoding of 1,000 sentences by an RNN and by a Transformer whose tokens are words, beside the same model and beam in PyTorch with cached
states. The models are trained here, shortly: quality matters little, but sentences must be written, and end."""
import os
import statistics

from driver import data_files
from driver.processes import Peer, note, run, same
from driver.table import Row
from driver.workloads import assigned

SENTENCES, TRAINING_PAIRS, EPOCHS, GOAL = 1000, 8000, 10, 4
FEWEST_WORDS = 5  # of an output in the mean, or there is nothing to time
COMMON = assigned("data.tokens=words", "data.vocabulary_size=8000", "training.batch_size=64", "training.warmup_steps=80", "training.monitor=loss")
MODELS = {  # what it is called, the peer, and options
    "rnn": ("RNN, GRU 256, additive score", "seq2seq", assigned(
        "model.cell=gru", "model.hidden=256", "model.embedding=256", "model.decoder=bahdanau", "model.score=additive", "training.learning_rate=0.0007")),
    "transformer": ("Transformer 3 x 256", "transformer", assigned(
        "model.name=transformer", "model.layers=3", "model.hidden=256", "model.heads=8", "training.learning_rate=0.001")),
}


class Writing:
    def __init__(self, bench, model, precision="float32"):
        self.bench, self.precision = bench, precision
        self.name = ("" if precision == "float32" else precision + "-") + "beam-" + model
        self.what, script, options = MODELS[model]
        folder = bench.models or bench.place
        self.data, self.run = os.path.join(folder, "sentences"), os.path.join(folder, model)
        if not os.path.exists(self.data):
            corpus = os.path.join(bench.corpora, "multi30k")
            if os.path.exists(corpus):
                data_files.write_multi30k(self.data, corpus, TRAINING_PAIRS, SENTENCES)
            else:
                rows = assigned(f"data.rows={TRAINING_PAIRS}", "data.validation_rows=8", f"data.test_rows={SENTENCES}")
                run([bench.fovea, "data", "translate", "--out", self.data, *rows])
        if not os.path.exists(os.path.join(self.run, "model.safetensors")):
            note(f"{self.name}: trains a model to write with")
            run([bench.fovea, "train", "translate", self.data, "--config", "tutorial", "--out", self.run, "--quiet", "--epochs", str(EPOCHS), *bench.ours, *COMMON, *options])
        self.peer = Peer(script, bench.settings)
        with open(os.path.join(self.data, "test.tsv")) as file:
            sources = [line.split("\t")[0].strip() for line in list(file)[1:]]
        self.inputs = {}
        for count in (1, len(sources)):
            self.inputs[count] = os.path.join(bench.place, f"{self.name}-{count}.txt")
            with open(self.inputs[count], "w") as file:
                file.writelines(line + "\n" for line in sources[:count])

    def ours(self):
        """Seconds beyond those that the program needs for one sentence, and what it wrote."""
        options = assigned("decoding.method=beam", "decoding.beam=4", "decoding.copy_unknown=no", "decoding.precision=" + self.precision)
        one, every = (run([self.bench.fovea, "predict", self.run, "--input", path, "--json", *self.bench.ours, *options]) for path in self.inputs.values())
        return every.seconds - one.seconds, every.numbers()

    def theirs(self):
        return self.peer.call("beam", self.data, os.path.join(self.run, "model.safetensors")).numbers()

    def check(self, ours, theirs):
        """Both must write the same: words and mean log-probability."""
        counts = [sum(len(output["text"].split()) for output in side) for side in (ours, theirs)]
        if counts[0] < FEWEST_WORDS * len(ours):
            raise SystemExit(f"{self.name}: {counts[0]:,} words in {len(ours):,} outputs: this model has not learned to write")
        same(self.name, "words written", *counts, 0.005)
        means = [statistics.mean(output["log_probability"] for output in side) for side in (ours, theirs)]
        same(self.name, "mean log-probability of an output", *means, 0.005)
        note(f"{self.name}: {sum(one['text'] == other['text'] for one, other in zip(ours, theirs))} of {len(ours)} outputs are the same text")
        return [f"{count:,} words, {mean:.4f}" for count, mean in zip(counts, means)]

    def measure(self):
        bench = self.bench
        self.peer.choose("beam", self.data, os.path.join(self.run, "model.safetensors"))
        since = len(bench.peaks.taken)
        bench.peaks.take()
        ours, theirs = [], []
        for _ in range(bench.repeats):
            seconds, written = self.ours()
            ours.append(seconds)
            theirs.append(self.theirs())
        bench.peaks.take()
        agreed = self.check(written, theirs[0]["outputs"])
        bench.below.add(self.name, "written, log-probability", agreed, 0, 0, self.peer.setting.name)
        floor = bench.peaks.floor({"flop": theirs[0]["flop"], "bytes": 0}, since)
        ours_in = "" if self.precision == "float32" else f", ours in {self.precision}"
        title = f"beam-4 decoding of {len(written):,} sentences, {self.what}{ours_in}: s"
        return Row(title, 1, ours, [one["seconds"] for one in theirs], GOAL, floor)
