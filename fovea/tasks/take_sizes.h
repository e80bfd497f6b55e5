// The sizes of a network that --from brings along take the place of those of the options. One that
// the options ask for, and that is another there, is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {

template <class Options>
class SizesOfStart {
 public:
  SizesOfStart(Options& options, const Options& found) : options_(options), found_(found) {}

  /// The option `name` is that of the network from here on.
  void take(const char* name, int64_t Options::*field) {
    compare(name, options_.*field, usual_.*field, found_.*field);
    options_.*field = found_.*field;
  }
  void compare(const char* name, int64_t asked, int64_t usual, int64_t there) {
    if (asked != usual && asked != there)
      others_.push_back(concat("model.", name, "=", asked, " (", there, " there)"));
  }
  /// InvalidArgument for all that is other there; `network` is what has the sizes.
  void check(const char* network) const {
    require(others_.empty(), ErrorKind::InvalidArgument, "--from brings the ", network,
            "'s sizes with it; leave out ", join(others_));
  }
  /// After it the heads of an encoder, too.
  void take_pruned_heads() {
    const std::string& there = found_.pruned_heads;
    require(options_.pruned_heads.empty() || options_.pruned_heads == there,
            ErrorKind::InvalidArgument,
            "--from brings the encoder's heads with it; leave out model.pruned_heads=",
            options_.pruned_heads);
    options_.pruned_heads = there;
  }

 private:
  Options& options_;
  const Options& found_;
  const Options usual_ = {};
  std::vector<std::string> others_;
};

}  // namespace fovea
