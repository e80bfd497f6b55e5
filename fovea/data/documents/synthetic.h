// Synthetic texts with a class for the task `documents`, each praise or blame, and the words in
// them that decide.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/documents/reader.h"
#include "fovea/data/draw.h"
#include "fovea/tensor/answer_kind.h"

namespace fovea {

/// Short reviews of films. What the writer says in the first person decides ("I found it dull", "I
/// was not bored"); what others say of it, and plain facts, stand around it and decide nothing.
/// Decisive are the writer's own judgement and the "not" in front of it. A model that only counts
/// kind words goes wrong, one that sees who judges reaches 100 %.
struct SyntheticTextsOptions : DrawOptions {
  SyntheticTextsOptions() : DrawOptions{4000, 500, 500} {}
  int64_t maximum_sentences = 4;
  double negated = 0.15;  // share of the judgements with a "not"
  void describe(OptionList& list);
};

/// Longer ones for hierarchical models: evenings in a restaurant. One or two sentences hold the
/// writer's own verdict and decide; in them, one word does ("After so many kind reports the soup
/// was dreadful"). All else decides nothing: facts, and what others say, in the same words.
/// With `context` no word is kind or unkind by itself: cold beer and warm soup are praise, warm
/// beer and cold soup blame (the argument of Yang et al. 2016 for attention that sees the context).
/// Then the thing decides together with the word for it.
struct SyntheticDocumentsOptions : DrawOptions {
  SyntheticDocumentsOptions() : DrawOptions{4000, 500, 500} {}
  int64_t sentences = 8;  // at most
  bool context = false;
  void describe(OptionList& list);
};

/// All texts are different, so none is in two splits. InvalidArgument when there are not as many.
SplitRows<LabelledText> draw_texts(const SyntheticTextsOptions& options);
SplitRows<LabelledText> draw_documents(const SyntheticDocumentsOptions& options);

/// Other answers to the same texts. Several labels: praise or blame, and long for more than two
/// sentences. A number: 1 for praise and -1 for blame, by the number of sentences.
void answer_otherwise(AnswerKind kind, SplitRows<LabelledText>& rows);

/// A sentence of either, in ASCII, and the words of it that decide.
struct SyntheticSentence {
  std::string text;
  std::vector<Span> decisive = {};
};
/// The sentences with blanks between them.
LabelledText join_sentences(const std::vector<SyntheticSentence>& sentences, bool praise);

}  // namespace fovea
