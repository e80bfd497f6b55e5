#include "fovea/data/copies/dataset.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/formats/text_lines.h"
#include "fovea/data/load.h"
#include "fovea/data/padding.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr size_t kMostBits = 32;
constexpr size_t kLongest = 100'000;  // symbols of a line
constexpr int64_t kMostBytes = int64_t{1} << 30;

struct Steps {
  int64_t symbols = 0, steps = 0;
  explicit Steps(const CopySequence& sequence)
      : symbols(int64_t(sequence.size())), steps(2 * symbols + 1) {}
};

void write_symbol(int64_t symbol, int64_t bits, float* into) {
  for (int64_t bit = 0; bit < bits; ++bit) into[bit] = float((symbol >> bit) & 1);
}

/// Fills one row of a batch.
void write_sequence(const CopySequence& sequence, int64_t bits, float* inputs, float* target,
                    bool* keep) {
  const Steps sizes(sequence);
  for (int64_t i = 0; i < sizes.symbols; ++i) {
    const int64_t due = sizes.symbols + 1 + i;
    write_symbol(sequence[size_t(i)], bits, inputs + i * (bits + 1));
    write_symbol(sequence[size_t(i)], bits, target + due * bits);
    keep[due] = true;
  }
  inputs[sizes.symbols * (bits + 1) + bits] = 1;
}

Batch pad_sequences(const std::vector<CopySequence>& sequences, int64_t bits) {
  int64_t wide = 1;
  for (const CopySequence& sequence : sequences) wide = std::max(wide, Steps(sequence).steps);
  const auto rows = static_cast<int64_t>(sequences.size());
  const Tensor inputs = at::zeros({rows, wide, bits + 1}, at::kFloat);
  const Tensor target = at::zeros({rows, wide, bits}, at::kFloat);
  const Tensor keep = at::zeros({rows, wide}, at::kBool);
  for (int64_t row = 0; row < rows; ++row)
    write_sequence(sequences[size_t(row)], bits, inputs.data_ptr<float>() + row * wide * (bits + 1),
                   target.data_ptr<float>() + row * wide * bits,
                   keep.data_ptr<bool>() + row * wide);
  return {{{"inputs", inputs}, {"target", target}, {"target.keep", keep}}, rows};
}

/// "slots" [B, N], where an example has them.
Tensor collate_slots(std::span<const Example> examples) {
  Tensor slots;
  for (size_t i = 0; i < examples.size(); ++i) {
    const auto own = examples[i].tensors.find("slots");
    if (own == examples[i].tensors.end()) continue;
    if (!slots.defined())
      slots = at::ones({int64_t(examples.size()), own->second.size(0)}, own->second.options());
    slots[int64_t(i)].copy_(own->second);
  }
  return slots;
}

FileRows<CopySequence> read_sequences(const std::filesystem::path& path, int64_t& bits,
                                      const RowSink<CopySequence>& sink) {
  TextLines lines(path, kMostBytes);
  FileRows<CopySequence> read{sink};
  for (std::string_view line; lines.next(line);)
    if (!trim(line).empty()) read.add(parse_sequence(line, bits, lines.place()));
  require(read.count > 0, ErrorKind::BadData, lines.path(), ": holds no sequence");
  read.hash = lines.hash();
  return read;
}

}  // namespace

std::string format_symbol(int64_t symbol, int64_t bits) {
  std::string text;
  for (int64_t bit = 0; bit < bits; ++bit) text += (symbol >> bit) & 1 ? '1' : '0';
  return text;
}

std::string format_sequence(const CopySequence& sequence, int64_t bits) {
  std::vector<std::string> symbols;
  for (const int64_t symbol : sequence) symbols.push_back(format_symbol(symbol, bits));
  return join(symbols, " ");
}

CopySequence parse_sequence(std::string_view text, int64_t& bits, const std::string& where) {
  CopySequence sequence;
  for (size_t begin = 0; begin < text.size();) {
    const auto is_blank = [&](size_t at) { return text[at] == ' ' || text[at] == '\t'; };
    size_t end = begin;
    while (end < text.size() && !is_blank(end)) ++end;
    const std::string_view symbol = text.substr(begin, end - begin);
    begin = end + 1;
    if (symbol.empty()) continue;
    if (bits == 0) bits = int64_t(std::min(symbol.size(), kMostBits));
    const bool fits =
        symbol.size() == size_t(bits) && symbol.find_first_not_of("01") == std::string_view::npos;
    require(fits, ErrorKind::BadData, where, ": '", symbol.substr(0, 2 * kMostBits),
            "' is no symbol of ", bits, bits == 1 ? " bit" : " bits",
            "; expected as many digits 0 or 1, and blanks between symbols");
    require(sequence.size() < kLongest, ErrorKind::BadData, where, ": more than ",
            format_count(int64_t(kLongest)), " symbols");
    int64_t number = 0;
    for (size_t bit = 0; bit < symbol.size(); ++bit) number |= int64_t(symbol[bit] == '1') << bit;
    sequence.push_back(number);
  }
  require(!sequence.empty(), ErrorKind::BadData, where, ": holds no symbol; expected symbols such ",
          "as ", format_symbol(6, bits == 0 ? 4 : bits), ", with blanks between them");
  return sequence;
}

Example copy_example(const CopySequence& sequence, int64_t bits) {
  const Batch batch = pad_sequences({sequence}, bits);
  Example example;
  for (const auto& [name, tensor] : batch.tensors) example.tensors[name] = tensor[0];
  Axis steps{"steps", "step", {}};
  for (const int64_t symbol : sequence) steps.labels.push_back(format_symbol(symbol, bits));
  steps.labels.push_back("now");
  for (size_t i = 0; i < sequence.size(); ++i) steps.labels.push_back(concat("output ", i + 1));
  example.axes = {steps};
  return example;
}

Batch collate_copies(std::span<const Example> examples) {
  Batch batch;
  batch.size = static_cast<int64_t>(examples.size());
  for (const char* name : {"inputs", "target", "target.keep"})
    batch.tensors[name] = pad_tensors(examples, name);
  if (const Tensor slots = collate_slots(examples); slots.defined()) batch.tensors["slots"] = slots;
  return batch;
}

CopyDataset::CopyDataset(std::vector<CopySequence> sequences, int64_t bits, bool fresh)
    : sequences_(std::move(sequences)), bits_(bits), fresh_(fresh) {}

int64_t CopyDataset::length(int64_t row) const {
  return Steps(sequence(row)).steps;
}

Batch CopyDataset::batch(std::span<const int64_t> rows) const {
  std::vector<CopySequence> own;
  for (const int64_t row : rows) own.push_back(sequence(row));
  return pad_sequences(own, bits_);
}

Batch CopyDataset::augmented_batch(std::span<const int64_t> rows, const Random& random) const {
  if (!fresh_) return batch(rows);
  std::vector<CopySequence> drawn;
  for (const int64_t row : rows)
    drawn.push_back(
        draw_sequence(int64_t(sequence(row).size()), bits_, random.split(uint64_t(row))));
  return pad_sequences(drawn, bits_);
}

void CopyDataOptions::describe(OptionList& list) {
  generator.describe(list);
  list.add("fresh", fresh, "built-in data: every training step sees new symbols");
  describe_held_out(list, validation_fraction, "training sequences");
}

Splits load_copies(const DataSource& source, const CopyDataOptions& options, int64_t& bits,
                   uint64_t seed) {
  check_roles(source, {});
  const bool drawn = source.path.empty();
  if (drawn) bits = options.generator.bits;
  const SplitOptions split{"copy", options.validation_fraction, seed, bits == 0};
  const auto read = [&bits](const std::filesystem::path& path, const RowSink<CopySequence>& sink) {
    return read_sequences(path, bits, sink);
  };
  SplitRows<CopySequence> rows =
      drawn ? draw_copies(options.generator)
            : read_splits<CopySequence>(source, split, {{".txt"}, read, "sequences"});
  const auto fit = [](const auto&, const Notes&) {};
  return encode_splits(rows, fit, [&](Rows<CopySequence> own, Split split, const Notes&) {
    const bool fresh = drawn && options.fresh && split == kTrain;
    return std::make_shared<CopyDataset>(own.take(), bits, fresh);
  });
}

void write_copies_data(const std::filesystem::path& folder, const CopyDataOptions& options) {
  write_splits(folder, draw_copies(options.generator), ".txt", [&](const auto& sequences) {
    std::string content;
    for (const CopySequence& sequence : sequences)
      content += format_sequence(sequence, options.generator.bits) + "\n";
    return content;
  });
  write_description(folder, "copy", options_json(options.generator));
}

}  // namespace fovea
