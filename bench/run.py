"""Our speed beside PyTorch's, in one run. See bench/README.md. Called by ./dev bench."""
import argparse
import glob
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import typing

HERE = os.path.dirname(os.path.abspath(__file__))
BLAS_FOLDERS = sorted(glob.glob("/usr/lib/*/openblas-*/"))


def run(command, environment=None):
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    if result.returncode != 0:
        sys.exit("failed: " + " ".join(command) + "\n" + result.stderr)
    return result.stdout


class Work(typing.NamedTuple):
    """What one comparison times. The first of `epochs` epochs is warm-up; an epoch has `units` of what is reported."""

    name: str
    unit: str
    units: int
    scale: float
    goal: str
    epochs: int = 6
    data_options: tuple = ()
    evaluates: bool = False  # the peer can also evaluate a run
    rows: int = 0  # in a unit, where the peer knows the floor
    task: str = ""  # of the program, unless it is called `name`; so is the peer's script
    script: str = ""
    words: tuple = ()  # instead of the task's own data: (rows, words a side, different words)
    options: tuple = ()
    same_loss: tuple = ()  # further options for the comparison of losses


def transformer(name, unit, goal, rows, words, steps, options=()):
    """Pairs of random words, all of one length: nothing but the network is timed."""
    settings = ("model.name=transformer", "data.tokens=words", "data.minimum_count=1", f"training.batch_size={rows}", *options)
    return Work(name, unit, steps, 1e3, str(goal), epochs=2, rows=rows, task="translate", script="transformer",
                words=(rows * steps, words, 7996), options=assigned(*settings),
                same_loss=assigned("model.dropout=0", "model.attention_dropout=0"))


def assigned(*settings):
    return tuple(part for setting in settings for part in ("--set", setting))


WORK = (
    Work("features", "ms an epoch of 70,000 rows, batch 128", 1, 1e3, "30"),
    Work("context", "us a row, batch 1", 10000, 1e6, "500"),
    Work("dates", "ms a step of 64 rows", 100, 1e3, "-", epochs=2, data_options=("--set", "data.rows=6400"), evaluates=True, rows=64),
    transformer("transformer-3x256", "ms a step, 64 x 15 tokens, vocabulary 8,000", 1.4, rows=64, words=15, steps=20),
    transformer("transformer-6x512", "ms a step, 32 x 30 tokens, vocabulary 8,000", 1.2, rows=32, words=30, steps=18,
                options=("model.layers=6", "model.hidden=512")),
)


def write_words(folder, rows, words, different):
    """Pairs of random words as the task translate reads them; a target's end symbol makes both sides equally long. Words are dealt like
    cards, so that all of them occur."""
    draw, deck = random.Random(1), []

    def line(count):
        if len(deck) < count:
            deck.extend(draw.sample(range(different), different))
        return " ".join(f"w{deck.pop()}" for _ in range(count))

    os.makedirs(folder)
    for name, count in (("train.tsv", rows), ("val.tsv", 8), ("test.tsv", 200)):
        with open(os.path.join(folder, name), "w") as file:
            file.write("source\ttarget\n")
            file.writelines(f"{line(words)}\t{line(words - 1)}\n" for _ in range(count))


class Task:
    """One comparison: the same data, weights and order for both sides."""

    def __init__(self, fovea, work, threads, place):
        self.fovea, self.work, self.threads, name = fovea, work, threads, work.name
        self.name, self.data, self.start = name, os.path.join(place, name), os.path.join(place, name + "-start")
        self.place, self.runs, self.task = place, 0, work.task or name
        if work.words:
            write_words(self.data, *work.words)
        else:
            run([fovea, "data", name, "--out", self.data, *work.data_options])
        run([fovea, "train", self.task, self.data, "--epochs", "0", "--out", self.start, "--quiet", *work.options])
        self.settings = None

    def ours(self, *more):
        self.runs += 1
        out = os.path.join(self.place, f"{self.name}-{self.runs}")
        limit = ["--threads", str(self.threads)]
        command = [self.fovea, "train", self.task, self.data, "--out", out, "--quiet", "--json", *limit, *self.work.options, *more]
        return json.loads(run(command))

    def peer(self, mode, threads=1, blas=None, run_folder=None):
        environment = {"LD_LIBRARY_PATH": blas} if blas else {}
        weights = os.path.join(run_folder or self.start, "model.safetensors")
        script = os.path.join(HERE, "peers", (self.work.script or self.name) + ".py")
        return json.loads(run([sys.executable, script, mode, self.data, weights, str(threads)], environment))

    def check_loss(self):
        trained = self.ours("--epochs", "1", "--set", "training.shuffle=no", *self.work.same_loss)
        self.compare("loss of one epoch from the same weights", trained["epochs"][0]["loss"], self.peer("loss")["loss"], 1e-3)
        if self.work.evaluates:
            theirs = self.peer("evaluate", run_folder=trained["run"])["loss"]
            self.compare("validation loss with the weights that ours reached", trained["metrics"]["loss"], theirs, 1e-4)

    def compare(self, what, ours, theirs, tolerance):
        difference = abs(ours - theirs) / abs(theirs)
        print(f"{self.name}: {what}: ours {ours:.7f}, PyTorch {theirs:.7f}", file=sys.stderr)
        if difference > tolerance:
            sys.exit(f"{self.name}: the losses differ by {difference:.2%}: not the same work, nothing is timed")

    def choose_settings(self):
        candidates = [(threads, blas) for threads in range(1, self.threads + 1) for blas in (BLAS_FOLDERS or [None])]
        times = {candidate: self.peer("time", *candidate)["seconds"] for candidate in candidates}
        self.settings = min(times, key=times.get)
        threads, blas = self.settings
        blas_name = os.path.basename(os.path.normpath(blas)) if blas else "default"
        print(f"{self.name}: PyTorch is fastest with {threads} thread(s), {blas_name}", file=sys.stderr)

    def measure(self, repeats):
        ours, theirs = [], []
        for _ in range(repeats):
            epochs = [epoch["seconds"] for epoch in self.ours("--epochs", str(self.work.epochs))["epochs"][1:]]
            ours.append(statistics.median(epochs) / self.work.units)
            theirs.append(self.peer("time", *self.settings)["seconds"])
        return ours, theirs

    def report_floor(self, seconds):
        """What share of the matrix products' peak our best step reaches; the peak is taken right after it, on one core."""
        floor = self.peer("floor", 1, self.settings[1])
        reached = floor["flop_per_row"] * self.work.rows / seconds
        print(f"{self.name}: {floor['flop_per_row'] / 1e6:.1f} Mflop a row, ours {reached / 1e9:.0f} Gflop a second; a large sgemm on "
              f"one core {floor['flop_per_second'] / 1e9:.0f}: {reached / floor['flop_per_second']:.0%}", file=sys.stderr)


def spread(values, scale):
    return f"{statistics.median(values) * scale:.3g} ({min(values) * scale:.3g} to {max(values) * scale:.3g})"


def row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def start_up(fovea, empty, place, repeats):
    """Seconds from exec to answer: fovea predict on one row, and an empty LibTorch program."""
    example = "0.1,0.7,0.4,-0.2,0.5,0.9,-0.8,0.3,0.1,0.6"
    ours, theirs = [], []
    for _ in range(repeats + 1):
        for times, command in ((theirs, [empty]), (ours, [fovea, "predict", os.path.join(place, "features-start"), example])):
            begin = time.perf_counter()
            run(command)
            times.append(time.perf_counter() - begin)
    return ours[1:], theirs[1:]  # the first fills the page cache


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fovea", required=True)
    parser.add_argument("--empty", default=None, help="the empty LibTorch program")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2, help="the most threads that either side may use")
    parser.add_argument("--only", choices=[work.name for work in WORK], help="one comparison instead of all")
    arguments = parser.parse_args()
    fovea = os.path.abspath(arguments.fovea)
    with tempfile.TemporaryDirectory() as place:
        row(["work", "ours", "PyTorch", "ratio", "at least"])
        row(["---"] * 5)
        for work in WORK:
            if arguments.only not in (None, work.name):
                continue
            task = Task(fovea, work, arguments.threads, place)
            task.check_loss()
            task.choose_settings()
            ours, theirs = task.measure(arguments.repeats)
            ratio = statistics.median(theirs) / statistics.median(ours)
            digits = 0 if ratio >= 10 else 2
            row([f"{work.name}: {work.unit}", spread(ours, work.scale), spread(theirs, work.scale), f"{ratio:.{digits}f}", work.goal])
            if work.rows:
                task.report_floor(min(ours))
        if arguments.empty and not arguments.only:
            ours, theirs = start_up(fovea, os.path.abspath(arguments.empty), place, 2 * arguments.repeats)
            extra = statistics.median(ours) - statistics.median(theirs)
            row(["start to answer, s: fovea predict; empty LibTorch program", spread(ours, 1), spread(theirs, 1),
                 f"{extra:+.3f} s", "at most +0.15 s"])


if __name__ == "__main__":
    main()
