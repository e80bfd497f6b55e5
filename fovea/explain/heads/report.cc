#include "fovea/explain/heads/report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "fovea/base/error.h"

namespace fovea {

namespace {

using Value = std::optional<double>;

/// One head with everything that was measured of it.
struct Head {
  const HeadStatistics& statistics;
  const HeadImportance* importance;  // or null
};

struct HeadMeasure {
  const char* key;    // in JSON, and at the top of a column
  const char* title;  // of a picture
  MapKind kind;
  Value (*of)(const Head&);
};

/// In the order of the table.
constexpr HeadMeasure kHeadMeasures[] = {
    {"importance", "importance", MapKind::Gate,
     [](const Head& h) { return h.importance ? Value(h.importance->importance) : Value(); }},
    {"drop", "drop without the head", MapKind::Free,
     [](const Head& h) { return h.importance ? h.importance->drop : Value(); }},
    {"entropy", "entropy, nats", MapKind::Free,
     [](const Head& h) { return Value(h.statistics.entropy); }},
    {"uniform", "share of the uniform entropy", MapKind::Gate,
     [](const Head& h) { return h.statistics.normalised_entropy; }},
    {"largest", "largest weight", MapKind::Gate,
     [](const Head& h) { return Value(h.statistics.largest); }},
    {"special", "special tokens", MapKind::Gate,
     [](const Head& h) { return h.statistics.special; }},
    {"distance", "distance", MapKind::Free, [](const Head& h) { return h.statistics.distance; }},
    {"own", "own position", MapKind::Gate, [](const Head& h) { return h.statistics.own; }},
    {"previous", "previous position", MapKind::Gate,
     [](const Head& h) { return h.statistics.previous; }},
    {"next", "next position", MapKind::Gate, [](const Head& h) { return h.statistics.next; }},
    {"sink", "first position", MapKind::Gate, [](const Head& h) { return h.statistics.sink; }},
    {"induction", "what came after the same token", MapKind::Gate,
     [](const Head& h) { return h.statistics.induction; }}};

std::vector<Head> join_heads(const HeadReport& report) {
  std::vector<Head> heads;
  for (const HeadStatistics& statistics : report.statistics) {
    const auto found = std::ranges::find_if(
        report.importance, [&](const HeadImportance& one) { return one.name == statistics.name; });
    heads.push_back({statistics, found == report.importance.end() ? nullptr : &*found});
  }
  return heads;
}

bool is_known(const HeadMeasure& measure, const std::vector<Head>& heads) {
  return std::ranges::any_of(heads, [&](const Head& head) { return measure.of(head).has_value(); });
}

std::string value_text(const Value& value) {
  return value ? format_number(std::abs(*value) < 5e-7 ? 0 : *value, 3) : "-";
}

/// Layers by heads of one measure of one attention; gaps where a layer has fewer heads.
MapView measure_view(const HeadMeasure& measure, const std::string& map, bool is_only_map,
                     const std::vector<Head>& heads) {
  int64_t layers = 0, widest = 0;
  for (const Head& head : heads) {
    const HeadName& name = head.statistics.name;
    if (name.map != map) continue;
    layers = std::max(layers, std::max<int64_t>(1, name.layer));
    widest = std::max(widest, name.head);
  }
  MapView view;
  view.name = concat(map, " ", measure.key);
  view.title = is_only_map ? measure.title : concat(map, ", ", measure.title);
  view.kind = measure.kind;
  view.query_axis = is_only_map ? "layers" : concat(map, " layers");
  view.key_axis = is_only_map ? "heads" : concat(map, " heads");
  for (int64_t layer = 1; layer <= layers; ++layer)
    view.query_labels.push_back(concat("layer ", layer));
  for (int64_t head = 1; head <= widest; ++head) view.key_labels.push_back(concat(head));
  view.weights.assign(size_t(layers * widest), std::numeric_limits<double>::quiet_NaN());
  for (const Head& head : heads) {
    const HeadName& name = head.statistics.name;
    const Value value = measure.of(head);
    if (name.map != map || !value) continue;
    const int64_t layer = std::max<int64_t>(1, name.layer);
    view.weights[size_t((layer - 1) * widest + name.head - 1)] = *value;
  }
  return view;
}

}  // namespace

TextTable head_table(const HeadReport& report) {
  const std::vector<Head> heads = join_heads(report);
  std::vector<std::string> header{"map", "layer", "head"};
  for (const HeadMeasure& measure : kHeadMeasures)
    if (is_known(measure, heads)) header.push_back(measure.key);
  const bool some_do =
      std::ranges::any_of(heads, [](const Head& head) { return !head.statistics.does().empty(); });
  if (some_do) header.push_back("does");
  TextTable table(header);
  for (const Head& head : heads) {
    const HeadName& name = head.statistics.name;
    std::vector<std::string> row{name.map, concat(std::max<int64_t>(1, name.layer)),
                                 concat(name.head)};
    for (const HeadMeasure& measure : kHeadMeasures)
      if (is_known(measure, heads)) row.push_back(value_text(measure.of(head)));
    if (some_do) row.push_back(head.statistics.does());
    table.add(std::move(row));
  }
  return table;
}

Json heads_to_json(const HeadReport& report) {
  Json heads = Json::array();
  for (const Head& head : join_heads(report)) {
    const HeadName& name = head.statistics.name;
    Json entry{{"map", name.map},
               {"layer", std::max<int64_t>(1, name.layer)},
               {"head", name.head},
               {"queries", head.statistics.queries}};
    for (const HeadMeasure& measure : kHeadMeasures)
      if (const Value value = measure.of(head)) entry[measure.key] = *value;
    if (head.importance) entry["gradient"] = head.importance->gradient;
    if (const std::string does = head.statistics.does(); !does.empty()) entry["does"] = does;
    heads.push_back(std::move(entry));
  }
  return {{"rows", report.rows}, {"heads", std::move(heads)}};
}

Explanation explain_heads(const HeadReport& report, const std::string& title, bool everything) {
  const std::vector<Head> heads = join_heads(report);
  std::vector<std::string> maps;
  for (const Head& head : heads)
    if (std::ranges::find(maps, head.statistics.name.map) == maps.end())
      maps.push_back(head.statistics.name.map);
  Explanation explanation;
  explanation.title =
      concat(title, ": ", format_count(int64_t(heads.size())), " heads, measured on ",
             format_count(report.rows), report.rows == 1 ? " row" : " rows");
  const std::string shown = report.importance.empty() ? "entropy" : "importance";
  for (const std::string& map : maps)
    for (const HeadMeasure& measure : kHeadMeasures)
      if (everything ? is_known(measure, heads) : measure.key == shown) {
        MapView view = measure_view(measure, map, maps.size() == 1, heads);
        const bool empty =
            std::ranges::all_of(view.weights, [](double weight) { return std::isnan(weight); });
        if (!empty) explanation.maps.push_back(std::move(view));
      }
  if (everything && report.of_values)
    explanation.notes.push_back(
        "the answers are numbers: what they lose without a head is how far they move");
  return explanation;
}

}  // namespace fovea
