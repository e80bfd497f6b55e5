// A task, a network and a score function of one's own, and the whole program around them: train,
// evaluate, predict, explain, serve, compare, doctor and the rest work as for the tasks of the
// library.
//
//   own_task train majority --out run         letters; which one is most frequent?
//   own_task explain run abbcab
//
// Data: one row a line, "letters<TAB>most frequent letter"; without a file rows are drawn.
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <array>
#include <set>

#include "fovea/attention/attend.h"
#include "fovea/base/json_field.h"
#include "fovea/data/formats/text_lines.h"
#include "fovea/data/load.h"
#include "fovea/models/classifier.h"
#include "fovea/models/initialise.h"
#include "fovea/program.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/classes.h"
#include "fovea/tensor/torch.h"

namespace {

using namespace fovea;
using at::Tensor;

constexpr int64_t kAlphabet = 26;  // a … z; 0 is padding

// ---- a score function: minus the distance between query and key

class NegativeDistance : public ScoreFunction {
 public:
  Tensor score(const ScoreInput& input) const override {
    return -(input.query.unsqueeze(-2) - input.keys.unsqueeze(-3)).norm(2, -1);  // [B, H, Q, K]
  }
};

void add_score() {
  register_score({"negative-distance",
                  "-|s - h|",
                  "",
                  "0",
                  [](const ScoreOptions&) -> int64_t { return 0; },
                  [](const ScoreOptions&, const Random&) -> ScorePointer {
                    return std::make_shared<NegativeDistance>();
                  },
                  {.needs_equal_sizes = true}});
}

// ---- a network: a learned query looks at the letters

struct MajorityOptions {
  std::string name = "pooling";
  int64_t hidden = 16;
  std::string score = "negative-distance";
  void describe(OptionList& list) {
    list.add("name", name, "network");
    list.add("hidden", hidden, "numbers of an embedding").at_least(1);
    list.add("score", score, "how letters are looked at").choices(score_names());
  }
};

class MajorityModel : public Classifier {
 public:
  MajorityModel(const MajorityOptions& options, int64_t classes) : options_(options) {
    ScoreOptions score;
    score.name = options.score;
    score.query_size = score.key_size = options.hidden;
    letters_ = register_module("letters", torch::nn::Embedding(kAlphabet + 1, options.hidden));
    score_ = register_module("score", make_score(score, Random()));
    query_ = register_parameter("query", at::zeros({options.hidden}));
    output_ = register_module("output", torch::nn::Linear(options.hidden, classes));
  }

  void initialise(const Random& random) override {
    torch::NoGradGuard no_gradients;
    for (const auto& item : named_parameters())
      initialise_normal(item.value(), 0.3, random.split(item.key()));
  }
  Schema schema() const override {
    return {{"letters", at::kLong, {-1, -1}}, {"letters.keep", at::kBool, {-1, -1}}};
  }
  std::vector<LayerSummary> summary() const override {
    return {
        {"letters, pooled, classes", {output_->options.out_features()}, count_parameters(*this)}};
  }

 protected:
  Tensor logits_of(const Batch& batch, const Random*, Tap* tap) const override {  // [B, C]
    const Tensor states =
        leaf_of(tap, "letters", at::embedding(letters_->weight, batch.at("letters")));  // [B, T, D]
    AttendInput input;
    input.memory = remember(*score_, states, states, KeepMask::from_keep(batch.at("letters.keep")));
    input.query = query_.expand({states.size(0), 1, 1, -1});  // [B, 1, 1, D]
    input.score = score_.get();
    input.map = {"attention", "answer", "letters"};
    return output_->forward(attend(input, tap).context.flatten(1));  // [B, C]
  }

 private:
  MajorityOptions options_;
  torch::nn::Embedding letters_{nullptr};
  ScorePointer score_;
  Tensor query_;
  mutable torch::nn::Linear output_{nullptr};
};

// ---- the data: rows from files or drawn, what is learned from them, rows as tensors

struct LetterRow {
  std::string letters, label;
};

Example letters_example(const std::string& letters) {
  Tensor ids = at::empty({int64_t(letters.size())}, at::kLong);
  Axis axis{"letters", "letter", {}};
  for (size_t i = 0; i < letters.size(); ++i) {
    require(letters[i] >= 'a' && letters[i] <= 'z', ErrorKind::BadData, "'", letters,
            "': expected letters from a to z");
    ids[int64_t(i)] = int64_t(letters[i] - 'a' + 1);
    axis.labels.push_back(letters.substr(i, 1));
  }
  return {{{"letters", ids}}, {axis, Axis{"answer", "answer", {"answer"}}}, {}};
}

Batch collate_letters(std::span<const Example> examples) {
  int64_t longest = 1;
  for (const Example& example : examples)
    longest = std::max(longest, example.tensors.at("letters").size(0));
  const auto rows = int64_t(examples.size());
  Batch batch{{{"letters", at::zeros({rows, longest}, at::kLong)}}, rows};
  if (examples[0].tensors.contains("target"))
    batch.tensors["target"] = at::zeros({rows}, at::kLong);
  for (int64_t row = 0; row < rows; ++row) {
    const NamedTensors& own = examples[size_t(row)].tensors;
    batch.tensors["letters"][row].narrow(0, 0, own.at("letters").size(0)).copy_(own.at("letters"));
    if (own.contains("target")) batch.tensors["target"][row] = own.at("target");
  }
  batch.tensors["letters.keep"] = batch.at("letters") != 0;
  return batch;
}

class LetterDataset : public Dataset {
 public:
  LetterDataset(std::vector<LetterRow> rows, std::vector<int64_t> targets)
      : rows_(std::move(rows)), targets_(std::move(targets)) {}
  int64_t size() const override { return int64_t(rows_.size()); }
  int64_t length(int64_t row) const override { return int64_t(rows_[size_t(row)].letters.size()); }
  Json input(int64_t row) const override { return rows_[size_t(row)].letters; }
  Example example(int64_t row) const override {
    Example example = letters_example(rows_[size_t(row)].letters);
    example.tensors["target"] = at::scalar_tensor(targets_[size_t(row)], at::kLong);
    return example;
  }
  Batch batch(std::span<const int64_t> rows) const override {
    std::vector<Example> examples;
    for (const int64_t row : rows) examples.push_back(example(row));
    return collate_letters(examples);
  }

 private:
  std::vector<LetterRow> rows_;
  std::vector<int64_t> targets_;
};

class LetterData : public DataKind {
 public:
  const std::vector<std::string>& classes() const { return classes_; }

  void describe(OptionList& list) override {
    list.add("rows", rows_, "training rows that are drawn").at_least(10);
  }
  Splits load(const DataSource& source, uint64_t seed) override {
    check_roles(source, {});
    const SplitOptions split{
        .task = "majority", .fraction = 0.1, .seed = seed, .needs_training = classes_.empty()};
    SplitRows<LetterRow> rows =
        source.path.empty()
            ? draw()
            : read_splits<LetterRow>(source, split, {{".tsv"}, read_letters, "rows"});
    const auto fit = [&](SplitRows<LetterRow>& all, Notes& notes) {
      if (!classes_.empty()) return;
      std::set<std::string> found;
      all.train.for_each([&](const LetterRow& row) { found.insert(row.label); });
      classes_.assign(found.begin(), found.end());
      notes.push_back(concat(classes_.size(), " letters are answers"));
    };
    return encode_splits(rows, fit, [&](Rows<LetterRow> read, Split, Notes&) {
      std::vector<LetterRow> own = read.take();
      std::vector<int64_t> targets;
      for (const LetterRow& row : own) {
        const auto place = std::find(classes_.begin(), classes_.end(), row.label);
        require(place != classes_.end(), ErrorKind::BadData, "'", row.label,
                "' is no answer of the training rows");
        targets.push_back(place - classes_.begin());
      }
      return std::make_shared<LetterDataset>(std::move(own), std::move(targets));
    });
  }
  void write(const std::filesystem::path& folder) const override {
    write_splits(folder, draw(), ".tsv", [](const std::vector<LetterRow>& rows) {
      std::string text;
      for (const LetterRow& row : rows) text += concat(row.letters, "\t", row.label, "\n");
      return text;
    });
  }
  void save(const RunFolder& folder) const override {
    folder.write_asset("classes.json", {{"classes", classes_}});
  }
  void restore(const RunFolder& folder) override {
    const Json json = folder.read_asset("classes.json");
    classes_ = Field::root(json, folder.asset("classes.json").string()).at("classes").texts();
  }

  Example parse(const std::string& line) const override {
    return letters_example(std::string(trim(line)));
  }
  Json input_schema() const override { return {{"type", "string"}}; }
  bool takes_plain_text() const override { return true; }
  Batch collate(std::span<const Example> examples) const override {
    return collate_letters(examples);
  }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "letters") return DataKind::erase(example, axis, units);
    Example erased = example;
    Tensor& letters = erased.tensors["letters"];
    letters = letters.clone();
    for (const int64_t unit : units) letters[unit] = 0;
    return erased;
  }

 private:
  static FileRows<LetterRow> read_letters(const std::filesystem::path& path,
                                          const RowSink<LetterRow>& sink) {
    TextLines lines(path, int64_t{1} << 30);
    FileRows<LetterRow> file{sink};
    for (std::string_view line; lines.next(line);) {
      const std::vector<std::string> cells = split(std::string(line), '\t');
      require(cells.size() == 2, ErrorKind::BadData, lines.place(), ": found ", cells.size(),
              " columns; expected letters and the most frequent one");
      file.add({cells[0], cells[1]});
    }
    file.hash = lines.hash();
    return file;
  }

  SplitRows<LetterRow> draw() const {
    const Random random = Random(1).split("majority");
    const auto drawn = [&](int64_t count, const char* split) {
      std::vector<LetterRow> rows;
      for (int64_t i = 0; i < count; ++i) {
        const Random own = random.split(split).split(uint64_t(i));
        LetterRow& row = rows.emplace_back();
        std::array<int64_t, 3> counts{};
        for (uint64_t place = 0; place < 9 + own.below(99, 2); ++place) {
          const uint64_t letter = own.below(place, 3);
          row.letters += char('a' + letter);
          ++counts[letter];
        }
        row.label = char('a' + (std::max_element(counts.begin(), counts.end()) - counts.begin()));
      }
      return rows;
    };
    SplitRows<LetterRow> rows{drawn(rows_, "train"), drawn(200, "validation"), drawn(200, "test")};
    rows.hash = hash_of_built_in("majority", {{"rows", rows_}});
    return rows;
  }

  int64_t rows_ = 1000;
  std::vector<std::string> classes_;
};

// ---- the row of the catalogue

std::unique_ptr<Task> make_majority_task() {
  const auto data = std::make_shared<LetterData>();
  const auto classes = [data]() -> const std::vector<std::string>& { return data->classes(); };
  TrainingOptions training;
  training.epochs = 20;
  training.learning_rate = 1e-2;
  const auto make = [data](const MajorityOptions& options) {
    return std::make_unique<MajorityModel>(options, int64_t(data->classes().size()));
  };
  const auto titles = [] {
    return ExplainTitles{"Which letters were looked at",
                         {{"attention", "the answer looks at letters"}}};
  };
  return std::make_unique<Task>(
      "majority", data, std::make_shared<ClassesOutput>(classes),
      std::vector{
          model_spec({"pooling"}, std::make_shared<MajorityOptions>(), training, make, titles)});
}

}  // namespace

int main(int argc, char** argv) {
  add_score();
  register_task({"majority", "which letter is most frequent", "answer -> letters",
                 "TSV: letters, most frequent letter", make_majority_task});
  return run_program(argc, argv);
}
