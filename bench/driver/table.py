"""The table that is printed, and what stands below it."""
import statistics
import typing

from driver.processes import digits, spread

COLUMNS = ("work", "ours", "PyTorch", "ratio", "at least", "floor", "times the floor")


class Row(typing.NamedTuple):
    title: str
    scale: float  # from seconds to what the title says
    ours: list  # seconds
    theirs: list
    goal: object = "-"
    floor: float = 0  # seconds; 0: not known

    def cells(self):
        ratio = statistics.median(self.theirs) / statistics.median(self.ours)
        floors = (digits(self.floor * self.scale), digits(statistics.median(self.ours) / self.floor)) if self.floor else ("", "")
        return (self.title, spread(self.ours, self.scale), spread(self.theirs, self.scale), digits(ratio), str(self.goal), *floors)


def print_cells(cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def print_header(columns=COLUMNS):
    print_cells(columns)
    print_cells(["---"] * len(columns))


class Below:
    """Losses, memory and settings of each row, printed after the table."""

    def __init__(self):
        self.rows = []

    def add(self, name, what, agreed, ours_bytes, their_bytes, setting):
        mebibytes = lambda count: f"{count / 2**20:,.0f}" if count else ""
        self.rows.append((name, what, *agreed, mebibytes(ours_bytes), mebibytes(their_bytes), setting))

    def print(self):
        if not self.rows:
            return
        print()
        print_header(("work", "compared", "ours", "PyTorch", "most memory, MiB, ours", "PyTorch", "PyTorch's fastest setting"))
        for row in self.rows:
            print_cells(row)
