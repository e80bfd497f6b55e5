// The task `questions`: the span of a text that answers a question, or that it has no answer. BERT
// reads both together and marks where the answer begins and ends.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/questions/load.h"
#include "fovea/models/bert_reader.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/span.h"
#include "fovea/tasks/pretrained.h"

namespace fovea {

namespace {

class QuestionsData : public DataKind {
 public:
  explicit QuestionsData(std::shared_ptr<const PretrainedBert> pretrained)
      : pretrained_(std::move(pretrained)) {}
  const QuestionsDataOptions& options() const { return options_; }
  const QuestionCoding& coding() const { return coding_; }

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
    pretrained_->require_data(source);
    if (!coding_.tokeniser) coding_.tokeniser = pretrained_->tokeniser;
    return pretrained_->noted(load_questions(source, options_, coding_, seed));
  }
  void write(const std::filesystem::path& folder) const override {
    write_questions_data(folder, options_.generator);
  }
  void save(const RunFolder& folder) const override {
    folder.write_asset("questions.json", coding_.to_json());
    save_pieces(folder, *coding_.tokeniser);
  }
  void restore(const RunFolder& folder) override {
    coding_ = QuestionCoding::from_json(folder.read_asset("questions.json"),
                                        folder.asset("questions.json").string());
    coding_.tokeniser = load_pieces(folder);
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
    return {{"type", "object"},
            {"properties", {{"question", {{"type", "string"}}}, {"text", {{"type", "string"}}}}},
            {"required", {"question", "text"}}};
  }
  Batch collate(std::span<const Example> examples) const override {
    return encoder().collate(examples);
  }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "tokens") return DataKind::erase(example, axis, units);
    return erase_tokens(example, *coding_.tokeniser, units);
  }

 private:
  QuestionEncoder encoder() const {
    return {coding_.tokeniser, options_.packing, options_.longest_question};
  }

  std::shared_ptr<const PretrainedBert> pretrained_;
  QuestionsDataOptions options_;
  QuestionCoding coding_;
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
  const auto data = std::make_shared<QuestionsData>(pretrained);
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
  const std::shared_ptr<BertOptions> encoder(options, &options->encoder);
  accept_pretrained(spec, encoder, pretrained);
  spec.copy_pretrained = [pretrained](Model& model) {
    take_encoder(model, *pretrained);
    if (pretrained->head == EncoderHead::Answer) take_heads(model, *pretrained);
  };
  open_as_run(spec, encoder, pretrained, [data](const PretrainedBert& read) { data->open(read); });
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
