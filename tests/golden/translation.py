"""Reference numbers for BLEU and chrF, from their published definitions: python3 tests/golden/translation.py > tests/golden/translation.json

mteval-v13a's rules as regular expressions, counts as Counters of tuples; needs nothing but Python."""
import json
import math
import random
import re
import string
from collections import Counter

ALONE = re.escape("".join(sorted(set(string.punctuation) - set("'-.,"))))
RULES = [(re.compile("([" + ALONE + "])"), r" \1 "), (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
         (re.compile(r"([.,])([^0-9])"), r" \1 \2"), (re.compile(r"([0-9])(-)"), r"\1 \2 ")]


def thirteen_a(text):
    for old, new in [("<skipped>", ""), ("-\n", ""), ("\n", " "), ("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")]:
        text = text.replace(old, new)
    text = " " + text + " "
    for rule, replacement in RULES:
        text = rule.sub(replacement, text)
    return text.split()


TOKENISERS = {"13a": thirteen_a, "none": str.split, "char": lambda text: [c for c in text if not c.isspace()]}


def grams(items, n):
    return Counter(tuple(items[i:i + n]) for i in range(len(items) - n + 1))


def bleu(outputs, references, tokenisation="13a", lowercase=False, effective_order=False):
    def tokens(text):
        return TOKENISERS[tokenisation]((text.lower() if lowercase else text).rstrip())

    hits, totals, length, reference_length = [0] * 4, [0] * 4, 0, 0
    for output, texts in zip(outputs, references):
        output, texts = tokens(output), [tokens(text) for text in texts]
        length += len(output)
        reference_length += min((abs(len(text) - len(output)), len(text)) for text in texts)[1]
        for n in range(4):
            most = Counter()
            for text in texts:
                most |= grams(text, n + 1)
            found = grams(output, n + 1)
            hits[n] += sum((found & most).values())
            totals[n] += sum(found.values())
    penalty = 1.0 if length >= reference_length else math.exp(1 - reference_length / length) if length else 0.0
    precisions, halvings = [0.0] * 4, 0
    for n in range(4):
        if any(hits) and totals[n]:
            halvings += hits[n] == 0
            precisions[n] = 100 * (hits[n] or 0.5 ** halvings) / totals[n]
    used = [p for n, p in enumerate(precisions) if totals[n] or not effective_order]
    score = penalty * math.prod(used) ** (1 / len(used)) if used else 0.0
    return {"score": score, "precisions": precisions, "brevity_penalty": penalty,
            "output_length": length, "reference_length": reference_length}


def separated(text):
    for word in text.split():
        if len(word) > 1 and word[-1] in string.punctuation:
            yield from (word[:-1], word[-1])
        elif len(word) > 1 and word[0] in string.punctuation:
            yield from (word[0], word[1:])
        else:
            yield word


def chrf(outputs, references, characters=6, words=0, beta=2):
    def all_grams(text):
        letters = "".join(text.split())
        return [grams(letters, n) for n in range(1, characters + 1)] + [grams(list(separated(text)), n) for n in range(1, words + 1)]

    def f(rows):
        used = [(common / out, common / ref) for out, ref, common in rows if out and ref]
        if not used or not any(p + r for p, r in used):
            return 0.0
        precision, recall = (sum(column) / len(used) for column in zip(*used))
        return 100 * (1 + beta ** 2) * precision * recall / (beta ** 2 * precision + recall)

    sums = [[0, 0, 0] for _ in range(characters + words)]
    for output, texts in zip(outputs, references):
        found = all_grams(output)
        against = [[(sum(o.values()) if r else 0, sum(r.values()), sum((o & r).values())) for o, r in zip(found, all_grams(text))]
                   for text in texts]
        best = max(against, key=f)  # the first of equals
        sums = [[a + b for a, b in zip(left, right)] for left, right in zip(sums, best)]
    return f(sums)


WORDS = """the a dog man house of in 3.14 1,000 1990-2000 10-year don't well-known U.S. e.g. (maybe) "yes" &quot;no&quot; AT&amp;T &lt;b&gt;
&amp;lt; 50% $5 a/b x=y [1] {z} ~5 über Straße Ärger naïve Œuvre Ελλάδα καλημέρα Привет МОСКВА ёлка 東京 駅 🙂 ... ,, 5. .5 -3 3- —
«guillemets» ’tis wait... no, yes! why? a:b;c #tag @me back\\slash under_score tick`s ^up 1.2.3 1,2,x <skipped> 日本。""".split()
BLANKS = [" "] * 12 + ["  ", "\t", "\u00a0", "\u2009", "\u3000", "\u2028", "\x1f", "-\n", "\n"]
rng = random.Random(11)


def sentence(length):
    return "".join(rng.choice(WORDS) + rng.choice(BLANKS) for _ in range(length))


def altered(text):
    parts = re.split(r"(\s+)", text)
    for _ in range(rng.randint(0, 3)):
        parts[rng.randrange(len(parts))] = rng.choice(WORDS)
    if rng.random() < 0.3:
        parts = parts[: rng.randint(1, len(parts))]
    text = "".join(parts)
    return text.swapcase() if rng.random() < 0.1 else text


corpora = []
for size, most in [(1, 1), (4, 1), (12, 1), (12, 3), (30, 2)]:
    references = [[sentence(rng.randint(1, 14)) for _ in range(rng.randint(1, most))] for _ in range(size)]
    outputs = [altered(rng.choice(texts)) for texts in references]
    corpora.append((outputs, references))
corpora.append((["", "the dog"], [["a man"], ["the dog", ""]]))  # empty texts
corpora.append((["cat cat cat"], [["the dog ran in the house"]]))  # nothing in common
corpora.append((["the dog", "a man"], [["the dog"], ["a man"]]))  # too short for four tokens


def sigma_free(text):  # only a final sigma and İ are lowered differently by intention
    return "Σ" not in text and "İ" not in text


assert all(sigma_free(text) for outputs, references in corpora for text in outputs + sum(references, []))
cases = []
for outputs, references in corpora:
    cases.append({
        "outputs": outputs, "references": references,
        "bleu": [dict(tokenisation=t, lowercase=l, **bleu(outputs, references, t, l)) for t in TOKENISERS for l in (False, True)],
        "sentence_bleu": [bleu([o], [r], effective_order=True)["score"] for o, r in zip(outputs, references)],
        "chrf": [{"characters": c, "words": w, "beta": b, "score": chrf(outputs, references, c, w, b)}
                 for c, w, b in [(6, 0, 2), (6, 2, 2), (6, 0, 3), (3, 1, 1), (0, 2, 2)]],
        "sentence_chrf": [chrf([o], [r]) for o, r in zip(outputs, references)]})

texts = [sentence(rng.randint(1, 20)) for _ in range(40)]
lowered = [ord(c.lower()) if len(c.lower()) == 1 else ord("i") for c in map(chr, list(range(0x180)) + list(range(0x386, 0x3CF)) + list(range(0x400, 0x530)))]
print(json.dumps({
    "corpora": cases,
    "tokens_13a": [{"text": text, "tokens": thirteen_a(text)} for text in texts],
    "white_space": [c for c in range(0x110000) if chr(c).isspace()],
    "lowered": lowered,
}))
