#include "fovea/data/tables/synthetic.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kMaxElements = int64_t{1} << 32;

double sum(std::span<const float> x) {
  return std::accumulate(x.begin(), x.end(), 0.0);
}

double product(std::span<const float> x) {
  return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<double>());
}

double difference(std::span<const float> x) {
  return x.size() < 2 ? double(x[0]) : x[0] - sum(x.subspan(1)) / double(x.size() - 1);
}

double square(std::span<const float> x) {
  return double(x[0]) * x[0] + sum(x.subspan(1));
}

/// How one number of a column is drawn.
struct Law {
  std::string name, help;
  double (*draw)(const Random& random, uint64_t counter);
};

const std::vector<Law>& laws() {
  static const std::vector<Law> table{
      {"uniform", "U(-1, 1)",
       [](const Random& random, uint64_t counter) { return 2 * random.uniform(counter) - 1; }},
      {"normal", "N(0, 1)",
       [](const Random& random, uint64_t counter) { return random.normal(counter); }},
      {"unit", "U(0, 1)",
       [](const Random& random, uint64_t counter) { return random.uniform(counter); }},
  };
  return table;
}

template <class Row>
const Row& find_row(const std::vector<Row>& table, const std::string& name, const char* what) {
  std::vector<std::string> names;
  for (const Row& row : table) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  fail(ErrorKind::InvalidArgument, "there is no ", what, " '", name, "'", suggestion(name, names),
       "; there are: ", join(names));
}

template <class Row>
std::string helps(const std::vector<Row>& table) {
  std::vector<std::string> helps;
  for (const Row& row : table) helps.push_back(concat(row.name, ": ", row.help));
  return join(helps, "; ");
}

template <class Row>
std::vector<std::string> names_of(const std::vector<Row>& table) {
  std::vector<std::string> names;
  for (const Row& row : table) names.push_back(row.name);
  return names;
}

/// The numbers behind the column names x0, x1, …: without noise there is no x0.
std::vector<int64_t> column_numbers(const FeaturesGeneratorOptions& options) {
  const int64_t informative = options.informative;
  const int64_t width = options.noise >= 0 ? informative + options.noise : options.columns;
  require(informative >= 1 && width >= informative, ErrorKind::InvalidArgument, informative,
          " informative columns of ", width, " cannot be; x1 to x", informative, " must fit");
  require(options.rows >= 2 && options.rows <= kMaxElements / width, ErrorKind::InvalidArgument,
          format_count(options.rows), " rows of ", format_count(width),
          " columns cannot be drawn; rows are at least 2 and the table at most 16 GiB");
  std::vector<int64_t> numbers(static_cast<size_t>(width));
  std::iota(numbers.begin(), numbers.end(), width > informative ? int64_t{0} : int64_t{1});
  return numbers;
}

at::Tensor draw_labels(const at::Tensor& inputs, int64_t first, int64_t count,
                       const LabelFunction& function) {
  const int64_t rows = inputs.size(0), width = inputs.size(1);
  const float* values = inputs.data_ptr<float>() + first;
  std::vector<double> scores(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row)
    scores[size_t(row)] = function.score({values + row * width, static_cast<size_t>(count)});
  double threshold = function.threshold;
  if (function.median) {
    std::vector<double> sorted = scores;
    const auto middle = sorted.begin() + rows / 2;
    std::nth_element(sorted.begin(), middle, sorted.end());
    threshold = *middle;
  }
  at::Tensor labels = torch::empty({rows}, torch::kInt64);  // [N]
  int64_t* label = labels.data_ptr<int64_t>();
  for (int64_t row = 0; row < rows; ++row) label[row] = scores[size_t(row)] > threshold;
  return labels;
}

}  // namespace

const std::vector<LabelFunction>& label_functions() {
  static const std::vector<LabelFunction> table{
      {"sum", "x1 + … + xk > 0", sum},
      {"product", "x1 * … * xk > 0 (exclusive or)", product},
      {"difference", "x1 > mean of x2 … xk", difference},
      {"square", "x1^2 + x2 + … + xk > its median", square, 0, true},
      {"threshold", "x1 + … + xk > 1", sum, 1},
  };
  return table;
}

void FeaturesGeneratorOptions::describe(OptionList& list) {
  list.add("rows", rows, "built-in data: number of rows").at_least(2);
  list.add("columns", columns, "built-in data: number of columns").at_least(1);
  list.add("informative", informative, "built-in data: columns x1, x2, … that decide the label")
      .at_least(1);
  list.add("noise", noise,
           "built-in data: columns that decide nothing; below 0: columns minus informative");
  list.add("label", label, concat("built-in data: when the label is 1. ", helps(label_functions())))
      .choices(names_of(label_functions()));
  list.add("law", law, concat("built-in data: how the numbers are drawn. ", helps(laws())))
      .choices(names_of(laws()));
  list.add("seed", seed,
           "built-in data: seed of the numbers; the training seed does not change them")
      .at_least(0);
}

FeaturesDraw draw_features(const FeaturesGeneratorOptions& options) {
  const LabelFunction& function = find_row(label_functions(), options.label, "label function");
  const Law& law = find_row(laws(), options.law, "law");
  const std::vector<int64_t> numbers = column_numbers(options);
  const int64_t rows = options.rows, width = int64_t(numbers.size());
  const Random random = Random(uint64_t(options.seed)).split("features");

  FeaturesDraw draw;
  draw.table.inputs = torch::empty({rows, width}, torch::kFloat32);  // [N, D]
  float* values = draw.table.inputs.data_ptr<float>();
  for (int64_t column = 0; column < width; ++column) {
    const int64_t number = numbers[size_t(column)];
    const Random stream = random.split(uint64_t(number));
    for (int64_t row = 0; row < rows; ++row)
      values[row * width + column] = float(law.draw(stream, uint64_t(row)));
    draw.table.names.push_back(concat("x", number));
    if (number >= 1 && number <= options.informative)
      draw.informative.push_back(draw.table.names.back());
  }
  draw.table.target = "y";
  draw.table.classes = {"0", "1"};
  draw.table.labels = draw_labels(draw.table.inputs, 1 - numbers[0], options.informative, function);
  const int64_t positive = draw.table.labels.sum().item<int64_t>();
  require(positive > 0 && positive<rows, ErrorKind::InvalidArgument, "label '", options.label,
                                   "' with law '", options.law, "' is ", positive> 0
              ? 1
              : 0,
          " in every row; nothing can be learnt. Take another label or law");
  return draw;
}

}  // namespace fovea
