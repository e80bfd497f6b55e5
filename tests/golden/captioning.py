"""Reference numbers for ROUGE-L and CIDEr-D, from their published definitions: python3 tests/golden/captioning.py > tests/golden/captioning.json

Vectors over all n-grams at once, the longest common subsequence by its recursion; needs nothing but Python."""
import functools
import json
import math
import random
import re
from collections import Counter


def words(text):
    return re.findall(r"[a-z0-9]+(?:['-][a-z0-9]+)*", text.lower())


def common(a, b):
    @functools.lru_cache(None)
    def longest(i, j):
        if i == len(a) or j == len(b):
            return 0
        if a[i] == b[j]:
            return 1 + longest(i + 1, j + 1)
        return max(longest(i + 1, j), longest(i, j + 1))
    return longest(0, 0)


def rouge(output, references, beta=1.2):
    shared = [(common(output, reference), len(reference)) for reference in references]
    precision = max(length / len(output) for length, _ in shared) if output else 0
    recall = max(length / size for length, size in shared)
    return (1 + beta**2) * precision * recall / (recall + beta**2 * precision) if precision else 0


def grams(items, n):
    return Counter(tuple(items[i:i + n]) for i in range(len(items) - n + 1))


def cider(outputs, references):
    pictures = len(outputs)
    total = 0
    for output, own in zip(outputs, references):
        for n in range(1, 5):
            df = Counter(gram for others in references for gram in {g for r in others for g in grams(r, n)})
            vocabulary = sorted(set(df) | set(grams(output, n)))

            def vector(caption):
                counts = grams(caption, n)
                return [counts[gram] * (math.log(pictures) - math.log(max(1, df[gram]))) for gram in vocabulary]
            mine = vector(output)
            for reference in own:
                theirs = vector(reference)
                product = sum(min(a, b) * b for a, b in zip(mine, theirs))
                norm = math.hypot(*mine) * math.hypot(*theirs)
                near = math.exp(-(len(output) - len(reference))**2 / (2 * 6**2))
                total += near * product / norm / len(own) if norm else 0
    return 10 * total / 4 / pictures


def corpus(outputs, references):
    mine = [words(text) for text in outputs]
    theirs = [[words(text) for text in texts] for texts in references]
    return {"outputs": outputs, "references": references, "cider": cider(mine, theirs),
            "rouge_l": sum(map(rouge, mine, theirs)) / len(mine)}


def main():
    chance = random.Random(7)
    corpora = [corpus(["A dog runs over the grass .", "two men talk", ""],
                      [["a brown dog is running over green grass", "A dog runs."], ["Two men talk on a street!", "men, talking", "two people"],
                       ["a red ball"]])]
    vocabulary = "a the dog cat man woman runs sits over on grass street red blue ball with and near two children".split()
    for pictures in (1, 5, 40):
        def caption():
            return " ".join(chance.choices(vocabulary, k=chance.randint(1, 12)))
        corpora.append(corpus([caption() for _ in range(pictures)], [[caption() for _ in range(chance.randint(1, 5))] for _ in range(pictures)]))
    print(json.dumps({"corpora": corpora}, indent=0))


main()
