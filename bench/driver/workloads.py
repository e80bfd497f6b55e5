"""Every training step that is timed, in one table. `goal` is how many times faster than the peer we want to be."""
import functools
import typing

from driver import data_files
from driver.processes import Setting


class Work(typing.NamedTuple):
    """The first of `epochs` epochs is warm-up; an epoch has `units` of what is reported."""

    name: str
    title: str
    goal: object
    task: str
    peer: str
    units: int = 1
    scale: float = 1e3  # from seconds to what the title says
    epochs: int = 2
    write: object = None  # writes the data into a folder; None: the task's built-in data
    ours_reads: str = ""  # the file in it that ours is given, instead of all
    data_options: tuple = ()  # of the built-in data
    options: tuple = ()
    same_loss: tuple = ()  # further options for the comparison of losses
    evaluates: bool = False  # the peer can also evaluate a run
    beside: str = ""  # a further mode of the peer whose time is worth a note
    dense: bool = False  # large matrix products: timed in bf16 too
    fast: tuple = ()  # options that are used for timing where the program has them
    settings: tuple = ()  # of the peer, instead of those of the machine


def assigned(*settings):
    return tuple(part for setting in settings for part in ("--set", setting))


def recurrent(name, title, goal, options, **more):
    """A seq2seq model without dropout. It reads `source` symbols and writes `target`, the end included."""
    return Work(name, title, goal, peer="seq2seq", options=assigned("model.dropout=0", *options), **more)


def additive(cell, hidden, *more):
    """Attention inside of the recurrence (Bahdanau et al. 2015), each direction of the encoder as wide as the decoder."""
    return (f"model.cell={cell}", f"model.hidden={hidden}", f"model.encoder_hidden={hidden}", f"model.score_hidden={hidden}",
            "model.decoder=bahdanau", "model.score=additive", *more)


def dates(hidden, goal, steps, options, how):
    return recurrent(f"dates-lstm-{hidden}{'' if how == 'additive' else '-' + how}",
                     f"dates, LSTM {hidden}, {how} score, 64 x 30 → 12: ms a step", goal, options, task="dates", units=steps,
                     write=functools.partial(data_files.write_characters, rows=64 * steps, source=30, target=12))


def rnnsearch(goal, steps):
    options = additive("gru", 256, "model.embedding=256", "model.readout=linear", "data.tokens=words", "training.batch_size=64")
    return recurrent("rnnsearch", "RNNsearch, GRU 256, vocabulary 8,000, 64 x 15: ms a step", goal, options, task="translate", units=steps,
                     write=functools.partial(data_files.write_words, rows=64 * steps, words=15, different=7996, symbols=16))


def transformer(layers, hidden, goal, rows, words, steps, different=7996):
    settings = ("model.name=transformer", "data.tokens=words", f"data.vocabulary_size={different + 4}", f"training.batch_size={rows}",
                f"model.layers={layers}", f"model.hidden={hidden}")
    return Work(f"transformer-{layers}x{hidden}", f"Transformer {layers} x {hidden}, vocabulary 8,000, {rows} x {words}: ms a step", goal, "translate",
                "transformer", units=steps, write=functools.partial(data_files.write_words, rows=rows * steps, words=words, different=different),
                options=assigned(*settings), same_loss=assigned("model.dropout=0", "model.attention_dropout=0"), dense=True)


def han(goal, rows, sentences, words, steps):
    settings = ("model.name=han", "data.minimum_count=1", f"training.batch_size={rows}", "training.schedule=constant")
    return Work("han", f"HAN, GRU 50, {rows} x {sentences} x {words}: ms a step", goal, "documents", "han", units=steps,
                write=functools.partial(data_files.write_documents, rows=rows * steps, sentences=sentences, words=words, different=10000),
                options=assigned(*settings), same_loss=assigned("model.dropout=0"))


def gat(goal, nodes, edges):
    """A random graph of Cora's size. Ours computes what the loss of the training nodes depends on; the peer, as its users do, all nodes."""
    return Work("gat", "GAT, a graph of Cora's size, 8 heads of 8: ms an epoch", goal, "graph", "gat", epochs=60,
                write=functools.partial(data_files.write_graph, nodes=nodes, edges=edges, features=1433, each=18, classes=7),
                same_loss=assigned("model.dropout=0", "model.attention_dropout=0", "model.value_dropout=0"), beside="sparse")


CPU = (
    Work("features", "feature attention, 70,000 rows, batch 128: ms an epoch", 60, "features", "features", epochs=6,
         options=assigned("model.name=tutorial", "data.numbers=standard")),
    Work("context", "context attention, batch 1: us a row", 1500, "context", "context", units=10000, scale=1e6, epochs=6),
    Work("dates", "dates as they come, GRU 128, general score, batch 64: ms a step", "-", "dates", "seq2seq", units=100,
         data_options=assigned("data.rows=6400"), evaluates=True),
    dates(64, 4, 40, additive("lstm", 64), "additive"),
    dates(256, 1.8, 20, additive("lstm", 256), "additive"),
    dates(64, "-", 40, ("model.cell=lstm", "model.hidden=64"), "general"),
    dates(256, "-", 20, ("model.cell=lstm", "model.hidden=256"), "general"),
    rnnsearch(1.2, 10),
    han(1.8, rows=64, sentences=9, words=17, steps=20),
    transformer(3, 256, 1.4, rows=64, words=15, steps=15),
    transformer(6, 512, 1.2, rows=32, words=30, steps=9),
    gat(15, nodes=2708, edges=5278),
)

GPU_SETTINGS = {name: Setting(name, ("--device", "cuda", *options)) for name, options in {
    "eager, TF32": (), "eager, bf16": ("--precision", "bf16"), "compiled, bf16": ("--precision", "bf16", "--compile")}.items()}

# The peer is PyTorch at the fastest of the settings named; the times of all of them are noted.
GPU = (
    recurrent("gpu-rnnsearch", "RNNsearch 1,000/620, vocabulary 30,000, 80 x 30: ms a step", 4,
              additive("gru", 1000, "model.embedding=620", "model.readout=maxout", "model.readout_size=500", "model.readout_from=previous",
                       "model.bridge=backward", "data.tokens=words", "data.vocabulary_size=30000", "training.batch_size=80"),
              task="translate", units=30, epochs=3, ours_reads="prepared.safetensors",
              write=functools.partial(data_files.write_prepared_words, rows=80 * 30, words=30, different=29996),
              fast=("--precision", "bf16", *assigned("training.path=fused")), settings=(GPU_SETTINGS["eager, TF32"], GPU_SETTINGS["eager, bf16"])),
    transformer(6, 512, 1.2, rows=128, words=64, steps=30, different=31996)._replace(
        name="gpu-transformer", title="Transformer base, 6 x 512, vocabulary 32,000, 128 x 64: ms a step", epochs=3, ours_reads="prepared.safetensors",
        write=functools.partial(data_files.write_prepared_words, rows=128 * 30, words=64, different=31996),
        fast=("--precision", "bf16", *assigned("training.path=fused")), settings=(GPU_SETTINGS["eager, bf16"], GPU_SETTINGS["compiled, bf16"])),
)
