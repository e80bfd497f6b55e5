#include "fovea/data/draw.h"

namespace fovea {

namespace {

constexpr int64_t kMostRows = 10'000'000;

}  // namespace

void DrawOptions::describe_rows(OptionList& list, const std::string& what) {
  list.add("rows", rows, "built-in data: number of training " + what).at_least(2);
  list.add("validation_rows", validation_rows, "built-in data: number of validation " + what)
      .at_least(0);
  list.add("test_rows", test_rows, "built-in data: number of test " + what).at_least(0);
}

void DrawOptions::describe_seed(OptionList& list, const std::string& what) {
  list.add("seed", seed,
           concat("built-in data: seed of the ", what, "; the training seed does not change them"))
      .at_least(0);
}

void DrawOptions::check_rows(const std::string& what) const {
  for (const int64_t count : {rows, validation_rows, test_rows})
    require(count >= 0 && count <= kMostRows, ErrorKind::InvalidArgument, format_count(count), " ",
            what, " cannot be drawn; 0 to ", format_count(kMostRows), " can");
}

std::string DrawOptions::counted(const std::string& what) const {
  return concat(format_count(rows), " training, ", format_count(validation_rows),
                " validation and ", format_count(test_rows), " test ", what);
}

}  // namespace fovea
