#include "fovea/data/__name__/load.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <set>

#include "fovea/data/formats/text_lines.h"
#include "fovea/data/padding.h"
#include "fovea/tensor/random.h"

namespace fovea {

namespace {

constexpr int64_t kMost__Name__Bytes = int64_t{1} << 30;  // of a file
constexpr const char* k__Name__Letters = "abcdefghijklmnopqrstuvwxyz";

/// `where` stands before the message: "rows.tsv:7: " of a file.
void check___name___letters(const std::string& letters, const std::string& where) {
  const bool fits = !letters.empty() && letters.find_first_not_of(k__Name__Letters) == std::string::npos;
  require(fits, ErrorKind::BadData, where, "'", shorten_bytes(letters, 64),
          "': expected letters from a to z");
}

class __Name__Dataset : public Dataset {
 public:
  __Name__Dataset(std::vector<__Name__Row> rows, std::vector<int64_t> targets)
      : rows_(std::move(rows)), targets_(std::move(targets)) {}
  int64_t size() const override { return int64_t(rows_.size()); }
  int64_t length(int64_t row) const override { return int64_t(rows_[size_t(row)].letters.size()); }
  Json input(int64_t row) const override { return rows_[size_t(row)].letters; }
  Example example(int64_t row) const override {
    Example example = __name___example(rows_[size_t(row)].letters);
    example.tensors["target"] = at::scalar_tensor(targets_[size_t(row)], at::kLong);
    return example;
  }
  Batch batch(std::span<const int64_t> rows) const override {
    std::vector<Example> examples;
    for (const int64_t row : rows) examples.push_back(example(row));
    return collate___name__(examples);
  }

 private:
  std::vector<__Name__Row> rows_;
  std::vector<int64_t> targets_;
};

__Name__Row draw___name___row(const Random& random) {
  __Name__Row row;
  std::array<int64_t, 3> counts{};
  for (uint64_t place = 0; place < 9; ++place) {
    const uint64_t letter = random.below(place, counts.size());
    row.letters += char('a' + letter);
    ++counts[letter];
  }
  row.label = char('a' + (std::max_element(counts.begin(), counts.end()) - counts.begin()));
  return row;
}

}  // namespace

void __Name__DataOptions::describe(OptionList& list) {
  list.add("rows", rows, "training rows that are drawn").at_least(10);
  list.add("validation_fraction", validation_fraction,
           "share of the training rows held out when the data has no validation split")
      .rate();
}

Json __Name__Coding::to_json() const {
  return {{"classes", classes}};
}

__Name__Coding __Name__Coding::from_json(const Json& json, const std::string& where) {
  return {Field::root(json, where).at("classes").texts()};
}

Example __name___example(const std::string& letters) {
  check___name___letters(letters, "");
  at::Tensor ids = at::empty({int64_t(letters.size())}, at::kLong);
  Axis axis{"letters", "letter", {}};
  for (size_t i = 0; i < letters.size(); ++i) {
    ids[int64_t(i)] = int64_t(letters[i] - 'a' + 1);
    axis.labels.push_back(letters.substr(i, 1));
  }
  return {{{"letters", ids}}, {axis, Axis{"answer", "answer", {"answer"}}}, {}};
}

Batch collate___name__(std::span<const Example> examples) {
  Batch batch{{{"letters", pad_tensors(examples, "letters")}}, int64_t(examples.size())};
  // 0 is padding or an erased letter. Where 0 is a value: keep_tensors(examples, "letters").
  batch.tensors["letters.keep"] = batch.at("letters") != 0;
  std::vector<at::Tensor> targets;
  for (const Example& example : examples)
    if (const auto own = example.tensors.find("target"); own != example.tensors.end())
      targets.push_back(own->second);
  if (!targets.empty()) batch.tensors["target"] = at::stack(targets);
  return batch;
}

FileRows<__Name__Row> read___name__(const std::filesystem::path& path,
                                    const RowSink<__Name__Row>& sink) {
  TextLines lines(path, kMost__Name__Bytes);
  FileRows<__Name__Row> file{sink};
  for (std::string_view line; lines.next(line);) {
    if (trim(line).empty()) continue;
    const std::vector<std::string> cells = split(std::string(line), '\t');
    require(cells.size() == 2, ErrorKind::BadData, lines.place(), ": found ", cells.size(),
            " columns; expected letters and the most frequent one");
    check___name___letters(cells[0], concat(lines.place(), ": "));
    file.add({cells[0], cells[1]});
  }
  file.hash = lines.hash();
  return file;
}

SplitRows<__Name__Row> draw___name__(const __Name__DataOptions& options) {
  const Random random = Random(1).split("__name__");
  SplitRows<__Name__Row> rows;
  const int64_t counts[kSplitCount] = {options.rows, 100, 100};
  for (int split = 0; split < kSplitCount; ++split)
    for (int64_t i = 0; i < counts[split]; ++i)
      rows[split].push_back(draw___name___row(random.split(kSplitNames[split]).split(uint64_t(i))));
  rows.hash = hash_of_built_in("__name__", options_json(options));
  return rows;
}

Splits load___name__(const DataSource& source, const __Name__DataOptions& options,
                     __Name__Coding& coding, uint64_t seed) {
  check_roles(source, {});
  const SplitOptions split{.task = "__name__",
                           .fraction = options.validation_fraction,
                           .seed = seed,
                           .needs_training = coding.classes.empty()};
  SplitRows<__Name__Row> rows =
      source.path.empty()
          ? draw___name__(options)
          : read_splits<__Name__Row>(source, split, {{".tsv"}, read___name__, "rows"});
  const auto fit = [&](SplitRows<__Name__Row>& all, Notes& notes) {
    if (!coding.classes.empty()) return;
    std::set<std::string> found;
    all.train.for_each([&](const __Name__Row& row) { found.insert(row.label); });
    coding.classes.assign(found.begin(), found.end());
    notes.push_back(concat(coding.classes.size(), " letters are answers"));
  };
  return encode_splits(rows, fit, [&](Rows<__Name__Row> read, Split, Notes&) {
    std::vector<__Name__Row> own = read.take();
    std::vector<int64_t> targets;
    for (const __Name__Row& row : own) {
      const auto place = std::find(coding.classes.begin(), coding.classes.end(), row.label);
      require(place != coding.classes.end(), ErrorKind::BadData, "'", row.label,
              "' is no answer of the training rows, which have ", join(coding.classes));
      targets.push_back(place - coding.classes.begin());
    }
    return std::make_shared<__Name__Dataset>(std::move(own), std::move(targets));
  });
}

void write___name___data(const std::filesystem::path& folder, const __Name__DataOptions& options) {
  write_splits(folder, draw___name__(options), ".tsv", [](const std::vector<__Name__Row>& rows) {
    std::string text;
    for (const __Name__Row& row : rows) text += concat(row.letters, "\t", row.label, "\n");
    return text;
  });
  write_description(folder, "__name__", options_json(options));
}

}  // namespace fovea
