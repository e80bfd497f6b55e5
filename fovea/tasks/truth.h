// What stands around an answer so that a reader can judge it: the right one, where it is known, and
// the others that the network chose among. From the answers of `fovea predict --json`, so that it
// holds for every task.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/explain/record/explanation.h"

namespace fovea {

/// The right answer beside the one that was given. `truth` is a class, labels with | between them
/// ("(none)": no label), a number, a tag for each word with blanks between them, or a text; nothing
/// where it is empty, or not of that kind. Spans of a text are compared as SQuAD does, "no answer"
/// being one.
std::optional<KnownTruth> compare_truth(const Json& answer, const std::string& truth);

/// The text of a choice that `truth` calls by its number, from 0; else `truth`.
std::string named_choice(const Json& answer, const Prediction& prediction,
                         const std::string& truth);

/// The probabilities of an answer with such, the likeliest first: the first kMostShares, those that
/// were given, and the one called `truth`.
std::vector<AnswerShare> answer_shares(const Json& answer, const Prediction& prediction,
                                       const std::string& truth);

/// What two answers share that are the same one: the class, the labels, the tags, the text; nothing
/// of numbers and vectors, of which no two are alike.
std::optional<std::string> sameness_key(const Json& answer);

/// The same for inputs that are the same: texts, or objects whose values read alike ("39" and 39).
std::string input_key(const Json& input);

}  // namespace fovea
