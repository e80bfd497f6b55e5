"""Running programs and measuring them from outside; the peer at its fastest setting."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import typing

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# glibc gives freed memory back to the system and clears it again for the next step, which can cost more than the arithmetic. Our program asks it
# not to (cli/main.cc); bench_attention is told so from outside. PyTorch is taken as it comes, and told the same once more for a note.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str((1 << 31) - 1), "MALLOC_TOP_PAD_": str(1 << 26)}


class Finished(typing.NamedTuple):
    text: str
    seconds: float
    bytes: int  # the most memory that was in use

    def numbers(self):
        return json.loads(self.text)


def run(command, environment=None):
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors, env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            sys.exit("failed: " + " ".join(command) + "\n" + errors.read())
        return Finished(output.read(), seconds, usage.ru_maxrss * 1024)


def note(text):
    print(text, file=sys.stderr, flush=True)


class Setting(typing.NamedTuple):
    """One way to run the peer."""

    name: str
    arguments: tuple = ()
    environment: tuple = ()


def cpu_settings(threads, blas_folders):
    """Each number of threads with each BLAS."""
    settings = []
    for count in range(1, threads + 1):
        for folder in blas_folders or [None]:
            name = os.path.basename(os.path.normpath(folder)) if folder else "its own BLAS"
            settings.append(Setting(f"{count} thread{'s' * (count > 1)}, {name}", ("--threads", str(count)),
                                    (("LD_LIBRARY_PATH", folder),) if folder else ()))
    return settings


class Peer:
    """A script of peers/ and the ways in which it may run."""

    def __init__(self, script, settings):
        self.script, self.settings, self.setting = os.path.join(HERE, "peers", script + ".py"), settings, settings[0]

    def call(self, *arguments, setting=None, environment=None):
        setting = setting or self.setting
        return run([sys.executable, self.script, *map(str, arguments), *setting.arguments], {**dict(setting.environment), **(environment or {})})

    def choose(self, *arguments):
        """The fastest setting by a short run."""
        if len(self.settings) == 1:
            return
        times = {setting: self.call(*arguments, setting=setting).numbers()["seconds"] for setting in self.settings}
        self.setting = min(times, key=times.get)
        note("PyTorch, a short run: " + "; ".join(f"{setting.name} {digits(seconds * 1e3)} ms" for setting, seconds in times.items()))


def same(name, what, ours, theirs, tolerance):
    """Ends the program unless both agree: otherwise it is not the same work."""
    note(f"{name}: {what}: ours {ours:.7g}, PyTorch {theirs:.7g}")
    if not abs(ours - theirs) <= tolerance * abs(theirs):
        sys.exit(f"{name}: {what} differs by {abs(ours - theirs) / abs(theirs):.2%}: not the same work, nothing is timed")


def spread(values, scale):
    """Median (minimum to maximum), three digits."""
    return f"{digits(statistics.median(values) * scale)} ({digits(min(values) * scale)} to {digits(max(values) * scale)})"


def digits(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
