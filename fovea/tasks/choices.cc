// The task `choices`: multiple choice. A question, perhaps about a text, comes with several
// answers, one of which is right; BERT reads the question with each of them and says how well it
// fits.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/choices/load.h"
#include "fovea/models/bert_chooser.h"
#include "fovea/tasks/asset.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/choice.h"
#include "fovea/tasks/pretrained.h"

namespace fovea {

namespace {

class ChoicesData : public CodedData<ChoicesDataOptions, ChoiceCoding> {
 public:
  ChoicesData() : CodedData("choices.json") {}

  /// Answers with the network that was read.
  void open(const PretrainedBert& chooser) {
    coding_ = {chooser.tokeniser, {}, true};
    options_.packing.longest = std::min(options_.packing.longest, chooser.options.maximum_length);
  }
  void describe(OptionList& list) override { options_.describe(list); }
  Splits load(const DataSource& source, uint64_t seed) override {
    return load_choices(source, options_, coding_, seed);
  }
  void write(const std::filesystem::path& folder) const override {
    write_choices_data(folder, options_.generator);
  }

  /// {"question": …, "choices": [ … ]} as reader.h has it, or the question and each choice with
  /// tabs between them.
  Example parse(const std::string& line) const override {
    if (is_json_object(line))
      return encoder().example(parse_choices(parse_sorted_json(line, "input"), "input"));
    const std::vector<std::string> cells = split(line, '\t');
    require(cells.size() >= 3, ErrorKind::BadData,
            "input: expected a question and two choices or more, with tabs between them, or "
            "{\"question\": …, \"choices\": [ … ]}");
    const SortedJson row{{"question", cells[0]},
                         {"choices", std::vector(cells.begin() + 1, cells.end())}};
    return encoder().example(parse_choices(row, "input"));
  }
  InputColumns input_columns(const Roles& roles) const override {
    InputColumns columns{{"question", "choices"}, {"id", "context"}, {}};
    if (!coding_.columns.empty()) columns.needed = coding_.columns;
    for (const char* name : {"answer", "label", "answerKey", "split"})
      columns.known.push_back(name);
    for (const char* role : {"answer", "target", "split"})
      if (const auto found = roles.find(role); found != roles.end())
        columns.known.insert(columns.known.end(), found->second.begin(), found->second.end());
    columns.quotes = options_.quotes;
    return columns;
  }
  Json input_schema() const override {
    const Json text{{"type", "string"}, {"contentMediaType", "text/plain"}};
    return {{"type", "object"},
            {"properties",
             {{"context", text},
              {"question", text},
              {"choices", {{"type", "array"}, {"items", text}, {"minItems", 2}}}}},
            {"required", {"question", "choices"}}};
  }
  Batch collate(std::span<const Example> examples) const override {
    return encoder().collate(examples);
  }

 private:
  ChoiceEncoder encoder() const { return {coding_.tokeniser, options_.packing}; }
};

TrainingOptions chooser_training() {
  TrainingOptions options = bert_training();
  options.epochs = 6;
  options.monitor = {"accuracy"};
  options.usual_steps = 2000;
  return options;
}

}  // namespace

static std::unique_ptr<Task> make_choices_task() {
  const auto pretrained = std::make_shared<PretrainedBert>();
  const auto data = std::make_shared<PieceData<ChoicesData>>(pretrained);
  const auto options = std::make_shared<BertChooserOptions>();
  ModelSpec spec = model_spec(
      {"bert"}, options, chooser_training(),
      [data](const BertChooserOptions& own) {
        return std::make_unique<BertChooser>(own, data->coding().tokeniser->size(),
                                             data->options().packing.longest);
      },
      [] {
        return ExplainTitles{"Where BERT looks while it reads a question with its choices",
                             {{"attention", "tokens look at tokens"}}};
      });
  spec.fine_tuning = [] {  // as Devlin et al. 2019 for SWAG
    TrainingOptions training = chooser_training();
    training.epochs = 3;
    training.batch_size = 16;
    training.learning_rate = 2e-5;
    training.usual_steps = 1500;
    training.fewest_epochs = 3;
    training.most_epochs = 10;
    return training;
  };
  accept_pretrained(spec, options, data, pretrained, EncoderHead::Choice);
  return std::make_unique<Task>("choices", data, std::make_shared<ChoiceOutput>(),
                                std::vector{std::move(spec)});
}

TaskRow choices_task() {
  return {"choices", "which of several answers to a question is right: multiple choice",
          "token -> token",
          "CSV, TSV or JSONL with a question, perhaps a context, choices and the answer; a folder "
          "of such",
          make_choices_task};
}

}  // namespace fovea
