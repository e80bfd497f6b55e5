// Labels for attention that was computed elsewhere: one list for queries and keys, or one for each,
// for all tensors or for some by name. They come from a text file with one label a line, from JSON
// as tokenisers write it, or from a list on the command line. Marks of tokenisers ("##", "Ġ", "▁")
// stay as they are. docs/formats/weights.md lists the forms.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/tensor/attention_map.h"

namespace fovea {

/// The units of one side of a map.
struct UnitLabels {
  std::vector<std::string> labels = {};
  std::string text = "";         // that the units stand in, and
  std::vector<Span> spans = {};  // where; empty, or one per label

  bool empty() const { return labels.empty(); }
};

/// A single list is kept as `keys`; it serves the queries too where they are the same units.
struct PairLabels {
  UnitLabels queries = {}, keys = {};

  bool empty() const { return queries.empty() && keys.empty(); }
};

struct ImportedLabels {
  PairLabels common = {};
  std::map<std::string, PairLabels> tensors = {};  // by name of a tensor or of its family
  std::string text = "";                           // the input, where it is known

  bool empty() const { return common.empty() && tensors.empty(); }
};

/// A list of texts, or an object with "tokens" or with "queries" and "keys", and optionally "text",
/// "offsets" and "tensors". BadData names the field.
ImportedLabels labels_from_json(const Json& value, const std::string& where);

/// `given` is the name of a file, JSON, or texts with commas between them; "" gives no labels.
/// NotFound when it is neither a file nor a list.
ImportedLabels read_labels(const std::string& given);

}  // namespace fovea
