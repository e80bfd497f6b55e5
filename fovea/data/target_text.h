// Texts that are to be written, as tokens: what captions and transcripts have in common.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "fovea/base/json_field.h"
#include "fovea/data/tokenisers/tokeniser.h"
#include "fovea/tensor/attention_map.h"

namespace fovea {

struct TargetText {
  std::vector<int64_t> ids;  // without begin and end
  std::vector<Span> spans;   // bytes of the text that each token stands for

  std::vector<int64_t> with_end() const;
};

TargetText encode_target(const std::string& text, const Tokeniser& tokeniser);

/// Side by side: int64 [B, T], each with its end and padded, and bool [B, T], true where it is not.
std::pair<at::Tensor, at::Tensor> pad_targets(const std::vector<const TargetText*>& targets);

/// What some bytes of a text are about: cells of a picture, units of a sound.
struct TextUnits {
  Span bytes;
  std::vector<bool> units;
};

/// bool [T + 1, units]: what each token is about; nothing for the others, and for the end.
at::Tensor target_truth(const TargetText& target, const std::vector<TextUnits>& known,
                        int64_t units);

/// Numbers in the place of spans, in prepared files; -1 is nowhere.
Json spans_json(const std::vector<Span>& spans);
std::vector<Span> spans_in(const Field& list);
/// A list of `count` such numbers.
std::vector<int64_t> places_in(const Field& list, size_t count);

}  // namespace fovea
