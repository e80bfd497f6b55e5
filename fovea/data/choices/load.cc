#include "fovea/data/choices/load.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/tokenisers/wordpiece.h"

namespace fovea {

namespace {

using ChoiceSplits = SplitRows<ChoiceRow>;

ChoiceSplits draw_rows(const SyntheticChoicesOptions& options) {
  ChoiceSplits rows = draw_choices(options);
  rows.hash = hash_of_built_in("choices", options_json(options));
  return rows;
}

void count_choice_words(const Rows<ChoiceRow>& train, WordCounts& words) {
  std::string last;  // questions about one context follow each other
  train.for_each([&](const ChoiceRow& row) {
    if (row.context != last) words.add(row.context);
    last = row.context;
    words.add(row.question);
    for (const std::string& choice : row.choices) words.add(choice);
  });
}

}  // namespace

void ChoicesDataOptions::describe(OptionList& list) {
  generator.describe(list);
  list.add("longest", packing.longest,
           "most positions of a question with one of its choices, special tokens included")
      .at_least(8);
  list.add("too_long", packing.too_long, "a longer question or choice is cut, or refused")
      .choices({"cut", "refuse"});
  describe_quotes(list, quotes);
  vocabulary.describe(list, "training rows");
  describe_held_out(list, validation_fraction, "training questions");
}

Json ChoiceCoding::to_json() const {
  return {{"columns", columns}};
}

ChoiceCoding ChoiceCoding::from_json(const Json& json, const std::string& where) {
  ChoiceCoding coding;
  coding.columns = Field::root(json, where).at("columns").texts();
  coding.fitted = true;
  return coding;
}

Splits load_choices(const DataSource& source, const ChoicesDataOptions& options,
                    ChoiceCoding& coding, uint64_t seed) {
  if (source.path.empty()) check_roles(source, {});
  std::vector<std::string> columns;
  ChoiceReading reading;
  reading.quotes = options.quotes;
  reading.found = &columns;
  ChoiceSplits rows =
      source.path.empty()
          ? draw_rows(options.generator)
          : open_choices(source, {"choices", options.validation_fraction, seed, !coding.fitted},
                         reading);
  const auto fit = [&](const ChoiceSplits& all, Notes& notes) {
    if (!coding.tokeniser)
      coding.tokeniser = options.vocabulary.learn(
          [&](WordCounts& words) { count_choice_words(all.train, words); });
    notes.push_back(concat(format_count(coding.tokeniser->size()), " pieces"));
    if (!coding.fitted) coding.columns = columns;
    coding.fitted = true;
  };
  return encode_splits(rows, fit, [&](Rows<ChoiceRow> own, Split split, Notes& notes) {
    auto encoded = std::make_shared<ChoiceDataset>(
        std::move(own), ChoiceEncoder{coding.tokeniser, options.packing},
        place_of(source, split, "the synthetic questions"));
    if (encoded->cut() > 0)
      notes.push_back(concat(format_count(encoded->cut()), " of ", format_count(encoded->size()),
                             " ", kSplitNames[split], " questions were cut to ",
                             options.packing.longest, " tokens; data.longest sets that"));
    return encoded;
  });
}

void write_choices_data(const std::filesystem::path& folder,
                        const SyntheticChoicesOptions& options) {
  write_splits(folder, draw_rows(options), ".jsonl", [](const std::vector<ChoiceRow>& rows) {
    std::string content;
    for (const ChoiceRow& row : rows) content += choices_json(row).dump() + '\n';
    return content;
  });
  write_description(folder, "choices", options_json(options), Json::object());
}

}  // namespace fovea
