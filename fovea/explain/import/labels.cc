#include "fovea/explain/import/labels.h"

#include <algorithm>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/explain/record/json.h"

namespace fovea {
namespace {

constexpr uint64_t kFileLimit = 64 << 20;

/// The text and the offsets that stand beside a list of labels. Offsets without their text show
/// nothing and are left out.
void add_text(const Field& beside, UnitLabels& units) {
  if (!units.spans.empty()) return;
  units.text = beside.text_or_empty("text");
  if (units.text.empty()) return;
  for (const char* key : {"offsets", "offset_mapping"})
    if (const auto offsets = beside.find(key)) {
      units.spans = spans_from_json(*offsets, units.labels.size(), units.text);
      for (Span& span : units.spans)  // tokenisers give [0, 0] to what they added
        if (span.begin == span.end) span = {};
      return;
    }
}

/// A list of texts, or an object with "tokens".
UnitLabels units_from_json(const Field& field) {
  UnitLabels units;
  if (!field.value().is_object()) {
    units.labels = field.texts();
    return units;
  }
  units.labels = field.at("tokens").texts();
  add_text(field, units);
  return units;
}

PairLabels pair_from_json(const Field& field) {
  PairLabels pair;
  if (!field.value().is_object() || field.find("tokens")) {
    pair.keys = units_from_json(field);
    return pair;
  }
  const auto queries = field.find("queries"), keys = field.find("keys");
  require(queries || keys, ErrorKind::BadData, field.place(),
          field.place().ends_with(": ") ? "" : ": ",
          "no labels found, expected a list of texts, \"tokens\", or \"queries\" and \"keys\"");
  if (queries) pair.queries = units_from_json(*queries);
  if (keys) pair.keys = units_from_json(*keys);
  add_text(field, keys ? pair.keys : pair.queries);
  return pair;
}

/// One label a line; an empty line is an empty label.
std::vector<std::string> split_lines(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return {""};
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  return lines;
}

/// A first label "[CLS]" looks like a list, too; only what is JSON throughout is taken for it.
bool is_json(const std::string& text) {
  const std::string_view trimmed = trim(text);
  return (trimmed.starts_with('[') || trimmed.starts_with('{')) && Json::accept(text);
}

ImportedLabels labels_from_file(const std::filesystem::path& path) {
  const std::string where = path.string();
  require(std::filesystem::file_size(path) <= kFileLimit, ErrorKind::BadData, where,
          ": has more than ", format_count(kFileLimit), " bytes, too many for labels");
  const std::string text = read_file(path);
  const size_t valid = valid_utf8_prefix(text);
  require(valid == text.size(), ErrorKind::BadData, where, ":",
          1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(valid), '\n'),
          ": is not UTF-8");
  if (path.extension() == ".json" || is_json(text))
    return labels_from_json(parse_json(text, where), where);
  require(!text.empty(), ErrorKind::BadData, where, ": is empty, expected one label a line");
  ImportedLabels labels;
  labels.common.keys.labels = split_lines(text);
  return labels;
}

}  // namespace

ImportedLabels labels_from_json(const Json& value, const std::string& where) {
  const Field root(value, concat(where, ": "));
  ImportedLabels labels;
  if (!value.is_object()) {
    labels.common = pair_from_json(root);
    return labels;
  }
  labels.text = root.text_or_empty("text");
  const auto tensors = root.find("tensors");
  if (!tensors || root.find("tokens") || root.find("queries") || root.find("keys"))
    labels.common = pair_from_json(root);
  if (!tensors) return labels;
  tensors->expect(tensors->value().is_object(), "an object with labels by tensor");
  for (const auto& [name, member] : tensors->value().items())
    labels.tensors[name] = pair_from_json(Field(member, concat(tensors->place(), ".", name)));
  return labels;
}

ImportedLabels read_labels(const std::string& given) {
  if (given.empty()) return {};
  std::error_code ignored;  // a long list is no possible name of a file
  if (std::filesystem::is_regular_file(given, ignored)) return labels_from_file(given);
  require(valid_utf8_prefix(given) == given.size(), ErrorKind::InvalidArgument,
          "the labels are not UTF-8");
  if (is_json(given)) return labels_from_json(parse_json(given, "labels"), "labels");
  require(given.find(',') != std::string::npos, ErrorKind::NotFound, given,
          ": there is no such file of labels; labels themselves are given with commas between "
          "them, or as JSON: [\"one\"]");
  ImportedLabels labels;
  for (const std::string& label : split(given, ','))
    labels.common.keys.labels.emplace_back(trim(label));
  return labels;
}

}  // namespace fovea
