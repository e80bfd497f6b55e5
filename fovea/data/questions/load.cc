#include "fovea/data/questions/load.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/tokenisers/wordpiece.h"

namespace fovea {

namespace {

using Questions = SplitRows<QuestionRow>;

Questions draw_rows(const SyntheticQuestionsOptions& options) {
  Questions rows = draw_questions(options);
  rows.hash = hash_of_built_in("questions", options_json(options));
  return rows;
}

void count_question_words(const Rows<QuestionRow>& train, WordCounts& words) {
  std::string last;  // questions about one text follow each other
  train.for_each([&](const QuestionRow& row) {
    words.add(row.question);
    if (row.text != last) words.add(row.text);
    last = row.text;
  });
}

void note_rows(const QuestionDataset& rows, const QuestionsDataOptions& options, const char* split,
               Notes& notes) {
  const std::string all = concat(" of ", format_count(rows.size()), " ", split, " questions ");
  if (rows.windowed() > 0)
    notes.push_back(concat(format_count(rows.windowed()), all, "have texts in windows of ",
                           options.packing.longest, " tokens"));
  if (rows.without_answer() > 0)
    notes.push_back(concat(format_count(rows.without_answer()), all, "have no answer"));
  if (rows.lost() > 0)
    notes.push_back(
        concat(format_count(rows.lost()), all,
               "have an answer that no window holds whole; nothing is learned from it"));
}

}  // namespace

void QuestionsDataOptions::describe(OptionList& list) {
  generator.describe(list);
  packing.describe(list);
  list.add("longest_question", longest_question, "most pieces of a question; the rest is cut")
      .at_least(1);
  vocabulary.describe(list, "training rows");
  describe_held_out(list, validation_fraction, "training questions");
}

Json QuestionCoding::to_json() const {
  return {{"no_answer", may_refuse}};
}

QuestionCoding QuestionCoding::from_json(const Json& json, const std::string& where) {
  QuestionCoding coding;
  coding.may_refuse = Field::root(json, where).at("no_answer").mark();
  coding.fitted = true;
  return coding;
}

Splits load_questions(const DataSource& source, const QuestionsDataOptions& options,
                      QuestionCoding& coding, uint64_t seed) {
  if (source.path.empty()) check_roles(source, {});
  Questions rows = source.path.empty()
                       ? draw_rows(options.generator)
                       : open_questions(source, {"questions", options.validation_fraction, seed,
                                                 !coding.fitted});
  const auto fit = [&](const Questions& all, Notes& notes) {
    if (!coding.tokeniser)
      coding.tokeniser = options.vocabulary.learn(
          [&](WordCounts& words) { count_question_words(all.train, words); });
    notes.push_back(concat(format_count(coding.tokeniser->size()), " pieces"));
    if (coding.fitted) return;
    coding.fitted = true;
    all.train.for_each([&](const QuestionRow& row) { coding.may_refuse |= row.answers.empty(); });
  };
  return encode_splits(rows, fit, [&](Rows<QuestionRow> own, Split split, Notes& notes) {
    auto encoded = std::make_shared<QuestionDataset>(
        std::move(own),
        QuestionEncoder{coding.tokeniser, options.packing, options.longest_question},
        place_of(source, split, "the synthetic questions"));
    note_rows(*encoded, options, kSplitNames[split], notes);
    return encoded;
  });
}

void write_questions_data(const std::filesystem::path& folder,
                          const SyntheticQuestionsOptions& options) {
  write_splits(folder, draw_rows(options), ".jsonl", [](const std::vector<QuestionRow>& rows) {
    std::string content;
    for (const QuestionRow& row : rows) {
      Json answers = Json::array();
      for (const RightAnswer& answer : row.answers)
        answers.push_back({{"text", answer.text}, {"start", answer.start}});
      content += Json{{"question", row.question}, {"text", row.text}, {"answers", answers}}.dump();
      content += '\n';
    }
    return content;
  });
  write_description(folder, "questions", options_json(options), Json::object());
}

}  // namespace fovea
