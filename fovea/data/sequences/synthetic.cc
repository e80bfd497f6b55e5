#include "fovea/data/sequences/synthetic.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

const std::vector<int64_t> kTutorialMap{2, 7, 3, 5, 1};
constexpr int64_t kTutorialPositions = 8;
constexpr int64_t kMaxElements = int64_t{1} << 32;

std::vector<int64_t> draw_map(const ContextGeneratorOptions& options, const Random& random) {
  if (options.contexts == int64_t(kTutorialMap.size()) && options.positions == kTutorialPositions)
    return kTutorialMap;
  std::vector<int64_t> map = random.permutation(options.positions);
  // As many contexts as fit point to different positions; the rest point anywhere.
  while (int64_t(map.size()) < options.contexts)
    map.push_back(int64_t(random.split("more").below(map.size(), uint64_t(options.positions))));
  map.resize(size_t(options.contexts));
  return map;
}

ContextNumbers draw_rows(const ContextDraw& draw, int64_t rows, const Random& random) {
  const ContextNumbers& names = draw.train;
  const int64_t width = int64_t(names.positions.size());
  ContextNumbers drawn{names.positions, names.contexts, {}, {}, {}};
  drawn.inputs =
      random.split("inputs").uniform_tensor({rows, width}, 0, 1, torch::kFloat32);  // [N, P]
  drawn.context = torch::empty({rows}, torch::kInt64);                              // [N]
  drawn.target = torch::empty({rows}, torch::kFloat32);                             // [N]
  const Random contexts = random.split("contexts");
  for (int64_t row = 0; row < rows; ++row) {
    const auto context = int64_t(contexts.below(uint64_t(row), uint64_t(draw.map.size())));
    drawn.context.data_ptr<int64_t>()[row] = context;
    drawn.target.data_ptr<float>()[row] =
        drawn.inputs.data_ptr<float>()[row * width + draw.map[size_t(context)]];
  }
  return drawn;
}

}  // namespace

void ContextGeneratorOptions::describe(OptionList& list) {
  list.add("rows", rows, "built-in data: number of training rows").at_least(2);
  list.add("positions", positions, "built-in data: numbers in a row").at_least(1);
  list.add("contexts", contexts, "built-in data: number of contexts, each pointing to one position")
      .at_least(1);
  list.add("seed", seed,
           "built-in data: seed of the numbers; the training seed does not change them")
      .at_least(0);
}

ContextTruth ContextDraw::truth() const {
  ContextTruth truth;
  for (size_t i = 0; i < map.size(); ++i)
    truth[train.contexts[i]] = train.positions[size_t(map[i])];
  return truth;
}

ContextDraw draw_context(const ContextGeneratorOptions& options, double validation_fraction) {
  require(options.positions >= 1 && options.contexts >= 1, ErrorKind::InvalidArgument,
          options.contexts, " contexts and ", options.positions,
          " positions cannot be; at least one of each is needed");
  require(options.rows >= 2 && options.rows <= kMaxElements / options.positions,
          ErrorKind::InvalidArgument, format_count(options.rows), " rows of ",
          format_count(options.positions),
          " positions cannot be drawn; rows are at least 2 and the table at most 16 GiB");
  const Random random = Random(uint64_t(options.seed)).split("context");
  ContextDraw draw;
  draw.map = draw_map(options, random.split("map"));
  for (int64_t i = 0; i < options.positions; ++i) draw.train.positions.push_back(concat("x", i));
  for (int64_t i = 0; i < options.contexts; ++i) draw.train.contexts.push_back(std::to_string(i));
  draw.train = draw_rows(draw, options.rows, random.split("train"));
  draw.validation = draw_rows(draw, std::llround(double(options.rows) * validation_fraction),
                              random.split("validation"));

  std::vector<bool> seen(draw.map.size(), false);
  const int64_t* contexts = draw.train.context.data_ptr<int64_t>();
  for (int64_t row = 0; row < options.rows; ++row) seen[size_t(contexts[row])] = true;
  require(std::find(seen.begin(), seen.end(), false) == seen.end(), ErrorKind::InvalidArgument,
          format_count(options.rows), " training rows are too few to hold all ",
          format_count(options.contexts), " contexts; draw more rows");
  return draw;
}

}  // namespace fovea
