// Synthetic questions: a few sentences about people, one of which answers "Where does Anna live?".
// All people have answers to other questions, so that the words of the question must be found in
// the text; of some questions the text does not say the answer.
#pragma once

#include "fovea/data/draw.h"
#include "fovea/data/questions/reader.h"

namespace fovea {

struct SyntheticQuestionsOptions : DrawOptions {
  SyntheticQuestionsOptions() : DrawOptions{4000, 500, 500} {}
  int64_t sentences = 5;    // at most
  double impossible = 0.2;  // share of the questions without an answer
  void describe(OptionList& list);
};

/// All pairs of question and text are different. InvalidArgument when there are not as many.
SplitRows<QuestionRow> draw_questions(const SyntheticQuestionsOptions& options);

}  // namespace fovea
