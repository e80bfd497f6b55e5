#include "fovea/data/sequences/synthetic.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/sequences/encoder.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

const std::vector<int64_t> kTutorialMap{2, 7, 3, 5, 1};
constexpr int64_t kTutorialPositions = 8;
constexpr int64_t kMaxElements = int64_t{1} << 28;  // of the text, a few GB

std::vector<int64_t> draw_map(const SyntheticContextOptions& options, const Random& random) {
  if (options.contexts == int64_t(kTutorialMap.size()) && options.positions == kTutorialPositions)
    return kTutorialMap;
  std::vector<int64_t> map = random.permutation(options.positions);
  // As many contexts as fit point to different positions; the rest point anywhere.
  while (int64_t(map.size()) < options.contexts)
    map.push_back(int64_t(random.split("more").below(map.size(), uint64_t(options.positions))));
  map.resize(size_t(options.contexts));
  return map;
}

/// As CSV; "" for no rows. Marks the contexts that are seen.
std::string draw_rows(const std::vector<int64_t>& map, int64_t positions, int64_t rows,
                      const Random& random, std::vector<bool>& seen) {
  if (rows == 0) return "";
  std::string text = "context,";
  for (int64_t i = 0; i < positions; ++i) text += concat("x", i, ",");
  text += "y\n";
  const at::Tensor inputs =
      random.split("inputs").uniform_tensor({rows, positions}, 0, 1, torch::kFloat32);  // [N, P]
  const Random contexts = random.split("contexts");
  const float* x = inputs.data_ptr<float>();
  for (int64_t row = 0; row < rows; ++row, x += positions) {
    const auto context = size_t(contexts.below(uint64_t(row), map.size()));
    seen[context] = true;
    text += std::to_string(context) + ",";
    for (int64_t i = 0; i < positions; ++i) text += format_exact(x[i]) + ",";
    text += format_exact(x[map[context]]) + "\n";
  }
  return text;
}

}  // namespace

void SyntheticContextOptions::describe(OptionList& list) {
  list.add("rows", rows, "built-in data: number of training rows").at_least(2);
  list.add("positions", positions, "built-in data: numbers in a row").at_least(1);
  list.add("contexts", contexts, "built-in data: number of contexts, each pointing to one position")
      .at_least(1);
  list.add("seed", seed,
           "built-in data: seed of the numbers; the training seed does not change them")
      .at_least(0);
}

SyntheticTables draw_context(const SyntheticContextOptions& options, double validation_fraction) {
  require(options.positions >= 1 && options.contexts >= 1, ErrorKind::InvalidArgument,
          options.contexts, " contexts and ", options.positions,
          " positions cannot be; at least one of each is needed");
  require(options.rows >= 2 && options.rows <= kMaxElements / options.positions,
          ErrorKind::InvalidArgument, format_count(options.rows), " rows of ",
          format_count(options.positions), " positions cannot be drawn; rows are at least 2 and ",
          "the table has at most ", format_count(kMaxElements), " numbers");
  const Random random = Random(uint64_t(options.seed)).split("context");
  const std::vector<int64_t> map = draw_map(options, random.split("map"));
  const int64_t held_out = std::llround(double(options.rows) * validation_fraction);
  std::vector<bool> trained(map.size()), seen(map.size());
  SyntheticTables drawn;
  drawn.files[kTrain] =
      draw_rows(map, options.positions, options.rows, random.split("train"), trained);
  drawn.files[kValidation] =
      draw_rows(map, options.positions, held_out, random.split("validation"), seen);
  require(std::find(trained.begin(), trained.end(), false) == trained.end(),
          ErrorKind::InvalidArgument, format_count(options.rows),
          " training rows are too few to hold all ", format_count(options.contexts),
          " contexts; draw more rows");
  drawn.generator = options_json(options);
  ContextTruth truth;
  for (size_t i = 0; i < map.size(); ++i) truth[std::to_string(i)] = concat("x", map[i]);
  drawn.description = {{"truth", {{"map", truth}}}, {"standardise", "no"}};
  ContentHash hash;
  hash.add(concat("context ", drawn.generator.dump(), " ", held_out));
  drawn.hash = hash.text();
  drawn.notes.push_back(concat("built-in synthetic data, seed ", options.seed, ": ",
                               format_count(options.rows), " training and ", format_count(held_out),
                               " validation rows"));
  return drawn;
}

}  // namespace fovea
