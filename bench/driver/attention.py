"""bench/attention beside peers/attention.py: softmax(Q K^T / 8) V of 8 heads of 64, forward and backward, one length, everything or the past alone
visible. The program knows its own floor."""
import statistics

from driver.processes import KEEP_MEMORY, Peer, note, run, same
from driver.table import Row

# length, kind, how many times faster than the peer
ROWS = ((1024, "full", 1.3), (4096, "full", 1.8), (1024, "causal", 2.6), (4096, "causal", 3.6))
LONGEST_PEER = 8192  # PyTorch would need tens of gigabytes beyond


def measure(bench, length, kind, goal):
    peer = Peer("attention", bench.settings)
    ours_once = lambda: run([bench.attention, str(length), kind, str(bench.threads)], KEEP_MEMORY).numbers()
    peer.choose(length, kind)
    ours, theirs = [], []
    for _ in range(bench.repeats):
        ours.append(ours_once())
        theirs.append(peer.call(length, kind).numbers())
    name = f"attention {length} {kind}"
    for what in ("loss", "gradient"):
        same(name, what, ours[0][what], theirs[0][what], 1e-3)
    median = lambda key: statistics.median(one[key] for one in ours)
    kept = peer.call(length, kind, environment=KEEP_MEMORY).numbers()["seconds"]
    note(f"{name}: PyTorch that keeps its memory: {kept * 1e3:.0f} ms, ratio {kept / median('seconds'):.2f}; "
         f"weights of 64 rows of a head cost {median('weights') / median('forward'):.1%} of the forward pass")
    losses = [f"{side[0]['loss']:.7g}" for side in (ours, theirs)]
    bench.below.add(name + " (memory: what it adds)", "loss", losses, ours[0]["bytes"], theirs[0]["bytes"], peer.setting.name)
    title = f"attention, 8 heads of 64, {length:,} tokens{', causal' if kind == 'causal' else ''}: ms forward and backward"
    return Row(title, 1e3, [one["seconds"] for one in ours], [one["seconds"] for one in theirs], goal, median("floor"))


def memory(bench, lengths):
    """MiB that forward and backward add: (length, ours, PyTorch's)."""
    peer = Peer("attention", bench.settings[-1:])
    for length in lengths:
        ours = run([bench.attention, str(length), "full", str(bench.threads)], KEEP_MEMORY).numbers()["bytes"]
        theirs = peer.call(length, "full").numbers()["bytes"] if length <= LONGEST_PEER else None
        yield length, ours, theirs
