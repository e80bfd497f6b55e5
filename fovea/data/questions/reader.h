// Questions about texts, and where in them the answers stand. Files, each perhaps with .gz:
//   .json    of SQuAD 1.1 or 2.0: {"data": [{"paragraphs": [{"context", "qas": [{"id", "question",
//            "answers": [{"text", "answer_start"}], "is_impossible"}]}]}]}
//   .jsonl   {"question", "text" or "context", "answers": [{"text", "start"}], "id", "split"} a
//   line;
//            answers may also be {"text": […], "answer_start": […]}, as Hugging Face's data sets
//            have them. An empty list means that the text has no answer.
// Starts count code points from 0. docs/formats/questions.md
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fovea/data/load.h"
#include "fovea/tensor/attention_map.h"

namespace fovea {

struct RightAnswer {
  std::string text;
  int64_t start = 0;  // in code points
};

struct QuestionRow {
  std::string question, text, id;
  std::vector<RightAnswer> answers;  // the first is learned; none: the text has no answer
};

/// Code points begin … end-1 of valid UTF-8.
std::string cut_code_points(const std::string& text, const Span& span);

/// BadData with the place of what is wrong: an answer that does not stand where it says, a question
/// without a text.
FileRows<QuestionRow> read_questions(const std::filesystem::path& path,
                                     const RowSink<QuestionRow>& sink = {});

/// Opens a file or folder; all questions about one text are held out together.
SplitRows<QuestionRow> open_questions(const DataSource& source, const SplitOptions& split);

}  // namespace fovea
