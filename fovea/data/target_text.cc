#include "fovea/data/target_text.h"

#include "fovea/data/padding.h"

namespace fovea {

std::vector<int64_t> TargetText::with_end() const {
  std::vector<int64_t> all = ids;
  all.push_back(Vocabulary::kEnd);
  return all;
}

TargetText encode_target(const std::string& text, const Tokeniser& tokeniser) {
  TargetText target;
  for (const Token& token : tokeniser.encode(text)) {
    target.ids.push_back(token.id);
    target.spans.push_back({int64_t(token.begin), int64_t(token.end)});
  }
  return target;
}

std::pair<at::Tensor, at::Tensor> pad_targets(const std::vector<const TargetText*>& targets) {
  const auto ids = [&](int64_t row) { return targets[size_t(row)]->with_end(); };
  const at::Tensor padded =
      pad_rows<int64_t>(int64_t(targets.size()), ids, Vocabulary::kPadding);  // [B, T]
  return {padded, padded != Vocabulary::kPadding};
}

at::Tensor target_truth(const TargetText& target, const std::vector<TextUnits>& known,
                        int64_t units) {
  at::Tensor truth = at::zeros({int64_t(target.ids.size()) + 1, units}, at::kBool);
  bool* marks = truth.data_ptr<bool>();
  for (const TextUnits& about : known)
    for (size_t t = 0; t < target.spans.size(); ++t) {
      const Span& own = target.spans[t];
      if (own.begin >= about.bytes.end || own.end <= about.bytes.begin) continue;
      for (int64_t unit = 0; unit < units; ++unit)
        marks[int64_t(t) * units + unit] |= about.units[size_t(unit)];
    }
  return truth;
}

Json spans_json(const std::vector<Span>& spans) {
  Json list = Json::array();
  for (const Span& span : spans) list.push_back({span.begin, span.end});
  return list;
}

std::vector<Span> spans_in(const Field& list) {
  std::vector<Span> spans;
  list.each({}, [&](const Field& span) {
    const std::vector<int64_t> places = places_in(span, 2);
    spans.push_back({places[0], places[1]});
  });
  return spans;
}

std::vector<int64_t> places_in(const Field& list, size_t count) {
  constexpr int64_t kFarthest = int64_t{1} << 40;
  list.expect(list.value().is_array() && list.value().size() == count, "a list of places");
  return list.integers(-1, kFarthest);
}

}  // namespace fovea
