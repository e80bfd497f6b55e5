"""Writes docs/results/NAME.json: what `./dev results NAME` ran, where and when, and what it printed (standard input). tests/cli/results_test.cc compares
docs/results.md with these files. usage: record_result.py NAME SECONDS PROGRAM"""
import datetime
import json
import os
import re
import subprocess
import sys

name, seconds, program = sys.argv[1:]
output = sys.stdin.read().strip().split("\n")
if not "".join(output):
    sys.exit(0)  # its data are not here

with open("scripts/results.sh") as file:
    script = re.search(rf"^{re.escape(name)}\(\) \{{\n(.*?)^\}}$", file.read(), re.M | re.S).group(1)


def read(path):
    with open(path) as file:
        return file.read()


def line_of(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


processor = re.search(r"model name\s*: (.*)", read("/proc/cpuinfo"))
record = {
    "command": f"./dev results {name}",
    "script": script.strip().split("\n"),
    "configs": {path: read(path) for path in sorted(set(re.findall(r"configs/[\w.-]+\.json", script)))},
    "commit": line_of("git", "rev-parse", "--short", "HEAD") + ("" if not line_of("git", "status", "--porcelain", "--", "fovea", "cli", "scripts", "configs") else ", with changes"),
    "date": datetime.date.today().isoformat(),
    "program": line_of(program, "--version"),
    "machine": f"{os.cpu_count()} cores, {processor.group(1) if processor else 'unknown'}",
    "device": os.environ.get("FOVEA_DEVICE", "cpu"),
    "seconds": int(seconds),
    "output": output,
}
path = f"docs/results/{name}.json"
with open(path + ".new", "w") as file:
    json.dump(record, file, indent=1, ensure_ascii=False)
    file.write("\n")
os.replace(path + ".new", path)
print(f"written: {path}", file=sys.stderr)
