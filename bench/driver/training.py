"""One training step of ours beside the same in PyTorch: the same data, weights and order for both sides, the same loss first."""
import os
import statistics

from driver.processes import Peer, note, run, same
from driver.table import Row


class Training:
    def __init__(self, bench, work):
        self.bench, self.work, self.runs = bench, work, 0
        self.data, self.start = (os.path.join(bench.place, work.name + end) for end in ("", "-start"))
        self.peer = Peer(work.peer, work.settings or bench.settings)
        if work.write:
            work.write(self.data)
        else:
            run([bench.fovea, "data", work.task, "--out", self.data, *work.data_options])
        self.train(self.start, "--epochs", "0")
        self.most_memory = [0, 0]

    def train(self, out, *more):
        data = os.path.join(self.data, self.work.ours_reads) if self.work.ours_reads else self.data
        command = [self.bench.fovea, "train", self.work.task, data, "--config", "tutorial", "--out", out, "--quiet", "--json", *self.bench.ours, *self.work.options, *more]
        return run(command)

    def ours(self, *more):
        self.runs += 1
        finished = self.train(f"{self.start}-{self.runs}", *more)
        self.most_memory[0] = max(self.most_memory[0], finished.bytes)
        return finished.numbers()

    def theirs(self, mode, *more, run_folder=None, setting=None):
        finished = self.peer.call(mode, self.data, os.path.join(run_folder or self.start, "model.safetensors"), *more, setting=setting)
        if mode == "time":
            self.most_memory[1] = max(self.most_memory[1], finished.bytes)
        return finished.numbers()

    def check_loss(self):
        trained = self.ours("--epochs", "1", "--set", "training.shuffle=no", *self.work.same_loss)
        losses = trained["epochs"][0]["loss"], self.theirs("loss")["loss"]
        same(self.work.name, "loss of one epoch from the same weights", *losses, 1e-3)
        if self.work.evaluates:
            reached = self.theirs("evaluate", run_folder=trained["run"])["loss"]
            same(self.work.name, "validation loss with the weights that ours reached", trained["metrics"]["loss"], reached, 1e-4)
        return losses

    def seconds(self, *more):
        """Of one unit: the median of all epochs but the first."""
        epochs = self.ours("--epochs", str(self.work.epochs), *more)["epochs"][1:]
        return statistics.median(epoch["seconds"] for epoch in epochs) / self.work.units

    def measure(self):
        """One row of the table; what else is known goes below it."""
        bench, work = self.bench, self.work
        losses = self.check_loss()
        weights = os.path.join(self.start, "model.safetensors")
        self.peer.choose("time", self.data, weights, "--steps", max(2, work.units // 5))
        fast = work.fast if bench.has_precision else ()
        since = len(bench.peaks.taken)
        bench.peaks.take()
        ours, theirs = [], []
        for _ in range(bench.repeats):
            ours.append(self.seconds(*fast))
            theirs.append(self.theirs("time")["seconds"])
        bench.peaks.take()
        bench.below.add(work.name, "loss", [f"{loss:.7f}" for loss in losses], *self.most_memory, self.peer.setting.name)
        if work.beside:
            seconds = self.theirs(work.beside)["seconds"]
            note(f"{work.name}: PyTorch, {work.beside}: {seconds * work.scale:.3g}, ratio {seconds / statistics.median(ours):.2f}")
        title = work.title + (", ours with " + " ".join(fast) if fast else "")
        return Row(title, work.scale, ours, theirs, work.goal, bench.peaks.floor(self.theirs("floor"), since))

    def measure_bf16(self):
        """Our own float32 in the peer's place. The same loss means: of one epoch, within what eight bits of mantissa leave."""
        bench, work = self.bench, self.work
        wide, narrow = (self.ours("--epochs", "1", *more, *work.same_loss)["epochs"][0]["loss"] for more in ((), ("--precision", "bf16")))
        same(work.name + ", bf16", "loss of one epoch (in PyTorch's place: ours in float32)", narrow, wide, 1e-2)
        narrow_times, wide_times = [], []
        for _ in range(bench.repeats):
            narrow_times.append(self.seconds("--precision", "bf16"))
            wide_times.append(self.seconds())
        return Row(work.title + ", ours in bf16 beside ours in float32", work.scale, narrow_times, wide_times, 1.4)
