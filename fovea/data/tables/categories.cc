#include "fovea/data/tables/categories.h"

#include <algorithm>
#include <set>

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

constexpr std::array<std::array<const char*, 2>, 7> kTruthWords{{{"false", "true"},
                                                                 {"f", "t"},
                                                                 {"no", "yes"},
                                                                 {"n", "y"},
                                                                 {"0", "1"},
                                                                 {"0.0", "1.0"},
                                                                 {"off", "on"}}};

/// "(true)" or "(false)", or "".
std::string truth_value(const std::string& loose) {
  for (const auto& [no, yes] : kTruthWords) {
    if (loose == yes) return "(true)";
    if (loose == no) return "(false)";
  }
  return "";
}

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
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

std::optional<std::array<std::string, 2>> truth_spellings(
    const std::map<std::string_view, int64_t>& counts) {
  struct Pair {
    std::array<std::string, 2> spellings;
    int64_t count = 0;
  };
  std::map<std::array<int64_t, 3>, Pair> pairs;  // by word, and how its first two letters are
  std::set<std::string> loose_names;
  std::array<bool, 2> found{};
  bool letters = false;
  for (const auto& [name, count] : counts) {
    const std::string loose = loose_name(name);
    if (truth_value(loose).empty()) return {};
    loose_names.insert(loose);
    letters |= loose.size() == 1 && loose[0] >= 'a';
    for (size_t word = 0; word < kTruthWords.size(); ++word)
      for (const size_t side : {0, 1}) {
        if (loose != kTruthWords[word][side]) continue;
        found[side] = true;
        Pair& pair = pairs[{int64_t(word), is_upper(name[0]), is_upper(name[name.size() > 1])}];
        pair.spellings[side] = name;
        pair.count += count;
      }
  }
  if (counts.size() < 3 || !found[0] || !found[1] || (letters && loose_names.size() > 2)) return {};
  const Pair* best = nullptr;
  for (const auto& [style, pair] : pairs)
    if (!pair.spellings[0].empty() && !pair.spellings[1].empty() &&
        (best == nullptr || pair.count > best->count))
      best = &pair;
  if (best) return best->spellings;
  return std::array<std::string, 2>{kTruthWords[0][0], kTruthWords[0][1]};
}

std::string merge_spellings(std::vector<std::string_view>& trimmed_cells) {
  std::map<std::string_view, int64_t> counts;
  for (const std::string_view cell : trimmed_cells)
    if (!is_missing(cell)) ++counts[cell];
  std::map<std::string_view, std::string_view> meant;
  if (const auto truth = truth_spellings(counts)) {
    for (const auto& [name, count] : counts) {
      const bool yes = truth_value(loose_name(name)) == "(true)";
      const auto known = counts.find((*truth)[yes]);
      meant[name] = known != counts.end() ? known->first : kTruthWords[0][yes];
    }
  } else {
    std::unordered_map<std::string, std::string_view> usual;  // the most frequent by its loose name
    for (const auto& [name, count] : counts) {
      const auto [known, fresh] = usual.emplace(loose_name(name), name);
      if (!fresh && count > counts[known->second]) known->second = name;
    }
    for (const auto& [name, count] : counts)
      if (name.size() > 1) meant[name] = usual[loose_name(name)];
  }
  std::set<std::string_view> left;
  std::vector<std::string_view> merged;
  for (const auto& [name, count] : counts) {
    const auto found = meant.find(name);
    left.insert(found == meant.end() ? name : found->second);
    if (found != meant.end() && found->second != name) merged.push_back(name);
  }
  if (merged.empty() || left.size() < 2) return "";
  for (std::string_view& cell : trimmed_cells)
    if (const auto found = meant.find(cell); found != meant.end()) cell = found->second;
  const std::string more =
      merged.size() > 1
          ? concat(" (and ", format_count(int64_t(merged.size()) - 1), " more spellings)")
          : "";
  return concat("'", merged[0], "' and '", meant[merged[0]], "' are taken for one category", more);
}

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
