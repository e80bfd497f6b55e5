#include "fovea/explain/record/edge_table.h"

#include "fovea/base/error.h"
#include "fovea/explain/record/labels.h"

namespace fovea {

namespace {

/// Quoted where it holds what a CSV means something by.
std::string csv_cell(const std::string& label) {
  const std::string text = valid_utf8(label);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string edge_table(const Explanation& explanation) {
  std::string table = "source,target,weight,self_loop,layer,head\n";
  bool found = false;
  for (const MapView& map : explanation.maps) {
    if (map.layout != MapLayout::Edges) continue;
    found = true;
    const bool one_axis = map.query_axis == map.key_axis;
    for (size_t i = 0; i < map.weights.size(); ++i) {
      const auto query = size_t(map.edge_queries[i]), key = size_t(map.edge_keys[i]);
      table += concat(csv_cell(map.key_labels.at(key)), ",", csv_cell(map.query_labels.at(query)),
                      ",", format_exact(map.weights[i]), ",",
                      one_axis && query == key ? "yes" : "no", ",", map.layer, ",", map.head, "\n");
    }
  }
  require(found, ErrorKind::InvalidArgument,
          "this explanation has no attention over edges to write as a table; .json holds all maps");
  return table;
}

}  // namespace fovea
