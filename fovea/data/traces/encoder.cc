#include "fovea/data/traces/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"

namespace fovea {

namespace {

constexpr const char* kFormat = "fovea-trace";
constexpr int64_t kVersion = 1;

/// Numbers first, first + 1, … for the values.
template <class Value>
std::unordered_map<Value, int64_t> numbered(const std::vector<Value>& values, int64_t first) {
  std::unordered_map<Value, int64_t> numbers;
  numbers.reserve(values.size());
  for (const Value value : values) numbers.emplace(value, first++);
  return numbers;
}

template <class Value>
int64_t find(const std::unordered_map<Value, int64_t>& numbers, Value value) {
  const auto found = numbers.find(value);
  return found == numbers.end() ? 0 : found->second;
}

/// The most frequent values, at most `most` of them, each at least `minimum` times; of equally
/// frequent ones the smaller first.
template <class Value>
std::vector<Value> most_frequent(const std::unordered_map<Value, int64_t>& counts, int64_t minimum,
                                 int64_t most) {
  std::vector<std::pair<int64_t, Value>> order;
  for (const auto& [value, count] : counts)
    if (count >= minimum) order.emplace_back(-count, value);
  std::sort(order.begin(), order.end());
  if (int64_t(order.size()) > most) order.resize(size_t(most));
  std::vector<Value> values;
  for (const auto& [count, value] : order) values.push_back(value);
  return values;
}

std::vector<std::string> to_texts(const std::vector<uint64_t>& numbers) {
  std::vector<std::string> texts;
  for (const uint64_t number : numbers) texts.push_back(hexadecimal(number));
  return texts;
}

uint64_t number_in(const Field& field) {
  uint64_t number = 0;
  const std::string text = field.text();
  const char* last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, number, 16);
  field.expect(!text.empty() && problem == std::errc() && end == last, "hexadecimal digits");
  return number;
}

at::Tensor whole_numbers(at::IntArrayRef shape, int64_t value) {
  return at::full(shape, value, at::kLong);
}

/// What is missing at the beginning has no name.
Axis access_axis(std::span<const StoredAccess> accesses, int64_t size) {
  Axis axis{"accesses", "step", {}};
  const size_t missing = size_t(size) - accesses.size();
  axis.labels.assign(missing, "none");
  axis.values.assign(missing, "");
  for (const StoredAccess& access : accesses) {
    axis.labels.push_back(hexadecimal(to_address(access.line)));
    axis.values.push_back("by " + hexadecimal(access.pc));
  }
  return axis;
}

}  // namespace

std::string hexadecimal(uint64_t number) {
  char digits[16];
  const auto [end, problem] = std::to_chars(digits, digits + sizeof digits, number, 16);
  return {digits, end};
}

TraceCoding::TraceCoding(TraceVocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {
  pages_ = numbered(vocabulary_.pages, 1);
  steps_ = numbered(vocabulary_.steps, 1 + int64_t(vocabulary_.pages.size()));
  pcs_ = numbered(vocabulary_.pcs, 1);
}

int64_t TraceCoding::page_numbers() const {
  return 1 + int64_t(vocabulary_.pages.size() + vocabulary_.steps.size());
}

int64_t TraceCoding::number_of_page(int64_t page, std::optional<int64_t> before) const {
  const int64_t number = find(pages_, page);
  return number > 0 || !before ? number : find(steps_, page - *before);
}

int64_t TraceCoding::number_of_pc(uint64_t pc) const {
  return find(pcs_, pc);
}

std::optional<int64_t> TraceCoding::page_of(int64_t number, int64_t now) const {
  const auto pages = int64_t(vocabulary_.pages.size());
  if (number <= 0 || number >= page_numbers()) return {};
  if (number <= pages) return vocabulary_.pages[size_t(number - 1)];
  const int64_t page = now + vocabulary_.steps[size_t(number - 1 - pages)];
  if (page < 0 || page >= kMostLines / kPageLines) return {};
  return page;
}

Json TraceCoding::to_json() const {
  const std::vector<uint64_t> pages(vocabulary_.pages.begin(), vocabulary_.pages.end());
  return {{"format", kFormat},
          {"version", kVersion},
          {"pages", to_texts(pages)},
          {"steps", vocabulary_.steps},
          {"pcs", to_texts(vocabulary_.pcs)}};
}

TraceCoding TraceCoding::from_json(const Json& json, const std::string& where) {
  const Field root = Field::root(json, where);
  check_format(root, kFormat, kVersion);
  TraceVocabulary vocabulary;
  root.at("pages").each({}, [&](const Field& page) {
    const uint64_t number = number_in(page);
    page.expect(number < uint64_t(kMostLines / kPageLines), "a page within 64 bits of address");
    vocabulary.pages.push_back(int64_t(number));
  });
  constexpr int64_t kMostPages = kMostLines / kPageLines;
  vocabulary.steps = root.at("steps").integers(-kMostPages, kMostPages);
  root.at("pcs").each({}, [&](const Field& pc) { vocabulary.pcs.push_back(number_in(pc)); });
  return TraceCoding(std::move(vocabulary));
}

TraceVocabulary learn_vocabulary(const TraceStore& store, int64_t count,
                                 const VocabularyLimits& limits) {
  std::unordered_map<int64_t, int64_t> pages, steps;
  std::unordered_map<uint64_t, int64_t> pcs;
  for (int64_t i = 0; i < count; ++i) {
    ++pages[to_page(store[i].line)];
    ++pcs[store[i].pc];
  }
  TraceVocabulary vocabulary;
  vocabulary.pages = most_frequent(pages, limits.minimum_count, limits.pages);
  vocabulary.pcs = most_frequent(pcs, limits.minimum_count, limits.pcs);
  const auto known = numbered(vocabulary.pages, 1);
  for (int64_t i = 1; i < count; ++i) {
    const int64_t page = to_page(store[i].line);
    if (!known.contains(page)) ++steps[page - to_page(store[i - 1].line)];
  }
  vocabulary.steps = most_frequent(steps, limits.minimum_count, limits.steps);
  return vocabulary;
}

NamedTensors TraceEncoder::numbers(std::span<const StoredAccess> accesses) const {
  const int64_t size = shape_.accesses, given = int64_t(accesses.size());
  const at::Tensor pages = whole_numbers({size}, 0), pcs = whole_numbers({size}, 0);
  const at::Tensor offsets = whole_numbers({size}, kUnknownOffset);
  const at::Tensor lines = whole_numbers({size}, -1);
  std::optional<int64_t> before;
  if (given > size) {
    before = to_page(accesses[size_t(given - size - 1)].line);
    accesses = accesses.last(size_t(size));
  }
  int64_t place = size - int64_t(accesses.size());
  for (const StoredAccess& access : accesses) {
    const int64_t page = to_page(access.line);
    pages.data_ptr<int64_t>()[place] = coding_->number_of_page(page, before);
    offsets.data_ptr<int64_t>()[place] = to_offset(access.line);
    pcs.data_ptr<int64_t>()[place] = coding_->number_of_pc(access.pc);
    lines.data_ptr<int64_t>()[place++] = access.line;
    before = page;
  }
  return {{"pages", pages}, {"offsets", offsets}, {"pcs", pcs}, {"lines", lines}};
}

Example TraceEncoder::example(std::span<const StoredAccess> accesses) const {
  Example example;
  example.tensors = numbers(accesses);
  example.axes.push_back(access_axis(
      accesses.last(std::min(accesses.size(), size_t(shape_.accesses))), shape_.accesses));
  if (shape_.experts == 0) return example;
  Axis experts{"experts", "slot", {}};
  for (int64_t i = 1; i <= shape_.experts; ++i) experts.labels.push_back(concat(i));
  example.axes.push_back(std::move(experts));
  return example;
}

Batch TraceEncoder::collate(std::span<const Example> examples) const {
  Batch batch{{}, int64_t(examples.size())};
  const auto column_of = [&](const std::string& name, const at::Tensor& otherwise) {
    std::vector<at::Tensor> rows;
    for (const Example& example : examples) {
      const auto found = example.tensors.find(name);
      rows.push_back(found == example.tensors.end() ? otherwise : found->second);
    }
    return at::stack(rows);
  };
  const auto have = [&](const std::string& name) {
    return std::count_if(examples.begin(), examples.end(),
                         [&](const Example& example) { return example.tensors.contains(name); });
  };
  for (const char* name : {"pages", "offsets", "pcs", "lines", "candidates"})
    if (!examples.empty() && have(name) == batch.size)
      batch.tensors[name] = column_of(name, {});  // [B, …]
  if (have("experts") > 0)
    batch.tensors["experts"] = column_of("experts", at::ones({shape_.experts}, at::kBool));
  return batch;
}

Example TraceEncoder::erase(const Example& example, const std::string& axis,
                            std::span<const int64_t> units) const {
  const int64_t size = axis == "accesses"  ? shape_.accesses
                       : axis == "experts" ? shape_.experts
                                           : 0;
  require(size > 0, ErrorKind::Unsupported, "units of the axis '", axis, "' cannot be erased");
  for (const int64_t unit : units)
    require(unit >= 0 && unit < size, ErrorKind::InvalidArgument, "unit ", unit,
            " cannot be erased; there are ", size);
  Example erased = example;
  const auto fill = [&](const char* name, const at::Scalar& value) {
    at::Tensor changed = erased.tensors.at(name).clone();
    for (const int64_t unit : units) changed[unit].fill_(value);
    erased.tensors[name] = changed;
  };
  if (axis == "experts") {
    erased.tensors.try_emplace("experts", at::ones({size}, at::kBool));
    fill("experts", false);
    return erased;
  }
  fill("pages", 0);
  fill("pcs", 0);
  fill("offsets", kUnknownOffset);
  return erased;
}

}  // namespace fovea
