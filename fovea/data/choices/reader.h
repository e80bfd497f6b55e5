// Questions with several answers to choose from, one of which is right: SWAG, RACE, CommonsenseQA,
// ARC, COPA, HellaSwag, MMLU. CSV, TSV or JSON (json_rows.h), each perhaps with .gz:
//   {"context": "…", "question": "…", "choices": ["…", "…"], "answer": 0}
// The context may be missing. Names as others have them are known, choices may also be
// {"text": […], "label": […]}, a list of {"text", "label"}, an object by label, or keys and columns
// of their own (choice0, ending1, optionA, A). The answer is a number counted from 0, a label, a
// letter, or the text of a choice. docs/formats/choices.md states the rules and what is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fovea/data/load.h"
#include "fovea/tensor/attention_map.h"

namespace fovea {

constexpr size_t kMostChoices = 100;

struct ChoiceRow {
  std::string context;   // "" where there is none
  std::string question;  // "" where the choices go on with the context
  std::vector<std::string> choices;
  int64_t answer = -1;  // which of them, from 0; -1: not said
  // Where it is known what decides: code points of the context and of the right choice.
  std::vector<Span> decisive_context = {}, decisive_choice = {};

  bool operator==(const ChoiceRow&) const;
};

struct ChoiceReading {
  Roles roles = {};             // context, question, choice, answer, split
  std::string quotes = "auto";  // yes, no; auto: quotes are text in a TSV and quote in a CSV
  int64_t max_bytes = int64_t{4} << 30;       // of one file, unpacked
  std::vector<std::string>* found = nullptr;  // is given the columns of a table that hold an input
};

/// One row as a user gives it, an answer or none. BadData that begins with `place`.
ChoiceRow parse_choices(const SortedJson& row, const std::string& place);

/// BadData with the place of what is wrong: fewer than two choices, an answer that is not among
/// them, no question.
FileRows<ChoiceRow> read_choices(const std::filesystem::path& path, const ChoiceReading& reading,
                                 const RowSink<ChoiceRow>& sink = {});

/// Opens a file or folder; all questions about one context are held out together.
SplitRows<ChoiceRow> open_choices(const DataSource& source, const SplitOptions& split,
                                  ChoiceReading reading);

/// The row as the generator's files have it.
Json choices_json(const ChoiceRow& row);

}  // namespace fovea
