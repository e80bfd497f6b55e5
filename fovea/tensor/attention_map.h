// One attention record for every model: who looks (query axis), at what (key axis), how much
// (weights), and what kind of numbers these are. The kind decides which checks hold; the layout
// decides the shape of `weights`.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fovea {

/// Where a unit stands in its axis's text: code points begin … end-1; begin -1: nowhere.
struct Span {
  int64_t begin = -1, end = -1;
};

/// A named, labelled dimension of an Example. Words in sentences in a document: the axis "word" has
/// parent "sentence", and sentence i owns the words offsets[i] … offsets[i+1]-1. Only the first
/// three fields are always there; docs/formats/explanation.md says what the others show.
struct Axis {
  std::string name;  // "columns", "source", "word"
  std::string kind;  // what one unit is: "column", "position", "token", "cell", "frame", "node", …
  std::vector<std::string> labels;    // one per unit
  std::string parent = "";            // name of the axis that groups this one, or ""
  std::vector<int64_t> offsets = {};  // one more than the parent has units; empty without a parent
  bool output = false;                // the units were put out by the model
  std::string text = "";              // the text that the units stand in, and where
  std::vector<Span> spans = {};
  std::vector<int64_t> special = {};     // units that are no part of the text: [CLS], </s>
  std::vector<std::string> values = {};  // of columns, a review's rating, …; "" where there is none
  int64_t grid_rows = 0, grid_columns = 0;  // cells over the picture `media`, row by row
  std::string media = "";                   // name of a Medium
  std::vector<double> times = {};
  std::string time_unit = "";
  at::Tensor spectrogram = at::Tensor();  // [frequencies, units]
};

enum class MapKind {
  Distribution,  // rows are >= 0 and sum to 1
  Partial,       // rows are >= 0 and sum to at most 1 (local-p, fully masked rows)
  Gate,          // each weight in 0..1
  Free,          // any number (context attention)
  Contribution,  // signed, and each row sums to what `total` names
};

enum class MapLayout {
  Dense,   // weights [B, H, Q, K]
  Edges,   // index [2, E] (query, key) and weights [E, H]
  Points,  // weights [B, H, Q, P]: place and scale of each glimpse
};

const char* name_of(MapKind kind);
const char* name_of(MapLayout layout);

/// Exact weights of a map that was computed without storing them: any rows on demand, from the
/// queries, the keys and what a row's exponentials sum to.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  virtual std::array<int64_t, 4> sizes() const = 0;  // B, H, Q, K
  /// Rows first … first + count - 1 of one head of one example: [count, K], without gradient.
  virtual at::Tensor rows(int64_t example, int64_t head, int64_t first, int64_t count) const = 0;
};

struct AttentionMap {
  std::string name;
  std::string query_axis;  // name of an Axis of the Example, or "" for the one prediction
  std::string key_axis;
  MapKind kind = MapKind::Distribution;
  MapLayout layout = MapLayout::Dense;
  at::Tensor weights;  // undefined where there is a source instead
  at::Tensor index;    // edges only
  std::string total;   // contributions only: what a row sums to, for example "logit minus bias"
  int64_t layer = 0;   // of stacked attention, from 1; 0: there is only one
  std::shared_ptr<const WeightSource> source = nullptr;  // dense maps recorded on demand
};

/// How many heads the map has.
int64_t heads_of(const AttentionMap& map);
/// One head of one example of a dense map, from the weights or their source: [Q, K].
at::Tensor head_of(const AttentionMap& map, int64_t example, int64_t head);
/// All weights of a dense map as one tensor: [B, H, Q, K].
at::Tensor dense_weights(const AttentionMap& map);

/// What is wrong with the map's numbers for its kind, or "" when nothing is. Padding must have been
/// cut off before, or `keep` [B, Q, K] must say which weights are real: the others have to be
/// exactly 0.
std::string check_map(const AttentionMap& map, const at::Tensor& keep = {},
                      double tolerance = 1e-4);

}  // namespace fovea
