"""What the machine could do while a row was measured: the floor's other half."""
import statistics
import sys

from driver.processes import HERE, digits, run


class Peaks:
    """A large matrix product and a large copy by 1 to `threads` threads, taken again beside every row since neighbours come and go."""

    def __init__(self, threads, device="cpu", precision="float32"):
        self.threads, self.device, self.precision, self.taken = threads, device, precision, []

    def take(self):
        script = HERE + "/peers/peak.py"
        self.taken.append(run([sys.executable, script, str(self.threads), self.device, self.precision]).numbers())

    def best(self, since):
        """The largest of each at any number of threads, of those taken after the first `since`."""
        return {what: max(peak[what] for peaks in self.taken[since:] for peak in peaks) for what in ("flop", "bytes")}

    def floor(self, work, since):
        """Seconds of {"flop": ..., "bytes": ...}, whichever binds."""
        best = self.best(since)
        return max(work["flop"] / best["flop"], work["bytes"] / best["bytes"])

    def report(self):
        """One line a number of threads: medians and spread of the whole run."""
        for index in range(self.threads if self.device == "cpu" else 1):
            of = lambda what: [peaks[index][what] / 1e9 for peaks in self.taken]
            line = lambda values: f"{digits(statistics.median(values))} ({digits(min(values))} to {digits(max(values))})"
            who = f"{index + 1} thread{'s' * (index > 0)}" if self.device == "cpu" else f"{self.device}, {self.precision}"
            yield f"{who}: a large product {line(of('flop'))} Gflop a second, a large copy {line(of('bytes'))} GB a second"
