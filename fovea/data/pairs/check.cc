// Arrays of pairs that may come from anywhere: nothing in them is believed.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/pairs/dataset.h"

namespace fovea {

namespace {

struct Values {
  const int64_t* data;
  int64_t count;
};

class ArrayChecker {
 public:
  explicit ArrayChecker(const NamedTensors& arrays) : arrays_(arrays) {}

  /// The array of that name, of `type` and with rows of `width` numbers (0: one number a row).
  const at::Tensor& array(const std::string& name, at::ScalarType type, int64_t width = 0) const {
    const auto found = arrays_.find(name);
    require(found != arrays_.end(), ErrorKind::BadData, "the array '", name, "' is missing");
    const at::Tensor& tensor = found->second;
    require(tensor.defined() && tensor.scalar_type() == type && tensor.is_contiguous() &&
                tensor.is_cpu() && tensor.dim() == (width > 0 ? 2 : 1) &&
                (width == 0 || tensor.size(1) == width),
            ErrorKind::BadData, "the array '", name, "' must be ",
            width > 0 ? concat("[n, ", width, "]") : std::string("[n]"), " of ", type);
    return tensor;
  }

  /// Offsets into something of `size` parts, for `rows` rows (-1: any number).
  Values offsets(const std::string& name, int64_t rows, int64_t size) const {
    const at::Tensor& tensor = array(name, at::kLong);
    const Values values{tensor.data_ptr<int64_t>(), tensor.size(0)};
    require(values.count >= 1 && (rows < 0 || values.count == rows + 1), ErrorKind::BadData, "'",
            name, "' has ", values.count, " numbers, expected ",
            rows < 0 ? std::string("at least 1") : std::to_string(rows + 1));
    require(values.data[0] == 0 && values.data[values.count - 1] == size, ErrorKind::BadData, "'",
            name, "' must begin at 0 and end at ", size);
    require(std::is_sorted(values.data, values.data + values.count), ErrorKind::BadData, "'", name,
            "' falls");
    return values;
  }

  void ids(const std::string& name, int64_t symbols) const {
    const at::Tensor& tensor = array(name, at::kInt);
    const int32_t* data = tensor.data_ptr<int32_t>();
    for (int64_t i = 0; i < tensor.size(0); ++i)
      require(data[i] >= 0 && data[i] < symbols, ErrorKind::BadData, "'", name, "' holds symbol ",
              data[i], ", the vocabulary has ", symbols);
  }

  const char* text(const std::string& name) const {
    return reinterpret_cast<const char*>(array(name, at::kByte).data_ptr<uint8_t>());
  }

 private:
  const NamedTensors& arrays_;
};

/// A text of valid UTF-8, where a picture may cut between two characters only.
class CheckedText {
 public:
  CheckedText(const std::string& name, const char* all, int64_t begin, int64_t end)
      : text_(all + begin, static_cast<size_t>(end - begin)) {
    require(valid_utf8_prefix(text_) == text_.size(), ErrorKind::BadData, "'", name,
            "' is not UTF-8 at byte ", begin + int64_t(valid_utf8_prefix(text_)));
  }
  bool holds(int64_t begin, int64_t end) const {
    return 0 <= begin && begin <= end && end <= int64_t(text_.size());
  }
  bool holds_characters(int64_t begin, int64_t end) const {
    return holds(begin, end) && is_boundary(begin) && is_boundary(end);
  }

 private:
  bool is_boundary(int64_t at) const {
    return at == int64_t(text_.size()) || (text_[size_t(at)] & 0xC0) != 0x80;
  }
  std::string_view text_;
};

void check_spans(const std::string& name, const int32_t* spans, const int64_t* row,
                 const CheckedText& text) {
  for (int64_t i = row[0]; i < row[1]; ++i)
    require(text.holds_characters(spans[2 * i], spans[2 * i + 1]), ErrorKind::BadData, "'", name,
            "' holds ", spans[2 * i], "-", spans[2 * i + 1],
            ", which are no characters of its text");
}

}  // namespace

void check_pair_arrays(const NamedTensors& arrays, int64_t source_symbols, int64_t target_symbols) {
  const ArrayChecker check(arrays);
  const auto sizes_match = [&](const std::string& side) {
    const int64_t count = check.array(side + ".ids", at::kInt).size(0);
    require(check.array(side + ".spans", at::kInt, 2).size(0) == count, ErrorKind::BadData, "'",
            side, ".ids' and '", side, ".spans' have different sizes");
    return count;
  };
  check.ids("source.ids", source_symbols);
  check.ids("target.ids", target_symbols);
  const Values sources = check.offsets("source.offsets", -1, sizes_match("source"));
  const int64_t rows = sources.count - 1;
  const Values targets = check.offsets("target.offsets", rows, sizes_match("target"));
  const Values source_texts =
      check.offsets("source.text_offsets", rows, check.array("source.text", at::kByte).size(0));
  const Values reference_texts = check.offsets("references.text_offsets", -1,
                                               check.array("references.text", at::kByte).size(0));
  const Values references = check.offsets("references.offsets", rows, reference_texts.count - 1);
  const bool linked = arrays.contains("links") || arrays.contains("links.offsets");
  const at::Tensor all_links = linked ? check.array("links", at::kLong, 4) : at::Tensor();
  const int64_t* links = linked ? all_links.data_ptr<int64_t>() : nullptr;
  const Values link_rows =
      linked ? check.offsets("links.offsets", rows, all_links.size(0)) : Values{nullptr, 0};
  if (arrays.contains("links.possible"))
    require(linked && check.array("links.possible", at::kByte).size(0) == all_links.size(0),
            ErrorKind::BadData, "'links.possible' and 'links' have different sizes");

  const char* source_text = check.text("source.text");
  const char* reference_text = check.text("references.text");
  const int32_t* source_spans = arrays.at("source.spans").data_ptr<int32_t>();
  const int32_t* target_spans = arrays.at("target.spans").data_ptr<int32_t>();
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t first = references.data[row], last = references.data[row + 1];
    require(first < last, ErrorKind::BadData, "'references.offsets' gives row ", row, " no text");
    for (int64_t i = first; i < last; ++i)
      CheckedText("references.text", reference_text, reference_texts.data[i],
                  reference_texts.data[i + 1]);
    const CheckedText target("references.text", reference_text, reference_texts.data[first],
                             reference_texts.data[first + 1]);
    const CheckedText source("source.text", source_text, source_texts.data[row],
                             source_texts.data[row + 1]);
    check_spans("source.spans", source_spans, sources.data + row, source);
    check_spans("target.spans", target_spans, targets.data + row, target);
    if (!linked) continue;
    for (int64_t i = link_rows.data[row]; i < link_rows.data[row + 1]; ++i)
      require(target.holds(links[4 * i], links[4 * i + 1]) &&
                  source.holds(links[4 * i + 2], links[4 * i + 3]),
              ErrorKind::BadData, "'links' of row ", row, " leave the texts");
  }
}

}  // namespace fovea
