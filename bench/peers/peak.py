"""What this machine can do: a large matrix product and a large copy, by 1 to THREADS threads.
  peak.py THREADS [cpu|cuda] [float32|bf16]
Prints JSON: a list by threads of flop (a second) and bytes (read and written, a second)."""
import json
import sys

import torch

from common import timed

most, device = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "cpu"
kind = torch.bfloat16 if "bf16" in sys.argv else torch.float32
width, numbers = (2048, 1 << 25) if device == "cpu" else (8192, 1 << 30)
torch.backends.cuda.matmul.allow_tf32 = True


def best_seconds(work):
    def finished():
        work()
        if device != "cpu":
            torch.cuda.synchronize()

    finished()
    return min(timed(finished)[0] for _ in range(7))


left, right = (torch.randn(width, width, device=device).to(kind) for _ in range(2))
product = torch.empty_like(left)
source = torch.ones(numbers, device=device)
copy = torch.empty_like(source)
peaks = []
for threads in range(1, most + 1):
    torch.set_num_threads(threads)
    peaks.append({"flop": 2 * width**3 / best_seconds(lambda: torch.mm(left, right, out=product)),
                  "bytes": 2 * 4 * numbers / best_seconds(lambda: copy.copy_(source))})
print(json.dumps(peaks))
