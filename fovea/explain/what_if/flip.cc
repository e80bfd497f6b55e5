#include "fovea/explain/what_if/flip.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/stop.h"
#include "fovea/base/text.h"
#include "fovea/explain/faithfulness/erasures.h"

namespace fovea {

namespace {

using Units = std::vector<int64_t>;

constexpr size_t kPool = 32;     // units that may join a set, once each was tried alone
constexpr size_t kChecked = 64;  // sets of a step that are predicted, the most promising first

/// What can go: not what the model adds itself.
Units removable(const Axis& axis) {
  Units units(axis.labels.size());
  std::iota(units.begin(), units.end(), int64_t{0});
  std::erase_if(units, [&](int64_t unit) {
    return std::ranges::find(axis.special, unit) != axis.special.end();
  });
  return units;
}

/// The first axis whose units can be taken away.
std::string first_axis(const Predictor& predictor, const Example& example) {
  const std::vector<std::string> names = axes_with_units(example);
  for (const std::string& name : names) {
    try {
      const int64_t unit = removable(example.axis(name)).front();
      predictor.erase(example, name, {&unit, 1});
      return name;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Unsupported) throw;
    }
  }
  fail(ErrorKind::Unsupported, "no units of this input can be taken away");
}

class FlipSearch {
 public:
  FlipSearch(const Predictor& predictor, const Example& example, const FlipOptions& options,
             const std::string& axis)
      : options_(options),
        prediction_(predictor.predict({&example, 1}).front()),
        instance_(faithfulness::examine(predictor, example, prediction_)),
        // The output may have lengthened the axis: a text that was continued.
        erasures_(instance_, axis, int64_t(instance_.described.axis(axis).labels.size())),
        pool_(removable(example.axis(axis))),
        answer_(options.answer(example, prediction_)) {
    require(erasures_.possible(), ErrorKind::Unsupported, erasures_.refusal());
    found_.away.axis = axis;
    found_.most = std::clamp<int64_t>(int64_t(pool_.size()) - 1, 0, options.most);
    found_.predictions = 2;  // the answer, and its replay
    const auto step = [](size_t pool) { return int64_t(pool + std::min(pool, kChecked)); };
    upper_bound_ = found_.predictions + step(pool_.size()) + found_.most * found_.most +
                   (found_.most - 1) * step(std::min(pool_.size(), kPool));
  }

  Flip run() {
    Units away;
    while (int64_t(away.size()) < found_.most) {
      std::vector<Units> sets = ranked_steps(away);
      if (sets.empty()) break;
      const Units best = sets.front();
      sets.resize(std::min(sets.size(), kChecked));
      if (const Units* flips = first_flip(sets)) {
        found_.away.units = pruned(*flips);
        std::ranges::sort(found_.away.units);
        break;
      }
      away = best;
    }
    return found_;
  }

 private:
  /// `away` and one unit more, those first without which the answer is least probable.
  std::vector<Units> ranked_steps(const Units& away) {
    std::vector<Units> sets;
    for (const int64_t unit : pool_) {
      if (std::ranges::find(away, unit) != away.end()) continue;
      sets.push_back(away);
      sets.back().push_back(unit);
    }
    for (size_t begin = 0; begin < sets.size(); begin += instance_.rows_at_once) {
      const size_t end = std::min(begin + instance_.rows_at_once, sets.size());
      for (size_t i = begin; i < end; ++i) erasures_.request(sets[i]);
      erasures_.run();
      count(end - begin);
    }
    std::ranges::stable_sort(sets, std::ranges::greater(), [&](const Units& set) {
      return instance_.drop(faithfulness::kAllUnits, erasures_.without(set));
    });
    if (away.empty()) {  // from here on only those that did most alone
      pool_.clear();
      for (size_t i = 0; i < std::min(sets.size(), kPool); ++i) pool_.push_back(sets[i].front());
    }
    return sets;
  }

  /// The first of these sets without which the answer is another one; null where none is.
  const Units* first_flip(const std::vector<Units>& sets) {
    for (size_t begin = 0; begin < sets.size(); begin += instance_.rows_at_once) {
      const size_t end = std::min(begin + instance_.rows_at_once, sets.size());
      std::vector<Example> left;
      for (size_t i = begin; i < end; ++i)
        left.push_back(instance_.predictor.erase(instance_.example, found_.away.axis, sets[i]));
      const std::vector<Prediction> predictions = instance_.predictor.predict(left);
      count(end - begin);
      for (size_t i = begin; i < end; ++i)
        if (options_.answer(left[i - begin], predictions[i - begin]) != answer_) return &sets[i];
    }
    return nullptr;
  }

  /// Without the units that are not needed, until each is.
  Units pruned(Units set) {
    while (set.size() > 1) {
      std::vector<Units> smaller;
      for (size_t leave = 0; leave < set.size(); ++leave) {
        smaller.push_back(set);
        smaller.back().erase(smaller.back().begin() + std::ptrdiff_t(leave));
      }
      const Units* flips = first_flip(smaller);
      if (flips == nullptr) break;
      set = Units(*flips);
    }
    return set;
  }

  void count(size_t inputs) {
    stop_if_asked();
    found_.predictions += int64_t(inputs);
    if (options_.progress)
      options_.progress(found_.predictions, std::max(upper_bound_, found_.predictions));
  }

  const FlipOptions& options_;
  Prediction prediction_;
  faithfulness::Instance instance_;
  faithfulness::Erasures erasures_;
  Units pool_;
  std::string answer_;
  Flip found_;
  int64_t upper_bound_ = 0;
};

}  // namespace

Flip find_flip(const Predictor& predictor, const Example& example, const FlipOptions& options) {
  const std::string axis = options.axis.empty() ? first_axis(predictor, example) : options.axis;
  check_axis(example, axis);
  return FlipSearch(predictor, example, options, axis).run();
}

}  // namespace fovea
