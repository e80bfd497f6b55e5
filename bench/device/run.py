"""The GPU rows of docs/performance.md: our steps beside PyTorch's on the same GPU, from the same weights and pairs, repeats interleaved.
usage: run.py --program build/release/bench/bench_device [--repeats 3] [--only rnnsearch|transformer]. Called by ./dev bench --gpu."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = (
    # network, what stands in the table, PyTorch's modes (the last is the one to beat), at least, our options
    ("rnnsearch", "RNNsearch 1,000/620, vocabulary 30,000, 80 x 30: ms a step", ("eager",), 4.0, ()),
    ("transformer", "Transformer base 6 x 512, vocabulary 32,000, 128 x 64, bf16: ms a step", ("eager", "compiled"), 1.2, ("precision=bf16", "dropout=0.1")),
)


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit("failed: " + " ".join(command) + "\n" + result.stderr[-2000:])
    return json.loads(result.stdout.strip().splitlines()[-1])


def spread(values):
    return f"{statistics.median(values) * 1e3:.1f} ({min(values) * 1e3:.1f} to {max(values) * 1e3:.1f})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=[row[0] for row in ROWS])
    arguments = parser.parse_args()
    print("| work | ours | PyTorch | ratio | at least |\n| --- | --- | --- | --- | --- |")
    for name, title, modes, goal, options in ROWS:
        if arguments.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([arguments.program, "make", name, folder], check=True)
            ours = lambda *more: run([arguments.program, "train", name, folder, *more])
            theirs = lambda mode: run([sys.executable, os.path.join(HERE, "peer.py"), name, folder, mode])
            losses = ours("epochs=1")["losses"][0], theirs("loss")["losses"][0]
            print(f"{name}: loss of one epoch from the same weights: ours {losses[0]:.6f}, PyTorch {losses[1]:.6f}", file=sys.stderr)
            if abs(losses[0] - losses[1]) > 1e-3 * abs(losses[1]):
                sys.exit("not the same work, nothing is timed")
            times = {"ours": [], **{mode: [] for mode in modes}}
            for _ in range(arguments.repeats):
                times["ours"].append(min(ours(*options)["seconds"][1:]))
                for mode in modes:
                    times[mode].append(min(theirs(mode)["seconds"][1:]))
            for mode in modes:
                ratio = statistics.median(times[mode]) / statistics.median(times["ours"])
                print(f"| {title}; PyTorch {mode} | {spread(times['ours'])} | {spread(times[mode])} | {ratio:.2f} | {goal if mode == modes[-1] else '-'} |", flush=True)


if __name__ == "__main__":
    main()
