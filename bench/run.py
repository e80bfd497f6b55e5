"""Our speed beside PyTorch's, in one run. See bench/README.md. Called by ./dev bench."""
import argparse
import glob
import os
import tempfile
import types

from driver import attention, whole_program, workloads
from driver.peaks import Peaks
from driver.processes import cpu_settings, run
from driver.table import Below, print_cells, print_header
from driver.training import Training
from driver.writing import MODELS, Writing

BLAS_FOLDERS = "/usr/lib/*/openblas-*/"  # where Debian installs them


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fovea", required=True, help="the program")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="the most threads that either side may use")
    parser.add_argument("--only", action="append", metavar="ROW", help="this row instead of all; may be given again")
    parser.add_argument("--gpu", action="store_true", help="the rows of a GPU instead")
    parser.add_argument("--empty", help="the empty LibTorch program")
    parser.add_argument("--attention", help="the program bench_attention")
    parser.add_argument("--blas", action="append", default=[], metavar="FOLDERS", help="folders (a pattern) of further BLAS libraries for the peer")
    parser.add_argument("--models", metavar="FOLDER", help="where the models that write are kept for the next time")
    return parser.parse_args()


def make_bench(arguments, place):
    """What all rows share."""
    device = "cuda" if arguments.gpu else "cpu"
    fovea = os.path.abspath(arguments.fovea)
    blas = [os.path.abspath(folder) for pattern in (BLAS_FOLDERS, *arguments.blas) for folder in sorted(glob.glob(pattern))]
    return types.SimpleNamespace(
        fovea=fovea, attention=arguments.attention, place=place, repeats=arguments.repeats, threads=arguments.threads, models=arguments.models,
        corpora=os.environ.get("FOVEA_DATA", "../shared/data"),
        ours=("--device", "cuda") if arguments.gpu else ("--threads", str(arguments.threads)),
        settings=cpu_settings(arguments.threads, blas),
        peaks=Peaks(1 if arguments.gpu else arguments.threads, device, "bf16" if arguments.gpu else "float32"), below=Below(),
        has_precision="--precision" in run([fovea, "train", "--help"]).text)


def rows_of(bench, arguments):
    """Each row's name and the work that makes it."""
    training = lambda work: lambda: Training(bench, work).measure()
    if arguments.gpu:
        return {work.name: training(work) for work in workloads.GPU}
    rows = {work.name: training(work) for work in workloads.CPU}
    if bench.attention:
        for length, kind, goal in attention.ROWS:
            rows[f"attention-{length}-{kind}"] = lambda length=length, kind=kind, goal=goal: attention.measure(bench, length, kind, goal)
    for model in MODELS:
        rows["beam-" + model] = lambda model=model: Writing(bench, model).measure()
        rows["bf16-beam-" + model] = lambda model=model: where_bf16(bench, "beam-4 decoding in bf16", lambda: Writing(bench, model, "bf16").measure())
    for work in workloads.CPU:
        if work.dense:
            rows["bf16-" + work.name] = lambda work=work: where_bf16(
                bench, work.title + ", in bf16", lambda: Training(bench, work._replace(name=work.name + "-bf16")).measure_bf16())
    return rows


def where_bf16(bench, title, measure):
    """None where the program or the processor cannot, after a row that says so."""
    with open("/proc/cpuinfo") as file:
        multiplies = "avx512_bf16" in file.read()
    if bench.has_precision and multiplies:
        return measure()
    why = "the program has no --precision" if not bench.has_precision else "this processor has no AVX-512 BF16"
    print_cells((title, "not measured: " + why, "", "", "", "", ""))
    return None


def print_notes(bench, arguments):
    """Below the table, of a whole run."""
    bench.below.print()
    print()
    notes = [*bench.peaks.report()] if bench.peaks.taken else []
    if not arguments.only and not arguments.gpu:
        if bench.attention:
            for length, ours, theirs in attention.memory(bench, (2048, 8192)):
                notes.append(f"attention, {length:,} tokens: forward and backward add {ours / 2**20:,.0f} MiB; PyTorch {theirs / 2**20:,.0f}")
        if arguments.empty:
            notes.append(whole_program.start_up(bench, arguments.empty))
        notes.append(whole_program.installed_size(os.path.dirname(bench.fovea)))
    for line in notes:
        print("- " + line)


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as place:
        bench = make_bench(arguments, place)
        rows = rows_of(bench, arguments)
        chosen = arguments.only or list(rows)
        unknown = [name for name in chosen if name not in rows]
        if unknown:
            raise SystemExit(f"there is no row {', '.join(unknown)}; there are: {', '.join(rows)}")
        print_header()
        for name in chosen:
            row = rows[name]()
            if row:
                print_cells(row.cells())
        print_notes(bench, arguments)


if __name__ == "__main__":
    main()
