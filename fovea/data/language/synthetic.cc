#include "fovea/data/language/synthetic.h"

namespace fovea {

namespace {

constexpr int64_t kLetters = 26, kDigits = 10;

std::string draw_line(int64_t pairs, const Random& random) {
  const std::vector<int64_t> letters = random.split("letters").permutation(kLetters);
  std::vector<std::string> named;
  for (int64_t i = 0; i < pairs; ++i) {
    const double digit = random.split("digits").uniform(uint64_t(i)) * double(kDigits);
    named.push_back({char('a' + letters[size_t(i)]), char('0' + int64_t(digit))});
  }
  for (const int64_t again : random.split("again").permutation(pairs))
    named.push_back(named[size_t(again)]);
  return join(named, " ") + "\n";
}

std::vector<std::string> draw_text(int64_t lines, int64_t pairs, const Random& random) {
  if (lines == 0) return {};
  std::string text;
  for (int64_t i = 0; i < lines; ++i) text += draw_line(pairs, random.split(uint64_t(i)));
  return {text};
}

}  // namespace

void SyntheticTextOptions::describe(OptionList& list) {
  describe_rows(list, "lines");
  list.add("pairs", pairs, "synthetic: letters of a line, each named twice").within(1, kLetters);
  describe_seed(list, "lines");
}

SplitRows<std::string> draw_recall(const SyntheticTextOptions& options) {
  options.check_rows("lines");
  const Random random = Random(uint64_t(options.seed)).split("recall");
  return {draw_text(options.rows, options.pairs, random.split("train")),
          draw_text(options.validation_rows, options.pairs, random.split("validation")),
          draw_text(options.test_rows, options.pairs, random.split("test"))};
}

}  // namespace fovea
