#include "fovea/data/copies/dataset.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/formats/text_lines.h"
#include "fovea/data/load.h"
#include "fovea/data/padding.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr int64_t kMostBytes = int64_t{1} << 30;

void write_symbol(int64_t symbol, int64_t bits, float* into) {
  for (int64_t bit = 0; bit < bits; ++bit) into[bit] = float((symbol >> bit) & 1);
}

Batch pad_copies(const std::vector<CopyRow>& all, const CopyLayout& layout) {
  const auto rows = static_cast<int64_t>(all.size());
  std::vector<std::vector<CopyStep>> steps;
  size_t wide = 1;
  for (const CopyRow& row : all) {
    steps.push_back(layout.kind->steps(row, layout));
    wide = std::max(wide, steps.back().size());
  }
  const Tensor inputs = at::zeros({rows, int64_t(wide), layout.inputs()}, at::kFloat);
  const Tensor target = at::zeros({rows, int64_t(wide), layout.outputs()}, at::kFloat);
  const Tensor keep = at::zeros({rows, int64_t(wide)}, at::kBool);
  const Tensor sizes = at::zeros({rows, 2}, at::kLong);
  for (size_t row = 0; row < all.size(); ++row) {
    for (size_t i = 0; i < steps[row].size(); ++i) {
      const CopyStep& step = steps[row][i];
      const auto place = int64_t(row * wide + i);
      float* in = inputs.data_ptr<float>() + place * layout.inputs();
      if (step.shown != CopyStep::kNone) write_symbol(step.shown, layout.bits, in);
      std::copy_n(step.marks.begin(), layout.kind->marks, in + layout.bits);
      if (step.due == CopyStep::kNone) continue;
      write_symbol(step.due, layout.outputs(), target.data_ptr<float>() + place * layout.outputs());
      keep.data_ptr<bool>()[place] = true;
    }
    const CopySize size = layout.kind->size_of(all[row]);
    sizes.data_ptr<int64_t>()[2 * row] = size.length;
    sizes.data_ptr<int64_t>()[2 * row + 1] = size.repeats;
  }
  return {{{"inputs", inputs}, {"target", target}, {"target.keep", keep}, {"size", sizes}}, rows};
}

NamedTensors truth_of(const std::vector<CopyStep>& steps, const CopyLayout& layout) {
  if (!layout.kind->has_truth) return {};
  const auto count = int64_t(steps.size());
  const Tensor sources = at::zeros({count, count}, at::kBool);
  for (int64_t i = 0; i < count; ++i) {
    const CopyStep& step = steps[size_t(i)];
    if (step.sources > 0) sources[i].narrow(0, step.source, step.sources).fill_(true);
  }
  return {{kCopySources, sources}};
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

FileRows<CopyRow> read_copies(const std::filesystem::path& path, CopyLayout& layout,
                              const RowSink<CopyRow>& sink) {
  TextLines lines(path, kMostBytes);
  FileRows<CopyRow> read{sink};
  for (std::string_view line; lines.next(line);)
    if (!trim(line).empty()) read.add(layout.kind->parse(line, layout.bits, lines.place()));
  require(read.count > 0, ErrorKind::BadData, lines.path(), ": holds no sequence");
  read.hash = lines.hash();
  return read;
}

/// How often the training rows are repeated: mean and standard deviation, as the paper scales it.
void fit_repeats(const Rows<CopyRow>& rows, CopyLayout& layout) {
  double sum = 0, squares = 0, count = 0;
  rows.for_each([&](const CopyRow& row) {
    sum += double(row.repeats), squares += double(row.repeats) * double(row.repeats), ++count;
  });
  if (count == 0) return;
  layout.repeats_mean = sum / count;
  const double variance = squares / count - layout.repeats_mean * layout.repeats_mean;
  layout.repeats_deviation = variance > 1e-12 ? std::sqrt(variance) : 1;
}

/// A folder that says of which kind it is must be read as such.
void check_kind(const std::filesystem::path& path, const std::string& kind) {
  const std::filesystem::path description = path / "dataset.json";
  if (path.empty() || !std::filesystem::exists(description)) return;
  const Json json = read_description(description, "copy");
  const auto generator = json.find("generator");
  if (generator == json.end() || !generator->is_object()) return;  // not written by the program
  const auto own = generator->find("kind");
  const std::string found =
      own != generator->end() && own->is_string() ? own->get<std::string>() : copy_kinds()[0];
  require(found == kind, ErrorKind::BadData, description.string(), ": holds data.kind=", found,
          ", this run reads data.kind=", kind, "; set data.kind=", found);
}

}  // namespace

std::string format_output(const CopySequence& tokens, const CopyLayout& layout) {
  std::vector<std::string> symbols;
  for (const int64_t token : tokens)
    symbols.push_back(token >> layout.bits ? "end" : format_symbol(token, layout.bits));
  return join(symbols, layout.kind->between);
}

Example copy_example(const CopyRow& row, const CopyLayout& layout) {
  const Batch batch = pad_copies({row}, layout);
  Example example;
  for (const auto& [name, tensor] : batch.tensors) example.tensors[name] = tensor[0];
  const std::vector<CopyStep> steps = layout.kind->steps(row, layout);
  Axis axis{"steps", "step", {}};
  for (int64_t outputs = 0; const CopyStep& step : steps) {
    std::string label = step.name;
    if (step.shown != CopyStep::kNone) label = format_symbol(step.shown, layout.bits);
    if (axis.labels.size() < row.priorities.size())
      label += concat(" @ ", format_number(row.priorities[axis.labels.size()], 2));
    axis.labels.push_back(label.empty() ? concat("output ", ++outputs) : label);
  }
  example.axes = {axis};
  example.truth = truth_of(steps, layout);
  return example;
}

Batch collate_copies(std::span<const Example> examples) {
  Batch batch;
  batch.size = static_cast<int64_t>(examples.size());
  for (const char* name : {"inputs", "target", "target.keep", "size"})
    batch.tensors[name] = pad_tensors(examples, name);
  if (const Tensor slots = collate_slots(examples); slots.defined()) batch.tensors["slots"] = slots;
  return batch;
}

CopyDataset::CopyDataset(std::vector<CopyRow> rows, const CopyLayout& layout, const CopyDraw& draw,
                         bool fresh)
    : rows_(std::move(rows)), layout_(layout), draw_(draw), fresh_(fresh) {
  for (const CopyRow& row : rows_)
    lengths_.push_back(int64_t(layout_.kind->steps(row, layout_).size()));
}

Batch CopyDataset::batch(std::span<const int64_t> rows) const {
  std::vector<CopyRow> own;
  for (const int64_t row : rows) own.push_back(at(row));
  return pad_copies(own, layout_);
}

Batch CopyDataset::augmented_batch(std::span<const int64_t> rows, const Random& random) const {
  if (!fresh_) return batch(rows);
  std::vector<CopyRow> drawn;
  for (const int64_t row : rows)
    drawn.push_back(
        layout_.kind->draw(layout_.kind->size_of(at(row)), draw_, random.split(uint64_t(row))));
  return pad_copies(drawn, layout_);
}

NamedTensors CopyDataset::planted_truth(int64_t row) const {
  return truth_of(layout_.kind->steps(at(row), layout_), layout_);
}

void CopyDataOptions::describe(OptionList& list) {
  generator.describe(list);
  list.add("fresh", fresh, "built-in data: every training step sees new symbols");
  describe_held_out(list, validation_fraction, "training sequences");
}

Splits load_copies(const DataSource& source, const CopyDataOptions& options, CopyLayout& layout,
                   uint64_t seed) {
  check_roles(source, {});
  const bool drawn = source.path.empty(), first = layout.bits == 0;
  const SyntheticCopiesOptions generator = options.generator.resolved();
  layout.kind = &copy_kind(generator.kind);
  layout.highest = generator.highest;
  if (drawn)
    layout.bits = generator.bits;
  else
    check_kind(source.path, generator.kind);
  const SplitOptions split{"copy", options.validation_fraction, seed, first};
  const auto read = [&layout](const std::filesystem::path& path, const RowSink<CopyRow>& sink) {
    return read_copies(path, layout, sink);
  };
  SplitRows<CopyRow> rows =
      drawn ? draw_copies(generator)
            : read_splits<CopyRow>(source, split, {{".txt"}, read, "sequences"});
  const auto fit = [&](const SplitRows<CopyRow>& all, const Notes&) {
    if (first && layout.kind->repeats) fit_repeats(all.train, layout);
  };
  return encode_splits(rows, fit, [&](Rows<CopyRow> own, Split split, const Notes&) {
    const bool fresh = drawn && options.fresh && split == kTrain;
    return std::make_shared<CopyDataset>(own.take(), layout, generator.draw(), fresh);
  });
}

void write_copies_data(const std::filesystem::path& folder, const CopyDataOptions& options) {
  const SyntheticCopiesOptions generator = options.generator.resolved();
  write_splits(folder, draw_copies(generator), ".txt", [&](const auto& rows) {
    std::string content;
    for (const CopyRow& row : rows)
      content += copy_kind(generator.kind).format(row, generator.bits) + "\n";
    return content;
  });
  write_description(folder, "copy", generator.json());
}

}  // namespace fovea
