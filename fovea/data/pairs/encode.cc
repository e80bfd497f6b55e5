#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/data/pairs/dataset.h"

namespace fovea {

namespace {

template <class Value>
at::Tensor to_tensor(const std::vector<Value>& values, at::ScalarType type) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(values.size())}, type);
  if (!values.empty()) std::memcpy(tensor.data_ptr(), values.data(), values.size() * sizeof(Value));
  return tensor;
}

at::Tensor to_tensor(const std::string& bytes) {
  return to_tensor(std::vector<uint8_t>(bytes.begin(), bytes.end()), at::kByte);
}

/// Tokens of one side, pair after pair.
struct TokenColumn {
  std::vector<int32_t> ids, spans;
  std::vector<int64_t> offsets{0};

  void add(const std::vector<Token>& tokens) {
    for (const Token& token : tokens) {
      ids.push_back(static_cast<int32_t>(token.id));
      spans.push_back(static_cast<int32_t>(token.begin));
      spans.push_back(static_cast<int32_t>(token.end));
    }
    offsets.push_back(static_cast<int64_t>(ids.size()));
  }

  void store(NamedTensors& arrays, const std::string& side) const {
    arrays[side + ".ids"] = to_tensor(ids, at::kInt);
    arrays[side + ".spans"] = to_tensor(spans, at::kInt).view({-1, 2});
    arrays[side + ".offsets"] = to_tensor(offsets, at::kLong);
  }
};

/// Texts one after the other.
struct TextColumn {
  std::string text;
  std::vector<int64_t> offsets{0};

  void add(const std::string& more) {
    text += more;
    offsets.push_back(static_cast<int64_t>(text.size()));
  }

  void store(NamedTensors& arrays, const std::string& side) const {
    arrays[side + ".text"] = to_tensor(text);
    arrays[side + ".text_offsets"] = to_tensor(offsets, at::kLong);
  }
};

void check_pair(const TextPair& pair, size_t index) {
  const auto refuse = [&](const auto&... pieces) {
    fail(ErrorKind::InvalidArgument, "pair ", index + 1, ": ", pieces...);
  };
  if (pair.references.empty()) refuse("has no target text");
  constexpr size_t kLongest = std::numeric_limits<int32_t>::max();
  if (pair.source.size() > kLongest || pair.references[0].size() > kLongest)
    refuse("a text of more than ", kLongest, " bytes cannot be held");
  const auto inside = [](int64_t begin, int64_t end, const std::string& text) {
    return 0 <= begin && begin <= end && end <= static_cast<int64_t>(text.size());
  };
  for (const Link& link : pair.links)
    if (!inside(link.target_begin, link.target_end, pair.references[0]) ||
        !inside(link.source_begin, link.source_end, pair.source))
      refuse("the link ", link.target_begin, "-", link.target_end, ":", link.source_begin, "-",
             link.source_end, " leaves the texts");
}

}  // namespace

NamedTensors encode_pairs(Rows<TextPair> pairs, const Tokeniser& source, const Tokeniser& target,
                          const KeepLengths& keep) {
  TokenColumn sources, targets;
  TextColumn source_texts, references;
  std::vector<int64_t> reference_offsets{0}, links, link_offsets{0};
  std::vector<uint8_t> possible;
  size_t number = 0;
  pairs.take_each([&](const TextPair& pair) {
    check_pair(pair, number++);
    const std::vector<Token> from = source.encode_input(pair.source);
    const std::vector<Token> to = target.encode(pair.references[0]);
    if (keep && !keep(int64_t(from.size()), int64_t(to.size()))) return;
    sources.add(from);
    targets.add(to);
    source_texts.add(pair.source);
    for (const std::string& reference : pair.references) references.add(reference);
    reference_offsets.push_back(int64_t(references.offsets.size()) - 1);
    for (const Link& link : pair.links) {
      links.insert(links.end(),
                   {link.target_begin, link.target_end, link.source_begin, link.source_end});
      possible.push_back(link.possible);
    }
    link_offsets.push_back(int64_t(links.size()) / 4);
  });
  NamedTensors arrays;
  sources.store(arrays, "source");
  source_texts.store(arrays, "source");
  targets.store(arrays, "target");
  references.store(arrays, "references");
  arrays["references.offsets"] = to_tensor(reference_offsets, at::kLong);
  if (!links.empty()) {
    arrays["links"] = to_tensor(links, at::kLong).view({-1, 4});
    arrays["links.offsets"] = to_tensor(link_offsets, at::kLong);
    if (std::ranges::find(possible, uint8_t{1}) != possible.end())
      arrays["links.possible"] = to_tensor(possible, at::kByte);
  }
  return arrays;
}

}  // namespace fovea
