// Answers to questions, as the official scripts of SQuAD 1.1 and 2.0 count them (Rajpurkar et al.
// 2016, 2018). Both texts lose case, punctuation, articles (a, an, the) and extra white space; then
//   exact match   1 where they are the same
//   F1            of the words that both have, each as often as in the text that has it less often
// each against the right answer that fits best. Case is that of Latin, Greek and Cyrillic letters.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fovea {

/// "The  Eiffel-Tower!" -> "eiffeltower".
std::string normalise_answer(std::string_view answer);

struct AnswerScore {
  double exact_match = 0, f1 = 0;
};

/// `found` is empty for "no answer"; `right` holds no text for a question that has none. With
/// `may_refuse`, as 2.0 counts: right answers of articles alone are left out, and two texts without
/// words agree.
AnswerScore score_answer(std::string_view found, std::span<const std::string> right,
                         bool may_refuse);

}  // namespace fovea
