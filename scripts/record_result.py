"""Writes docs/results/NAME.json: what `./dev results NAME` ran, where and when, and what it printed (standard input), and puts what it printed into
docs/results.md between <!-- results NAME --> and <!-- end -->. tests/cli/results_test.cc compares the page with these files.
usage: record_result.py NAME SECONDS PROGRAM
       record_result.py NAME    the page alone, from the file"""
import ast
import datetime
import json
import os
import re
import subprocess
import sys


def read(path):
    with open(path) as file:
        return file.read()


def write(path, text):
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)
    print(f"written: {path}", file=sys.stderr)


def printed_block(record):
    """Tables as they are, all else in a frame of its own; without the first heading, which the page has."""
    lines, framed = [], False
    for line in record["output"][record["output"][0].startswith("== "):]:
        plain = line.startswith("|") or not line.strip()
        if framed == plain:
            lines.append("```")
            framed = not framed
        lines.append(line)
    lines += ["```"] if framed else []
    return "\n".join(lines).strip() + f"\n\n{record['date']}, {record['program']} ({record['commit']}), {record['machine']}, {record['seconds']:,} s in all."


def write_page(name, record):
    page = read("docs/results.md")
    begin, end = f"<!-- results {name} -->\n", "<!-- end -->"
    if begin in page:
        before, rest = page.split(begin, 1)
        write("docs/results.md", before + begin + printed_block(record) + "\n" + rest[rest.index(end):])


def functions_of(script, read_script=read):
    """Of each scripts/results_*.py that a section calls: what its command uses of the file's functions and constants, {file: {name: text}}."""
    used = {}
    for path, command in re.findall(r"(scripts/results_\w+\.py)(?: (\w+))?", script):
        text = read_script(path)
        parts = {}
        for node in ast.parse(text).body:
            names = [node.name] if isinstance(node, ast.FunctionDef) else [one.id for one in node.targets if isinstance(one, ast.Name)] if isinstance(node, ast.Assign) else []
            parts.update((one, node) for one in names)
        own, left = used.setdefault(path, {}), [command if command in parts else "main"]
        while left:
            part = left.pop()
            if part in own:
                continue
            own[part] = ast.get_source_segment(text, parts[part])
            nodes = list(ast.walk(parts[part]))
            own_names = {node.arg for node in nodes if isinstance(node, ast.arg)} | {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            left += sorted({node.id for node in nodes if isinstance(node, ast.Name)} & set(parts) - own_names)
        used[path] = dict(sorted(own.items()))
    return used


name = sys.argv[1]
path = f"docs/results/{name}.json"
if len(sys.argv) == 2:
    write_page(name, json.loads(read(path)))
    sys.exit(0)
seconds, program = sys.argv[2:]
output = sys.stdin.read().strip().split("\n")
if not "".join(output):
    sys.exit(0)  # its data are not here

with open("scripts/results.sh") as file:
    script = re.search(rf"^{re.escape(name)}\(\) \{{\n(.*?)^\}}$", file.read(), re.M | re.S).group(1)


def line_of(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


device = os.environ.get("FOVEA_DEVICE", "cpu")
processor = re.search(r"model name\s*: (.*)", read("/proc/cpuinfo"))
record = {
    "command": f"./dev results {name}",
    "script": script.strip().split("\n"),
    "functions": functions_of(script),
    "configs": {path: read(path) for path in sorted(set(re.findall(r"configs/[\w.-]+\.json", script)))},
    "commit": line_of("git", "rev-parse", "--short", "HEAD") + ("" if not line_of("git", "status", "--porcelain", "--", "fovea", "cli", "scripts", "configs") else ", with changes"),
    "date": datetime.date.today().isoformat(),
    "program": line_of(program, "--version"),
    "machine": f"{os.cpu_count()} cores, {processor.group(1) if processor else 'unknown'}" + (", " + line_of("nvidia-smi", "--query-gpu=name", "--format=csv,noheader") if device != "cpu" else ""),
    "device": device,
    "seconds": int(seconds),
    "output": output,
}
write(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
write_page(name, record)
