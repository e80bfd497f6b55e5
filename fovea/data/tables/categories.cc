#include "fovea/data/tables/categories.h"

#include <algorithm>

#include "fovea/base/text.h"
#include "fovea/data/formats/cells.h"

namespace fovea {

namespace {

constexpr int64_t kSeveralNames = -2;

/// In lower case, white space within it as one blank.
std::string loose_name(std::string_view text) {
  std::string loose;
  for (const char c : text) {
    const bool blank = static_cast<unsigned char>(c) <= ' ';
    if (blank && loose.ends_with(' ')) continue;
    loose += blank ? ' ' : c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  }
  return loose;
}

/// "(true)" or "(false)", or "".
std::string truth_value(const std::string& loose) {
  for (const char* word : {"true", "t", "yes", "y", "1", "1.0", "on"})
    if (loose == word) return "(true)";
  for (const char* word : {"false", "f", "no", "n", "0", "0.0", "off"})
    if (loose == word) return "(false)";
  return "";
}

/// The keys that a name, or a cell, is known by beside the exact one.
std::vector<std::string> loose_keys(std::string_view text, bool truth) {
  std::vector<std::string> keys{loose_name(text)};
  double value = 0;
  if (parse_cell(keys[0], value)) keys.push_back(format_exact(value));
  if (truth) keys.push_back(truth_value(keys[0]));
  std::erase(keys, "");
  return keys;
}

}  // namespace

CategoryIndex::CategoryIndex(const std::vector<std::string>& names) {
  truth_ = std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return !truth_value(loose_name(name)).empty();
  });
  for (size_t i = 0; i < names.size(); ++i) {
    exact_.emplace(names[i], int64_t(i));
    for (const std::string& key : loose_keys(names[i], truth_)) {
      const auto [known, fresh] = loose_.emplace(key, int64_t(i));
      if (!fresh && known->second != int64_t(i)) known->second = kSeveralNames;
    }
  }
}

int64_t CategoryIndex::find(std::string_view trimmed) const {
  if (const auto known = exact_.find(trimmed); known != exact_.end()) return known->second;
  for (const std::string& key : loose_keys(trimmed, truth_))
    if (const auto known = loose_.find(key); known != loose_.end())
      return std::max<int64_t>(known->second, -1);
  return -1;
}

}  // namespace fovea
