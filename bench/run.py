"""Our speed beside PyTorch's, in one run. See bench/README.md. Called by ./dev bench."""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BLAS_FOLDERS = sorted(glob.glob("/usr/lib/*/openblas-*/"))


def run(command, environment=None):
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    if result.returncode != 0:
        sys.exit("failed: " + " ".join(command) + "\n" + result.stderr)
    return result.stdout


class Task:
    """One comparison: the same data, weights and order for both sides."""

    def __init__(self, fovea, name, unit, rows_per_unit, scale, place):
        self.fovea, self.name, self.unit, self.rows_per_unit, self.scale = fovea, name, unit, rows_per_unit, scale
        self.data, self.start = os.path.join(place, name), os.path.join(place, name + "-start")
        self.place, self.runs = place, 0
        run([fovea, "data", name, "--out", self.data])
        run([fovea, "train", name, self.data, "--epochs", "0", "--out", self.start, "--quiet"])
        self.settings = None

    def ours(self, *more):
        self.runs += 1
        out = os.path.join(self.place, f"{self.name}-{self.runs}")
        return json.loads(run([self.fovea, "train", self.name, self.data, "--out", out, "--quiet", "--json", *more]))

    def peer(self, mode, threads=1, blas=None):
        environment = {"LD_LIBRARY_PATH": blas} if blas else {}
        weights = os.path.join(self.start, "model.safetensors")
        script = os.path.join(HERE, "peers", self.name + ".py")
        return json.loads(run([sys.executable, script, mode, self.data, weights, str(threads)], environment))

    def check_loss(self):
        ours = self.ours("--epochs", "1", "--set", "training.shuffle=no")["epochs"][0]["loss"]
        theirs = self.peer("loss")["loss"]
        difference = abs(ours - theirs) / abs(theirs)
        print(f"{self.name}: loss of one epoch from the same weights: ours {ours:.7f}, PyTorch {theirs:.7f}", file=sys.stderr)
        if difference > 1e-3:
            sys.exit(f"{self.name}: the losses differ by {difference:.2%}: not the same work, nothing is timed")

    def choose_settings(self):
        candidates = [(threads, blas) for threads in (1, 2) for blas in (BLAS_FOLDERS or [None])]
        times = {candidate: self.peer("time", *candidate)["seconds"] for candidate in candidates}
        self.settings = min(times, key=times.get)
        threads, blas = self.settings
        blas_name = os.path.basename(os.path.normpath(blas)) if blas else "default"
        print(f"{self.name}: PyTorch is fastest with {threads} thread(s), {blas_name}", file=sys.stderr)

    def measure(self, repeats):
        ours, theirs = [], []
        for _ in range(repeats):
            epochs = [epoch["seconds"] for epoch in self.ours("--epochs", "6")["epochs"][1:]]
            ours.append(statistics.median(epochs) / self.rows_per_unit)
            theirs.append(self.peer("time", *self.settings)["seconds"])
        return ours, theirs


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
    arguments = parser.parse_args()
    fovea = os.path.abspath(arguments.fovea)
    with tempfile.TemporaryDirectory() as place:
        row(["work", "ours", "PyTorch", "ratio", "at least"])
        row(["---"] * 5)
        for name, unit, rows, scale, goal in (("features", "ms an epoch of 70,000 rows, batch 128", 1, 1e3, 30),
                                              ("context", "us a row, batch 1", 10000, 1e6, 500)):
            task = Task(fovea, name, unit, rows, scale, place)
            task.check_loss()
            task.choose_settings()
            ours, theirs = task.measure(arguments.repeats)
            ratio = statistics.median(theirs) / statistics.median(ours)
            row([f"{name}: {unit}", spread(ours, scale), spread(theirs, scale), f"{ratio:.0f}", str(goal)])
        if arguments.empty:
            ours, theirs = start_up(fovea, os.path.abspath(arguments.empty), place, 2 * arguments.repeats)
            extra = statistics.median(ours) - statistics.median(theirs)
            row(["start to answer, s: fovea predict; empty LibTorch program", spread(ours, 1), spread(theirs, 1),
                 f"{extra:+.3f} s", "at most +0.15 s"])


if __name__ == "__main__":
    main()
