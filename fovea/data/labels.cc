#include "fovea/data/labels.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/load.h"

namespace fovea {

namespace {

constexpr size_t kMostLabels = 1000;

}  // namespace

void LabelSet::add(const std::string& label, int split) {
  all_.insert(label);
  if (split == kTrain) trained_.insert(label);
  require(all_.size() <= kMostLabels, ErrorKind::BadData, "the ", words_.label, "s have more than ",
          kMostLabels, " different values, such as '", label, "'; say with --columns ",
          words_.label, "=", words_.column, " which column holds them");
}

std::vector<std::string> LabelSet::notes() const {
  std::vector<std::string> notes;
  for (const std::string& label : all_)
    if (!trained_.contains(label))
      notes.push_back(
          concat("no training ", words_.row, " has the ", words_.label, " '", label, "'"));
  return notes;
}

int64_t label_index(const std::string& label, const std::vector<std::string>& known, int split,
                    const LabelWords& words) {
  const auto found = std::find(known.begin(), known.end(), label);
  require(found != known.end(), ErrorKind::BadData, "a ", kSplitNames[split], " ", words.row,
          " has the ", words.label, " '", label,
          "', which the run does not know; it knows: ", join(known));
  return found - known.begin();
}

Decisive read_decisive(const std::filesystem::path& source, const std::string& pair) {
  Decisive decisive;
  with_truth(source, "", [&](const Field& truth) {
    try {
      truth.at("decisive").each_member([&](const std::string& text, const Field& pairs) {
        pairs.each({}, [&](const Field& one) {
          one.expect(one.value().is_array() && one.value().size() == 2, "two numbers");
          const std::vector<int64_t> numbers = one.integers(0, INT32_MAX);
          decisive[text].emplace_back(numbers[0], numbers[1]);
        });
      });
    } catch (const Error& error) {
      fail(error.kind(), error.what(), "; \"truth\" must be {\"decisive\": {text: [", pair,
           ", …]}}");
    }
  });
  return decisive;
}

Json decisive_json(const Decisive& decisive) {
  Json texts = Json::object();
  for (const auto& [text, pairs] : decisive) {
    Json& list = texts[text] = Json::array();
    for (const auto& [first, second] : pairs) list.push_back({first, second});
  }
  return {{"decisive", texts}};
}

}  // namespace fovea
