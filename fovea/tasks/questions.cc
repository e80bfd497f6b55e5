// The task `questions`: the span of a text that answers a question, or that it has no answer. BERT
// reads both together and marks where the answer begins and ends.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/questions/load.h"
#include "fovea/models/bert_reader.h"
#include "fovea/tasks/asset.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/span.h"
#include "fovea/tasks/pretrained.h"

namespace fovea {

namespace {

class QuestionsData : public CodedData<QuestionsDataOptions, QuestionCoding> {
 public:
  QuestionsData() : CodedData("questions.json") {}

  /// Answers with the network that was read.
  void open(const PretrainedBert& reader) {
    coding_ = {reader.tokeniser, false, true};
    options_.packing.longest = std::min(options_.packing.longest, reader.options.maximum_length);
  }
  void describe(OptionList& list) override {
    options_.describe(list);
    list.find("data.too_long").choices({"windows", "refuse"});  // the answer may be anywhere
  }
  Splits load(const DataSource& source, uint64_t seed) override {
    return load_questions(source, options_, coding_, seed);
  }
  void write(const std::filesystem::path& folder) const override {
    write_questions_data(folder, options_.generator);
  }

  /// {"question": …, "text": …}, or both with a tab between them.
  Example parse(const std::string& line) const override {
    QuestionRow row;
    if (is_json_object(line)) {
      const Json json = parse_json(line, "input");
      const Field root = Field::root(json, "input");
      row.question = root.at("question").text();
      row.text = root.at(root.find("context") && !root.find("text") ? "context" : "text").text();
    } else {
      const size_t tab = line.find('\t');
      require(tab != std::string::npos, ErrorKind::BadData,
              "input: expected a question and a text with a tab between them, or "
              "{\"question\": …, \"text\": …}");
      row.question = line.substr(0, tab), row.text = line.substr(tab + 1);
    }
    for (const auto& [what, text] :
         {std::pair("question", &row.question), std::pair("text", &row.text)})
      require(!trim(*text).empty(), ErrorKind::BadData, "input: the ", what, " is empty");
    return encoder().example(row);
  }
  InputColumns input_columns(const Roles&) const override {
    InputColumns columns{{"question", "text"}, {"id", "answers", "split"}, {}};
    columns.quotes = "auto";
    return columns;
  }
  Json input_schema() const override {
    const Json text{{"type", "string"}, {"contentMediaType", "text/plain"}};
    return {{"type", "object"},
            {"properties", {{"question", text}, {"text", text}}},
            {"required", {"question", "text"}}};
  }
  Batch collate(std::span<const Example> examples) const override {
    return encoder().collate(examples);
  }

 private:
  QuestionEncoder encoder() const {
    return {coding_.tokeniser, options_.packing, options_.longest_question};
  }
};

TrainingOptions reader_training() {
  TrainingOptions options = bert_training();
  options.epochs = 15;
  options.monitor = {"f1"};
  options.usual_steps = 2500;
  return options;
}

}  // namespace

static std::unique_ptr<Task> make_questions_task() {
  const auto pretrained = std::make_shared<PretrainedBert>();
  const auto data = std::make_shared<PieceData<QuestionsData>>(pretrained);
  const auto options = std::make_shared<BertReaderOptions>();
  ModelSpec spec = model_spec(
      {"bert"}, options, reader_training(),
      [data](const BertReaderOptions& own) {
        return std::make_unique<BertReader>(own, data->coding().tokeniser->size(),
                                            data->options().packing.longest);
      },
      [] {
        return ExplainTitles{"Where BERT looks while it reads a question and a text",
                             {{"attention", "tokens look at tokens"}}};
      });
  spec.fine_tuning = [] {  // as Devlin et al. 2019
    TrainingOptions training = reader_training();
    training.epochs = 3;
    training.learning_rate = 5e-5;
    training.usual_steps = 1500;
    training.most_epochs = 5;
    return training;
  };
  accept_pretrained(spec, options, data, pretrained, EncoderHead::Answer);
  const auto output = std::make_shared<SpanOutput>([data] { return data->coding().may_refuse; });
  return std::make_unique<Task>("questions", data, output, std::vector{std::move(spec)});
}

TaskRow questions_task() {
  return {"questions", "the span of a text that answers a question, or that there is none",
          "token -> token",
          "SQuAD's JSON, 1.1 or 2.0; JSONL with question, text and answers; a folder of either",
          make_questions_task};
}

}  // namespace fovea
