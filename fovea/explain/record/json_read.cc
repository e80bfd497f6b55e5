#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/base64.h"
#include "fovea/base/file.h"
#include "fovea/base/text.h"
#include "fovea/explain/record/json.h"

namespace fovea {
namespace {

constexpr const char* kFormat = "fovea-explanation";
constexpr MapKind kKinds[] = {MapKind::Distribution, MapKind::Partial, MapKind::Gate, MapKind::Free,
                              MapKind::Contribution};
constexpr MapLayout kLayouts[] = {MapLayout::Dense, MapLayout::Edges, MapLayout::Points};

void read_special(const Field& field, Axis& axis) {
  const auto special = field.find("special");
  if (!special) return;
  special->each({}, [&](const Field& unit) {
    const int64_t least = axis.special.empty() ? 0 : axis.special.back() + 1;
    axis.special.push_back(unit.integer(least, int64_t(axis.labels.size()) - 1));
  });
}

void read_parent(const Field& field, Axis& axis) {
  axis.parent = field.text_or_empty("parent");
  if (axis.parent.empty()) return;
  const Field offsets = field.at("offsets");
  offsets.each({}, [&](const Field& offset) {
    const int64_t least = axis.offsets.empty() ? 0 : axis.offsets.back();
    axis.offsets.push_back(offset.integer(least, int64_t(axis.labels.size())));
  });
  require(!axis.offsets.empty() && axis.offsets.front() == 0 &&
              axis.offsets.back() == int64_t(axis.labels.size()),
          ErrorKind::BadData, offsets.place(), ": must go from 0 to ", axis.labels.size());
}

Axis axis_from_json(const Field& field, MatrixReader& matrices) {
  Axis axis;
  axis.name = field.at("name").text();
  axis.kind = field.at("kind").text();
  axis.labels = field.at("labels").texts();
  const size_t size = axis.labels.size();
  if (const auto output = field.find("output")) axis.output = output->mark();
  axis.text = field.text_or_empty("text");
  if (const auto spans = field.find("spans")) axis.spans = spans_from_json(*spans, size, axis.text);
  read_special(field, axis);
  read_parent(field, axis);
  axis.media = field.text_or_empty("media");
  if (const auto grid = field.find("grid")) {
    axis.grid_rows = grid->at("rows").integer(1, INT32_MAX);
    axis.grid_columns = grid->at("columns").integer(1, INT32_MAX);
    axis.media = grid->at("media").text();
    const size_t cells = size - axis.special.size();
    require(axis.grid_rows * axis.grid_columns == int64_t(cells), ErrorKind::BadData, grid->place(),
            ": has ", axis.grid_rows, " x ", axis.grid_columns, " cells, the axis ", cells);
    require(axis.special.empty() || axis.special.back() + 1 == int64_t(axis.special.size()),
            ErrorKind::BadData, grid->place(), ": special units must stand before the cells");
  }
  if (const auto times = field.find("times")) axis.times = times->numbers(size);
  axis.time_unit = field.text_or_empty("time_unit");
  if (const auto values = field.find("values"))
    values->each(size, [&](const Field& value) {
      axis.values.push_back(value.value().is_null()     ? ""
                            : value.value().is_string() ? value.text()
                                                        : format_exact(value.number()));
    });
  if (const auto sound = field.find("spectrogram")) {
    const auto& given = sound->value();
    const size_t rows =
        given.is_array() ? given.size() : size_t(sound->at("rows").integer(0, INT32_MAX));
    const Matrix matrix = matrices.dense(*sound, rows, size);
    axis.spectrogram = at::empty({int64_t(rows), int64_t(size)}, at::kDouble);
    std::copy(matrix.values.begin(), matrix.values.end(), axis.spectrogram.data_ptr<double>());
  }
  return axis;
}

Medium medium_from_json(const Field& field) {
  Medium medium;
  medium.name = field.at("name").text();
  medium.type = field.at("type").text();
  const std::vector<std::string> known{"image/png", "image/jpeg", "image/svg+xml", "audio/wav"};
  require(std::ranges::find(known, medium.type) != known.end(), ErrorKind::BadData, field.place(),
          ".type: unknown value \"", medium.type, "\", expected one of ", join(known));
  medium.width = field.integer_or("width", 0, 1, INT32_MAX);
  medium.height = field.integer_or("height", 0, 1, INT32_MAX);
  medium.alt = field.text_or_empty("alt");
  const Field data = field.at("data");
  medium.bytes = base64_decode(data.text(), data.place());
  return medium;
}

const Axis& find_axis(const std::vector<Axis>& axes, const Field& name) {
  std::vector<std::string> names;
  for (const Axis& axis : axes) {
    if (axis.name == name.text()) return axis;
    names.push_back(axis.name);
  }
  fail(ErrorKind::BadData, name.place(), ": there is no axis \"", name.text(), "\"",
       suggestion(name.text(), names), "; there are: ", join(names));
}

void read_weights(const Field& field, MatrixReader& matrices, MapView& view) {
  const Field weights = field.at("weights");
  if (view.layout == MapLayout::Points) {
    Matrix matrix = matrices.with_rows(weights, view.queries());
    require(matrix.rows == 0 || matrix.columns > 2, ErrorKind::BadData, weights.place(),
            ": a glimpse has x, y and at least one width, found ", matrix.columns, " numbers");
    view.point_width = matrix.columns;
    view.weights = std::move(matrix.values);
  } else if (view.layout == MapLayout::Edges && weights.value().is_object() &&
             weights.at("encoding").text() == "sparse") {
    SparseMatrix matrix = matrices.sparse(weights, view.queries(), view.keys());
    for (size_t row = 0; row < matrix.rows; ++row)
      view.edge_queries.insert(view.edge_queries.end(), matrix.starts[row + 1] - matrix.starts[row],
                               int64_t(row));
    view.edge_keys.assign(matrix.keys.begin(), matrix.keys.end());
    view.weights = std::move(matrix.values);
  } else {
    view.weights = matrices.dense(weights, view.queries(), view.keys()).values;
  }
}

/// Edges as a matrix of lists: those that are not 0.
void keep_edges(MapView& view) {
  if (view.layout != MapLayout::Edges || !view.edge_queries.empty()) return;
  std::vector<double> kept;
  for (size_t i = 0; i < view.weights.size(); ++i)
    if (view.weights[i] != 0) {
      view.edge_queries.push_back(int64_t(i / view.keys()));
      view.edge_keys.push_back(int64_t(i % view.keys()));
      kept.push_back(view.weights[i]);
    }
  view.weights = std::move(kept);
}

void read_truth(const Field& field, MapView& view) {
  const auto truth = field.find("truth");
  if (!truth) return;
  require(view.layout == MapLayout::Dense, ErrorKind::BadData, truth->place(),
          ": only dense maps have truth");
  view.truth.assign(view.weights.size(), 0);
  const auto queries = int64_t(view.queries()), keys = int64_t(view.keys());
  truth->each({}, [&](const Field& pair) {
    std::vector<int64_t> place;
    pair.each(2, [&](const Field& index) {
      place.push_back(index.integer(0, (place.empty() ? queries : keys) - 1));
    });
    view.truth[size_t(place[0] * keys + place[1])] = 1;
  });
}

MapView map_from_json(const Field& field, const std::vector<Axis>& axes, MatrixReader& matrices) {
  MapView view;
  view.name = field.at("name").text();
  view.title = field.at("title").text();
  view.kind = field.at("kind").one_of(kKinds);
  if (const auto layout = field.find("layout")) view.layout = layout->one_of(kLayouts);
  view.layer = field.integer_or("layer", 0, 1, INT32_MAX);
  view.head = field.integer_or("head", 0, 1, INT32_MAX);
  view.group = field.text_or_empty("group");
  view.total = field.text_or_empty("total");
  if (const auto products = field.find("products")) view.has_products = products->mark();
  const Axis& query = find_axis(axes, field.at("query_axis"));
  const Axis& key = find_axis(axes, field.at("key_axis"));
  const auto name = [](const Axis& axis) {  // the one prediction has no name in a view
    return axis.name == "prediction" && axis.kind == "prediction" ? std::string() : axis.name;
  };
  view.query_axis = name(query);
  view.key_axis = name(key);
  view.query_labels = query.labels;
  view.key_labels = key.labels;
  read_weights(field, matrices, view);
  keep_edges(view);
  const auto matrix = [&](const Field& values) {
    return matrices.dense(values, view.queries(), view.keys()).values;
  };
  if (const auto spread = field.find("spread")) view.spread = matrix(*spread);
  if (const auto interval = field.find("interval")) {
    view.low = matrix(interval->at("low"));
    view.high = matrix(interval->at("high"));
    view.interval_of = interval->at("of").text();
    view.interval_is = interval->text_or_empty("is");
  }
  read_truth(field, view);
  return view;
}

FaithfulnessMeasure measure_from_json(const Field& field) {
  FaithfulnessMeasure measure;
  measure.name = field.at("name").text();
  if (const auto value = field.find("value")) measure.value = value->number();
  if (const auto interval = field.find("interval")) {
    const std::vector<double> ends = interval->numbers(2);
    measure.interval = {ends[0], ends[1]};
  }
  if (const auto baseline = field.find("baseline")) measure.baseline = baseline->number();
  measure.better = field.at("better").text();
  measure.about = field.at("about").text();
  return measure;
}

FaithfulnessCurve curve_from_json(const Field& field) {
  FaithfulnessCurve curve;
  curve.name = field.at("name").text();
  curve.about = field.text_or_empty("about");
  curve.x = field.at("x").numbers();
  field.at("series").each({}, [&](const Field& series) {
    curve.series.push_back({series.at("name").text(), series.at("values").numbers(curve.x.size())});
  });
  return curve;
}

UnitImportances importances_from_json(const Field& field, std::optional<size_t>& units) {
  UnitImportances importances;
  if (const auto row = field.find("row")) importances.row = row->integer(0, INT64_MAX);
  field.at("series").each({}, [&](const Field& series) {
    const Field values = series.at("values");
    importances.series.push_back(
        {series.at("name").text(), units ? values.numbers(*units) : values.numbers()});
    units = importances.series.back().values.size();
  });
  return importances;
}

Faithfulness faithfulness_from_json(const Field& field) {
  Faithfulness judged;
  judged.map = field.at("map").text();
  judged.verdict = field.at("verdict").text();
  judged.trust = field.at("trust").text();
  judged.examples = field.at("examples").integer(0, INT64_MAX);
  judged.output = field.at("output").text();
  field.at("measures").each({}, [&](const Field& measure) {
    judged.measures.push_back(measure_from_json(measure));
  });
  field.at("curves").each(
      {}, [&](const Field& curve) { judged.curves.push_back(curve_from_json(curve)); });
  std::optional<size_t> units;  // alike in all of them
  if (const auto importances = field.find("importances"))
    importances->each({}, [&](const Field& entry) {
      judged.importances.push_back(importances_from_json(entry, units));
    });
  judged.notes = field.at("notes").texts();
  judged.judged_as = field.text_or_empty("judged_as");
  return judged;
}

GivenAnswer answer_from_json(const Field& field) {
  GivenAnswer given{field.at("text").text()};
  if (const auto answer = field.find("answer")) given.answer = answer->value();
  if (const auto shares = field.find("shares")) {
    shares->each({}, [&](const Field& share) {
      const auto is_given = share.find("given");
      given.shares.push_back({share.at("label").text(), share.at("probability").finite(),
                              is_given && is_given->mark()});
    });
    given.answers = field.at("answers").integer(0, INT64_MAX);
  }
  return given;
}

TakenAway taken_away_from_json(const Field& field) {
  TakenAway without;
  field.at("units").each({}, [&](const Field& entry) {
    TakenAway::Units some{entry.at("axis").text(), {}, entry.at("labels").texts()};
    entry.at("units").each(some.labels.size(), [&](const Field& unit) {
      some.units.push_back(unit.integer(0, INT64_MAX));
    });
    without.units.push_back(std::move(some));
  });
  without.before = answer_from_json(field.at("before"));
  if (const auto predictions = field.find("predictions"))
    without.predictions = predictions->integer(1, INT64_MAX);
  return without;
}

void read_prediction(const Field& field, Explanation& explanation) {
  GivenAnswer given = answer_from_json(field);
  explanation.prediction = std::move(given.text);
  explanation.answer = std::move(given.answer);
  explanation.shares = std::move(given.shares);
  explanation.answers = given.answers;
  if (const auto known = field.find("truth")) {
    explanation.truth.emplace(KnownTruth{known->at("text").text(), {}});
    if (const auto right = known->find("right")) explanation.truth->right = right->mark();
    explanation.truth->remark = known->text_or_empty("remark");
  }
}

void read_axes(const Field& root, MatrixReader& matrices, Explanation& explanation) {
  root.at("axes").each({}, [&](const Field& field) {
    Axis axis = axis_from_json(field, matrices);
    for (const Axis& other : explanation.axes)
      require(other.name != axis.name, ErrorKind::BadData, field.place(), ": there are two axes \"",
              axis.name, "\"");
    explanation.axes.push_back(std::move(axis));
  });
  for (const Axis& axis : explanation.axes) {
    if (axis.parent.empty()) continue;
    const auto parent = std::ranges::find_if(
        explanation.axes, [&](const Axis& other) { return other.name == axis.parent; });
    require(parent != explanation.axes.end(), ErrorKind::BadData, root.place(), "axis \"",
            axis.name, "\": there is no axis \"", axis.parent, "\" to be its parent");
    require(axis.offsets.size() == parent->labels.size() + 1, ErrorKind::BadData, root.place(),
            "axis \"", axis.name, "\": has ", axis.offsets.size(), " offsets, its parent \"",
            axis.parent, "\" ", parent->labels.size(), " units");
  }
}

}  // namespace

std::vector<Span> spans_from_json(const Field& field, size_t count, const std::string& text) {
  const int64_t length =
      std::ranges::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; });
  std::vector<Span> spans;
  field.each(count, [&](const Field& span) {
    spans.emplace_back();
    if (span.value().is_null()) return;
    std::vector<int64_t> ends;
    span.each(2, [&](const Field& end) { ends.push_back(end.integer(0, length)); });
    require(ends[0] <= ends[1], ErrorKind::BadData, span.place(), ": begins at ", ends[0],
            " and ends before it, at ", ends[1]);
    spans.back() = {ends[0], ends[1]};
  });
  return spans;
}

Explanation explanation_from_json(const Json& value, const std::string& where) {
  const Field root(value, concat(where, ": "));
  const Field format = root.at("format");
  require(format.text() == kFormat, ErrorKind::BadData, format.place(), ": found \"", format.text(),
          "\", expected \"", kFormat, "\"");
  const int64_t version = root.at("version").integer(1, INT64_MAX);
  require(version == kExplanationVersion, ErrorKind::Unsupported, where, ": ", kFormat, " version ",
          version, " is ", version > kExplanationVersion ? "newer" : "older", " than version ",
          kExplanationVersion, ", which this build reads; ",
          version > kExplanationVersion ? "try a newer fovea" : "explain again to get a new file");
  const auto chunks = root.find("chunks");
  if (chunks) chunks->expect(chunks->value().is_array(), "a list");
  MatrixReader matrices(chunks ? &chunks->value() : nullptr);
  Explanation explanation;
  explanation.task = root.at("task").text();
  explanation.title = root.at("title").text();
  explanation.input = root.text_or_empty("input");
  read_prediction(root.at("prediction"), explanation);
  if (const auto cuts = root.find("cuts"))
    cuts->each({}, [&](const Field& cut) {
      const int64_t of = cut.at("of").integer(0, INT64_MAX);
      explanation.cuts.push_back({cut.at("unit").text(), cut.at("read").integer(0, of), of});
    });
  if (const auto without = root.find("without"))
    explanation.without = taken_away_from_json(*without);
  if (const auto card = root.find("model")) {
    card->expect(card->value().is_object(), "an object");
    explanation.model = card->value();
  }
  read_axes(root, matrices, explanation);
  if (const auto media = root.find("media"))
    media->each(
        {}, [&](const Field& medium) { explanation.media.push_back(medium_from_json(medium)); });
  root.at("maps").each({}, [&](const Field& map) {
    explanation.maps.push_back(map_from_json(map, explanation.axes, matrices));
  });
  if (const auto judged = root.find("faithfulness"))
    judged->each({}, [&](const Field& entry) {
      explanation.faithfulness.push_back(faithfulness_from_json(entry));
    });
  if (const auto made = root.find("query_keys")) {
    made->expect(made->value().is_array(), "a list");
    explanation.query_keys = made->value();
  }
  explanation.notes = root.at("notes").texts();
  return explanation;
}

}  // namespace fovea
