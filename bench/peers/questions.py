"""BERT fine-tuned for spans in plain PyTorch, as Hugging Face's run_qa example does, beside `fovea train questions --from FOLDER`.

  questions.py DATA FOLDER [--seed 0] [--device cuda]    DATA: train.jsonl and test.jsonl of scripts/results_squad.py

Sizes and rates are those of the task's fine-tuning: 3 epochs of 32 windows, 5e-5 with 100 steps of warm-up falling to 0, windows of 384
tokens that share 128. Prints exact match and F1 as SQuAD's official script counts, and the seconds. Needs transformers and tokenizers.
"""
import argparse
import collections
import json
import os
import re
import string
import time

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import BertConfig, BertForQuestionAnswering

WINDOW, OVERLAP, LONGEST_ANSWER, ROWS, EPOCHS, RATE, WARMUP = 384, 128, 30, 32, 3, 5e-5, 100


def read_rows(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def windows_of(tokenizer, rows):
    """Each window: row, ids, segments, offsets in the text (None outside it), start and end of the first answer (0 where it is elsewhere)."""
    windows = []
    for index, row in enumerate(rows):
        encoding = tokenizer.encode(row["question"].strip(), row["context"])
        answer = row["answers"][0]
        begin = answer.get("start", answer.get("answer_start"))
        stop = begin + len(answer["text"])
        for part in (encoding, *encoding.overflowing):
            inside = [offset if segment == 1 and not special else None
                      for offset, segment, special in zip(part.offsets, part.type_ids, part.special_tokens_mask)]
            places = [i for i, offset in enumerate(inside) if offset]
            start = end = 0
            if places and inside[places[0]][0] <= begin and inside[places[-1]][1] >= stop:
                start = max(i for i in places if inside[i][0] <= begin)
                end = min(i for i in places if inside[i][1] >= stop)
            windows.append((index, part.ids, part.type_ids, inside, start, end))
    return windows


def batch_of(windows, device):
    longest = max(len(one[1]) for one in windows)
    padded = lambda place: torch.tensor([one[place] + [0] * (longest - len(one[place])) for one in windows], device=device)
    keep = torch.tensor([[1] * len(one[1]) + [0] * (longest - len(one[1])) for one in windows], device=device)
    return dict(input_ids=padded(1), token_type_ids=padded(2), attention_mask=keep)


def plain(text):
    """As SQuAD's script compares answers: no case, punctuation, articles, double spaces."""
    text = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def f1(answer, truth):
    answer, truth = plain(answer).split(), plain(truth).split()
    if not answer or not truth:
        return float(answer == truth)
    same = sum((collections.Counter(answer) & collections.Counter(truth)).values())
    return 2 * same / (len(answer) + len(truth))


@torch.no_grad()
def evaluate(model, windows, rows, device):
    best = [(float("-inf"), "")] * len(rows)
    for first in range(0, len(windows), 128):
        some = windows[first : first + 128]
        output = model(**batch_of(some, device))
        for one, starts, ends in zip(some, output.start_logits.log_softmax(-1).cpu(), output.end_logits.log_softmax(-1).cpu()):
            inside = one[3]
            places = torch.tensor([i for i, offset in enumerate(inside) if offset])
            scores = starts[places][:, None] + ends[places][None]
            span = places[None] - places[:, None]
            scores[(span < 0) | (span >= LONGEST_ANSWER)] = float("-inf")
            place = int(scores.argmax())
            start, end = inside[int(places[place // len(places)])], inside[int(places[place % len(places)])]
            if float(scores.max()) > best[one[0]][0]:
                best[one[0]] = float(scores.max()), rows[one[0]]["context"][start[0] : end[1]]
    exact = sum(max(plain(text) == plain(answer["text"]) for answer in row["answers"]) for (_, text), row in zip(best, rows))
    overlap = sum(max(f1(text, answer["text"]) for answer in row["answers"]) for (_, text), row in zip(best, rows))
    return exact / len(rows), overlap / len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    tokenizer = Tokenizer.from_file(os.path.join(arguments.folder, "tokenizer.json"))
    tokenizer.enable_truncation(WINDOW, stride=OVERLAP, strategy="only_second")
    tokenizer.no_padding()
    train, test = (read_rows(os.path.join(arguments.data, name + ".jsonl")) for name in ("train", "test"))
    windows, test_windows = windows_of(tokenizer, train), windows_of(tokenizer, test)

    model = BertForQuestionAnswering(BertConfig.from_json_file(os.path.join(arguments.folder, "config.json")))
    weights = next(name for name in os.listdir(arguments.folder) if name.endswith(".safetensors"))
    body = {name.removeprefix("bert."): value.float() for name, value in load_file(os.path.join(arguments.folder, weights)).items()}
    lacking = model.bert.load_state_dict(body, strict=False).missing_keys
    assert not [name for name in lacking if "position_ids" not in name], lacking
    model.to(arguments.device).train()

    decayed = [value for value in model.parameters() if value.dim() > 1]
    spared = [value for value in model.parameters() if value.dim() == 1]
    optimizer = torch.optim.AdamW([dict(params=decayed, weight_decay=.01), dict(params=spared, weight_decay=0)], lr=RATE)
    steps = EPOCHS * -(-len(windows) // ROWS)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) / WARMUP, (steps - step) / max(1, steps - WARMUP)))
    begin = time.perf_counter()
    for _ in range(EPOCHS):
        for some in torch.randperm(len(windows)).split(ROWS):
            some = [windows[i] for i in some.tolist()]
            truth = dict(start_positions=torch.tensor([one[4] for one in some], device=arguments.device),
                         end_positions=torch.tensor([one[5] for one in some], device=arguments.device))
            optimizer.zero_grad()
            model(**batch_of(some, arguments.device), **truth).loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
            optimizer.step()
            schedule.step()
    if arguments.device == "cuda":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - begin
    exact, overlap = evaluate(model.eval(), test_windows, test, arguments.device)
    print(f"PyTorch seed {arguments.seed} exact_match {exact:.4f} f1 {overlap:.4f} seconds {seconds:.0f}")


if __name__ == "__main__":
    main()
