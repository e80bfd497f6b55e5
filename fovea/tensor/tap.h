// The only way into a running model. Blocks and models take `Tap* tap = nullptr` as their last
// argument; with a null tap they pay nothing and may use fused kernels. With a tap they report
// every attention map and go on with what report() returns, so that the tap can also replace
// weights (permuted, uniform, erased: the controls of explain/ need that). A tap that only looks
// may let fused kernels run: see Record.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fovea/tensor/attention_map.h"
#include "fovea/tensor/products.h"

namespace fovea {

/// An input that gradients can be asked of. `values` is [B, N, …]; element n belongs to unit
/// unit_of[n] of the axis, or to unit n where `unit_of` is empty (one column of a table may be
/// several inputs).
struct Leaf {
  at::Tensor values;
  std::vector<int64_t> unit_of;
};

/// What a tap keeps of the maps. Live: every weight, part of the computation, which therefore takes
/// the readable path. OnDemand: a fused kernel may compute, and a map holds a source from which any
/// rows can be had exactly; maps of which nothing is asked cost next to nothing.
enum class Record { Live, OnDemand };

class Tap {
 public:
  using Replacement = std::function<at::Tensor(const AttentionMap&)>;
  explicit Tap(Record record = Record::Live) : record_(record) {}
  virtual ~Tap() = default;

  /// Whether the weights of the map called `name` must be there while the model computes.
  virtual bool needs_live(const std::string& name) const {
    return record_ == Record::Live || replacements_.count(name) > 0;
  }

  /// Whether the queries and keys that weights are made of are wanted. They are kept as they are,
  /// so a fused kernel may compute all the same.
  virtual bool wants_products() const { return wants_products_; }
  void want_products() { wants_products_ = true; }
  virtual void keep_products(const std::string& map, int64_t layer,
                             std::shared_ptr<const ProductSource> products) {
    products_[{map, layer}] = std::move(products);
  }
  /// Of the last such map; null where its weights are made of something else, or none were wanted.
  std::shared_ptr<const ProductSource> products(const AttentionMap& map) const;

  /// Records the map as it was computed (nothing detached) and returns the weights to go on with:
  /// the replacement's, or the map's own.
  virtual at::Tensor report(AttentionMap map);

  /// The two halves of report(), for decoders that compute a map row by row (StepTap).
  at::Tensor replaced(const AttentionMap& map) const;
  void record(AttentionMap map) { maps_.push_back(std::move(map)); }

  /// Hands out the units of an axis as a live leaf; the model must go on with the returned tensor.
  at::Tensor leaf(const std::string& axis, const at::Tensor& input,
                  std::vector<int64_t> unit_of = {});

  /// From now on the weights of the map called `name` are what `replacement` makes of them.
  void replace(const std::string& name, Replacement replacement) {
    replacements_[name] = std::move(replacement);
  }

  const std::vector<AttentionMap>& maps() const { return maps_; }
  /// The last map recorded under that name. NotFound lists the names that there are.
  const AttentionMap& map(const std::string& name) const;
  const std::map<std::string, Leaf>& leaves() const { return leaves_; }  // by axis
  void clear();

 private:
  Record record_;
  bool wants_products_ = false;
  std::vector<AttentionMap> maps_;
  std::map<std::string, Leaf> leaves_;
  std::map<std::string, Replacement> replacements_;
  std::map<std::pair<std::string, int64_t>, std::shared_ptr<const ProductSource>> products_;
};

/// Stands between a decoder that goes step by step and the tap: each step's rows pass through the
/// tap's replacements at once, and finish() records them as one map [B, H, Q, K].
class StepTap : public Tap {
 public:
  explicit StepTap(Tap& outer) : outer_(outer) {}
  bool needs_live(const std::string&) const override { return true; }  // rows are put together
  bool wants_products() const override { return outer_.wants_products(); }
  void keep_products(const std::string& map, int64_t layer,
                     std::shared_ptr<const ProductSource> products) override {
    products_[{map, layer}].push_back(std::move(products));
  }
  at::Tensor report(AttentionMap map) override;
  void finish();

 private:
  Tap& outer_;
  std::map<std::pair<std::string, int64_t>, std::vector<std::shared_ptr<const ProductSource>>>
      products_;                                  // likewise
  std::vector<std::vector<AttentionMap>> steps_;  // of each name and layer, in the order of step 1
};

/// For blocks: reports to the tap when there is one and returns the weights to go on with.
at::Tensor report_to(Tap* tap, AttentionMap map);
at::Tensor leaf_of(Tap* tap, const std::string& axis, const at::Tensor& input,
                   const std::vector<int64_t>& unit_of = {});

}  // namespace fovea
