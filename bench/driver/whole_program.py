"""What is not a step: start-up, size of what is installed."""
import os
import statistics
import subprocess
import tempfile

from driver.processes import run, spread

EXAMPLE = "0.1,0.7,0.4,-0.2,0.5,0.9,-0.8,0.3,0.1,0.6"


def start_up(bench, empty):
    """Seconds from exec to answer: `fovea predict` on one row of a small model, and an empty LibTorch program."""
    model = os.path.join(bench.place, "start-up")
    run([bench.fovea, "train", "features", "--set", "model.name=tutorial", "--epochs", "0", "--out", model, "--quiet"])
    ours, theirs = [], []
    for _ in range(2 * bench.repeats + 1):
        for times, command in ((theirs, [empty]), (ours, [bench.fovea, "predict", model, EXAMPLE])):
            times.append(run(command).seconds)
    ours, theirs = ours[1:], theirs[1:]  # the first fills the page cache
    extra = statistics.median(ours) - statistics.median(theirs)
    return f"start to answer: fovea predict {spread(ours, 1)} s, an empty LibTorch program {spread(theirs, 1)} s: {extra:+.3f} s (at most +0.15 s)"


def installed_size(build):
    """MiB of what `cmake --install` writes, LibTorch not being part of it."""
    with tempfile.TemporaryDirectory() as prefix:
        result = subprocess.run(["cmake", "--install", build, "--prefix", prefix], capture_output=True, text=True)
        if result.returncode != 0:
            return "installed: not known (" + result.stderr.strip().splitlines()[-1] + ")"
        sizes = {}
        for folder, _, names in os.walk(prefix):
            part = os.path.relpath(folder, prefix).split(os.sep)[0]
            sizes[part] = sizes.get(part, 0) + sum(os.lstat(os.path.join(folder, name)).st_size for name in names)
        parts = ", ".join(f"{part} {size / 2**20:.1f}" for part, size in sorted(sizes.items()) if size)
        return f"installed without LibTorch: {sum(sizes.values()) / 2**20:.1f} MiB ({parts})"
