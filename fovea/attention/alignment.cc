#include "fovea/attention/alignment.h"

#include "fovea/attention/mechanism_table.h"
#include "fovea/attention/projection.h"
#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

class Global : public Alignment {
 public:
  Aligned align(const AlignmentInput&) const override { return {}; }
  bool is_band() const override { return true; }
};

class Causal : public Alignment {
 public:
  Aligned align(const AlignmentInput& in) const override {
    return {KeepMask::causal(in.queries, in.keys, in.first_position), {}, {}};
  }
  bool is_band() const override { return true; }
};

/// Both the sliding window and local-m.
class Band : public Alignment {
 public:
  explicit Band(int64_t half_width) : half_width_(half_width) {}
  Aligned align(const AlignmentInput& in) const override {
    return {KeepMask::window(in.queries, in.keys, half_width_, in.first_position), {}, {}};
  }
  bool is_band() const override { return true; }

 private:
  int64_t half_width_;
};

class LocalP : public Alignment {
 public:
  LocalP(const AlignmentOptions& o, const Random& random)
      : position(
            register_projection(*this, "position", {o.query_size, o.hidden_size, false}, random)),
        energy(register_projection(*this, "energy", {o.hidden_size, 1, false}, random)),
        half_width_(static_cast<double>(o.half_width)) {}

  Aligned align(const AlignmentInput& in) const override {
    require(in.query.defined(), ErrorKind::InvalidArgument,
            "alignment 'local-p' predicts its place from the query, and none was given");
    const auto share =
        at::sigmoid(energy->forward(position->forward(in.query).tanh()));  // [B, H, Q, 1]
    const auto center = (share * lengths(in)).squeeze(-1);                 // [B, H, Q]
    const auto key = at::arange(in.keys, in.query.options());
    const double deviation = half_width_ / 2;
    const auto distance = key - center.unsqueeze(-1);  // [B, H, Q, K]
    return {KeepMask::local(center, in.keys, half_width_),
            (distance.square() * (-0.5 / (deviation * deviation))).exp(), center};
  }

  std::shared_ptr<Projection> position;  // W_p
  std::shared_ptr<Projection> energy;    // v_p

 private:
  /// S: one more than the place of the last key that may be looked at. [b, h, q, 1]
  static Tensor lengths(const AlignmentInput& in) {
    if (in.mask.is_all()) return at::full({1, 1, 1, 1}, in.keys, in.query.options());
    const auto& keep = in.mask.keep();
    const auto place = at::arange(1, in.keys + 1, keep.options().dtype(at::kLong));
    return (place * keep).amax(-1, true).to(in.query.dtype());
  }

  double half_width_;
};

class Median : public Alignment {
 public:
  explicit Median(int64_t half_width) : half_width_(half_width) {}

  Aligned align(const AlignmentInput& in) const override {
    if (!in.previous_weights.defined()) return {};
    const auto previous = in.previous_weights.detach();
    const auto cumulative = previous.cumsum(-1);
    const auto total = cumulative.narrow(-1, in.keys - 1, 1);                   // [B, H, Q, 1]
    const auto median = (cumulative < total / 2).sum(-1).to(previous.dtype());  // [B, H, Q]
    // p-D ... p+D-1 has its middle at p - 1/2.
    const auto window =
        KeepMask::local(median - 0.5, in.keys, static_cast<double>(half_width_) - 0.5);
    // Previous weights that are all 0 have no median: such a query looks everywhere, as before the
    // first step.
    return {KeepMask::from_keep(window.keep() | (total <= 0)), {}, median};
  }

 private:
  int64_t half_width_;
};

using Made = std::shared_ptr<Alignment>;

const std::vector<AlignmentEntry>& rows() {
  static const std::vector<AlignmentEntry> table = {
      {"global",
       "all keys",
       "Luong et al. 2015",
       [](const AlignmentOptions&, const Random&) -> Made { return std::make_shared<Global>(); },
       {.is_global = true}},
      {"causal", "j <= t", "Vaswani et al. 2017",
       [](const AlignmentOptions&, const Random&) -> Made { return std::make_shared<Causal>(); }},
      {"window", "|j - t| <= D", "Beltagy et al. 2020",
       [](const AlignmentOptions& o, const Random&) -> Made {
         return std::make_shared<Band>(o.half_width);
       }},
      {"local-m", "|j - p| <= D, p = t", "Luong et al. 2015",
       [](const AlignmentOptions& o, const Random&) -> Made {
         return std::make_shared<Band>(o.half_width);
       }},
      {"local-p", "|j - p| <= D, p = S sig(v . tanh(W s)), times exp(-(j-p)^2 / (2 (D/2)^2))",
       "Luong et al. 2015",
       [](const AlignmentOptions& o, const Random& random) -> Made {
         return std::make_shared<LocalP>(o, random);
       }},
      {"median",
       "p-D <= j < p+D, p the median of the previous weights",
       "Chorowski et al. 2015",
       [](const AlignmentOptions& o, const Random&) -> Made {
         return std::make_shared<Median>(o.half_width);
       },
       {.reads_previous_weights = true}},
  };
  return table;
}

}  // namespace

void AlignmentOptions::describe(OptionList& list) {
  list.add("alignment", name, "where a query may look").choices(alignment_names());
  list.add("half_width", half_width, "D: keys on each side of the middle of a local window")
      .at_least(1);
  list.add("alignment_hidden", hidden_size, "local-p: hidden units of the position's network")
      .at_least(1);
}

std::span<const AlignmentEntry> alignment_table() {
  return rows();
}

std::vector<std::string> alignment_names() {
  return row_names(rows());
}

const AlignmentEntry& find_alignment(const std::string& name) {
  return find_row(rows(), "alignment", name);
}

const AlignmentTraits& AlignmentOptions::traits() const {
  return find_alignment(name).traits;
}

std::shared_ptr<Alignment> make_alignment(const AlignmentOptions& options, const Random& random) {
  require(options.half_width >= 1, ErrorKind::InvalidArgument,
          "half_width must be at least 1, found ", options.half_width);
  return find_alignment(options.name).make(options, random);
}

}  // namespace fovea
