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

from peers.words import words_of

HERE = os.path.dirname(os.path.abspath(__file__))
BLAS_FOLDERS = sorted(glob.glob("/usr/lib/*/openblas-*/"))


# glibc gives freed memory back to the system and clears it again for the next step, which can cost more than the arithmetic. Our program asks it
# not to (cli/main.cc); bench_attention is told so from outside. PyTorch is taken as it comes, and told the same once more for a note.
MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str((1 << 31) - 1), "MALLOC_TOP_PAD_": str(1 << 26)}


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
    documents: tuple = ()  # the same: (rows, sentences of each, words of each sentence, different words)
    graph: tuple = ()  # the same: (nodes, edges, features, features of each node, classes)
    options: tuple = ()
    same_loss: tuple = ()  # further options for the comparison of losses
    beside: str = ""  # a further mode of the peer whose time is worth a note


def transformer(name, unit, goal, rows, words, steps, options=()):
    """Pairs of random words, all of one length: nothing but the network is timed."""
    settings = ("model.name=transformer", "data.tokens=words", "data.minimum_count=1", f"training.batch_size={rows}", *options)
    return Work(name, unit, steps, 1e3, str(goal), epochs=2, rows=rows, task="translate", script="transformer",
                words=(rows * steps, words, 7996), options=assigned(*settings),
                same_loss=assigned("model.dropout=0", "model.attention_dropout=0"))


def assigned(*settings):
    return tuple(part for setting in settings for part in ("--set", setting))


def han(goal, rows, sentences, words, steps):
    """Documents of random words, all of one shape, so that nothing but the network is timed."""
    settings = ("model.name=han", "data.minimum_count=1", f"training.batch_size={rows}", "training.schedule=constant")
    return Work("han", f"ms a step, {rows} documents of {sentences} x {words} words, GRU 50", steps, 1e3, str(goal), epochs=2, rows=rows,
                task="documents", documents=(rows * steps, sentences, words, 10000), options=assigned(*settings),
                same_loss=assigned("model.dropout=0"))


def gat(goal, nodes, edges, features, each, classes):
    """A random graph of Cora's size. Ours computes what the loss of the training nodes depends on; the peer, as its users do, all nodes."""
    return Work("gat", f"ms an epoch of {nodes:,} nodes, {edges:,} edges, {features:,} features, 8 heads of 8", 1, 1e3, str(goal), epochs=60, task="graph",
                graph=(nodes, edges, features, each, classes), same_loss=assigned("model.dropout=0", "model.attention_dropout=0", "model.value_dropout=0"),
                beside="sparse")


WORK = (
    Work("features", "ms an epoch of 70,000 rows, batch 128", 1, 1e3, "30"),
    Work("context", "us a row, batch 1", 10000, 1e6, "500"),
    Work("dates", "ms a step of 64 rows", 100, 1e3, "-", epochs=2, data_options=("--set", "data.rows=6400"), evaluates=True, rows=64),
    han(1.8, rows=64, sentences=9, words=17, steps=20),
    gat(15, nodes=2708, edges=5278, features=1433, each=18, classes=7),
    transformer("transformer-3x256", "ms a step, 64 x 15 tokens, vocabulary 8,000", 1.4, rows=64, words=15, steps=20),
    transformer("transformer-6x512", "ms a step, 32 x 30 tokens, vocabulary 8,000", 1.2, rows=32, words=30, steps=18,
                options=("model.layers=6", "model.hidden=512")),
)


def dealt(different):
    """Hands out words like cards, so that all of them occur: a function that gives so many, as one text."""
    draw, deck = random.Random(1), []

    def line(count):
        if len(deck) < count:
            deck.extend(draw.sample(range(different), different))
        return " ".join(f"w{deck.pop()}" for _ in range(count))

    return line


def write_words(folder, rows, words, different):
    """Pairs of random words as the task translate reads them; a target's end symbol makes both sides equally long."""
    line = dealt(different)
    os.makedirs(folder)
    for name, count in (("train.tsv", rows), ("val.tsv", 8), ("test.tsv", 200)):
        with open(os.path.join(folder, name), "w") as file:
            file.write("source\ttarget\n")
            file.writelines(f"{line(words)}\t{line(words - 1)}\n" for _ in range(count))


def write_documents(folder, rows, sentences, words, different):
    """Texts of random words and a class by turns, as the task documents reads them."""
    line = dealt(different)
    os.makedirs(folder)
    for name, count in (("train.tsv", rows), ("val.tsv", 8)):
        with open(os.path.join(folder, name), "w") as file:
            file.write("text\tlabel\n")
            file.writelines("<br>".join(line(words) for _ in range(sentences)) + f"\t{row % 2}\n" for row in range(count))


def write_graph(folder, nodes, edges, features, each, classes):
    """A random graph as the task graph reads it: 20 training nodes of each class, 500 for validation, 1,000 for the test."""
    draw, word = random.Random(1), dealt(features)
    os.makedirs(folder)
    pairs = set()
    while len(pairs) < edges:
        one, other = draw.sample(range(nodes), 2)
        pairs.add((min(one, other), max(one, other)))
    part = lambda node: "train" if node < 20 * classes else "val" if node < 20 * classes + 500 else "test" if node < 20 * classes + 1500 else "unused"
    tables = {
        "edges.tsv": (f"{one}\t{other}\n" for one, other in sorted(pairs)),
        "features.tsv": (f"{node}\t{' '.join(sorted(set(word(each).split())))}\n" for node in range(nodes)),
        "labels.tsv": (f"{node}\t{node % classes}\n" for node in range(nodes)),
        "split.tsv": (f"{node}\t{part(node)}\n" for node in range(nodes)),
    }
    for name, lines in tables.items():
        with open(os.path.join(folder, name), "w") as file:
            file.writelines(lines)


class Task:
    """One comparison: the same data, weights and order for both sides."""

    def __init__(self, fovea, work, threads, place):
        self.fovea, self.work, self.threads, name = fovea, work, threads, work.name
        self.name, self.data, self.start = name, os.path.join(place, name), os.path.join(place, name + "-start")
        self.place, self.runs, self.task = place, 0, work.task or name
        if work.words:
            write_words(self.data, *work.words)
        elif work.documents:
            write_documents(self.data, *work.documents)
        elif work.graph:
            write_graph(self.data, *work.graph)
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


class Attention:
    """bench/attention beside peers/attention.py: one length, everything or the past alone visible."""

    def __init__(self, program, length, kind, threads):
        self.program, self.length, self.kind, self.threads = program, length, kind, threads

    def ours(self):
        return json.loads(run([self.program, str(self.length), self.kind, str(self.threads)], MEMORY))

    def peer(self, threads, blas, memory=None):
        script = os.path.join(HERE, "peers", "attention.py")
        environment = {**({"LD_LIBRARY_PATH": blas} if blas else {}), **(memory or {})}
        return json.loads(run([sys.executable, script, str(self.length), self.kind, str(threads)], environment))

    def compare(self, repeats, goal):
        candidates = [(threads, blas) for threads in range(1, self.threads + 1) for blas in (BLAS_FOLDERS or [None])]
        best = min(candidates, key=lambda candidate: self.peer(*candidate)["seconds"])
        ours, theirs = [], []
        for _ in range(repeats):
            ours.append(self.ours())
            theirs.append(self.peer(*best))
        for what in ("loss", "gradient"):
            if abs(ours[0][what] - theirs[0][what]) > 1e-3 * abs(theirs[0][what]):
                sys.exit(f"attention: {what} {ours[0][what]} is not PyTorch's {theirs[0][what]}: not the same work")
        median = lambda runs, key: statistics.median(one[key] for one in runs)
        ratio = median(theirs, "seconds") / median(ours, "seconds")
        row([f"attention, 8 heads of 64, {self.length:,} tokens, {self.kind}: ms forward and backward",
             spread([one["seconds"] for one in ours], 1e3), spread([one["seconds"] for one in theirs], 1e3), f"{ratio:.2f}", goal])
        note = f"{median(ours, 'seconds') / median(ours, 'floor'):.2f} times the floor of {median(ours, 'floor') * 1e3:.1f} ms"
        share = median(ours, "weights") / median(ours, "forward")
        kept = min(self.peer(*candidate, MEMORY)["seconds"] for candidate in candidates)
        note += f"; PyTorch that keeps its memory: {kept * 1e3:.0f} ms, ratio {kept / median(ours, 'seconds'):.2f}"
        print(f"attention {self.length} {self.kind}: {note}; weights of 64 rows of a head cost {share:.1%} of the forward pass", file=sys.stderr)

    def memory(self):
        mebibytes = lambda measured: f"{measured['bytes'] / 2**20:,.0f}"
        small = self.length <= 8192  # PyTorch would need tens of gigabytes beyond
        row([f"attention, {self.length:,} tokens: MiB that forward and backward add", mebibytes(self.ours()),
             mebibytes(self.peer(self.threads, None)) if small else "-", "", "linear"])


def compare_attention(program, threads, repeats):
    for kind, goals in (("full", ("1.3", "1.8")), ("causal", ("2.6", "3.6"))):
        for length, goal in zip((1024, 4096), goals):
            Attention(program, length, kind, threads).compare(repeats, goal)
    for length in (2048, 4096, 8192, 16384):
        Attention(program, length, "full", threads).memory()


class Writing:
    """Greedy decoding of every source in DATA/test.tsv by a trained Transformer whose tokens are words."""

    def __init__(self, fovea, run_folder, data, threads, place):
        self.fovea, self.run, self.data, self.threads = fovea, run_folder, data, threads
        with open(os.path.join(data, "test.tsv")) as file:
            sources = [line.split("\t")[0].strip() for line in list(file)[1:]]
        self.count, self.all, self.one = len(sources), os.path.join(place, "sources.txt"), os.path.join(place, "source.txt")
        for path, lines in ((self.all, sources), (self.one, sources[:1])):
            with open(path, "w") as file:
                file.writelines(line + "\n" for line in lines)

    def ours(self):
        """Seconds beyond those that the program needs for one sentence, and the words that it wrote."""
        times, written = [], ""
        for path in (self.one, self.all):
            begin = time.perf_counter()
            written = run([self.fovea, "predict", self.run, "--input", path, "--threads", str(self.threads), "--set", "decoding.method=greedy", "--set",
                           "decoding.copy_unknown=no"])
            times.append(time.perf_counter() - begin)
        return times[1] - times[0], sum(len(words_of(line)) for line in written.splitlines())

    def peer(self, mode, threads, blas):
        script, weights = os.path.join(HERE, "peers", "transformer.py"), os.path.join(self.run, "model.safetensors")
        return json.loads(run([sys.executable, script, mode, self.data, weights, str(threads)], {"LD_LIBRARY_PATH": blas} if blas else {}))

    def compare(self, repeats):
        candidates = [(threads, blas) for threads in range(1, self.threads + 1) for blas in (BLAS_FOLDERS or [None])]
        for mode, goal in (("decode-recompute", "5"), ("decode-cache", "2")):
            best = min(candidates, key=lambda candidate: self.peer(mode, *candidate)["seconds"])
            ours, theirs = [], []
            for _ in range(repeats):
                ours.append(self.ours())
                theirs.append(self.peer(mode, *best))
            print(f"{mode}: ours wrote {ours[0][1]} words, PyTorch {theirs[0]['symbols']}", file=sys.stderr)
            if abs(ours[0][1] - theirs[0]["symbols"]) > 0.005 * theirs[0]["symbols"]:
                sys.exit("not the same work")
            times = [one[0] for one in ours], [one["seconds"] for one in theirs]
            row([f"greedy decoding of {self.count:,} sentences, PyTorch {'with' if mode.endswith('cache') else 'without'} a cache: s",
                 spread(times[0], 1), spread(times[1], 1), f"{statistics.median(times[1]) / statistics.median(times[0]):.2f}", goal])


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
    parser.add_argument("--attention", default=None, help="the program bench_attention")
    parser.add_argument("--decode", nargs=2, metavar=("RUN", "DATA"), help="a trained Transformer with data.tokens=words, and a folder with test.tsv")
    parser.add_argument("--only", choices=[*(work.name for work in WORK), "attention", "decode"], help="one comparison instead of all")
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
            if work.beside:
                seconds = task.peer(work.beside, *task.settings)["seconds"]
                print(f"{work.name}: PyTorch, {work.beside}: {seconds * work.scale:.3g}, ratio {seconds / statistics.median(ours):.2f}", file=sys.stderr)
        if arguments.attention and arguments.only in (None, "attention"):
            compare_attention(os.path.abspath(arguments.attention), arguments.threads, arguments.repeats)
        if arguments.decode:
            Writing(fovea, *map(os.path.abspath, arguments.decode), arguments.threads, place).compare(arguments.repeats)
        if arguments.empty and not arguments.only:
            ours, theirs = start_up(fovea, os.path.abspath(arguments.empty), place, 2 * arguments.repeats)
            extra = statistics.median(ours) - statistics.median(theirs)
            row(["start to answer, s: fovea predict; empty LibTorch program", spread(ours, 1), spread(theirs, 1),
                 f"{extra:+.3f} s", "at most +0.15 s"])


if __name__ == "__main__":
    main()
