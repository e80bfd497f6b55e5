#include <ATen/ATen.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/traces/encoder.h"

namespace fovea {

namespace {

constexpr int64_t kNothing = -1;  // before the trace begins

/// The int64 columns of a batch, row by row.
class Columns {
 public:
  explicit Columns(int64_t rows) : rows_(rows) {}
  /// The first number of that row, of `width`.
  int64_t* row(const std::string& name, int64_t width, int64_t row) {
    at::Tensor& column = tensors_[name];
    if (!column.defined()) column = at::empty({rows_, width}, at::kLong);
    return column.data_ptr<int64_t>() + row * width;
  }
  NamedTensors take() { return std::move(tensors_); }

 private:
  int64_t rows_;
  NamedTensors tensors_;
};

}  // namespace

TraceDataset::TraceDataset(std::shared_ptr<const TraceStore> store, TraceEncoder encoder,
                           TraceRows rows, NamedLines named,
                           std::shared_ptr<const AccessCauses> causes)
    : store_(std::move(store)),
      encoder_(std::move(encoder)),
      rows_(rows),
      named_(std::move(named)),
      causes_(std::move(causes)) {
  require(rows_.count == 0 || (rows_.first >= 0 &&
                               rows_.first + (rows_.count - 1) * rows_.stride + 1 < store_->size()),
          ErrorKind::Internal, "rows beyond a trace of ", store_->size(), " accesses");
}

int64_t TraceDataset::last_access(int64_t row) const {
  require(row >= 0 && row < rows_.count, ErrorKind::InvalidArgument, "row ", row, " is not in 0 … ",
          rows_.count - 1);
  return rows_.first + row * rows_.stride;
}

std::vector<StoredAccess> TraceDataset::accesses(int64_t row) const {
  const int64_t last = last_access(row);
  std::vector<StoredAccess> window;
  for (int64_t i = std::max<int64_t>(0, last - encoder_.shape().accesses); i <= last; ++i)
    window.push_back((*store_)[i]);
  return window;
}

Json TraceDataset::input(int64_t row) const {
  std::vector<std::string> texts;
  for (const StoredAccess& access : accesses(row))
    texts.push_back(concat(rows_.kind, " ", hexadecimal(to_address(access.line)), " 8 ",
                           hexadecimal(access.pc)));
  return join(texts, "; ");
}

Example TraceDataset::example(int64_t row) const {
  const int64_t last = last_access(row), size = encoder_.shape().accesses;
  Example example = encoder_.example(accesses(row));
  if (named_.lines) {
    at::Tensor candidates = at::empty({named_.degree}, at::kLong);
    for (int64_t k = 0; k < named_.degree; ++k)
      candidates.data_ptr<int64_t>()[k] = (*named_.lines)[last * named_.degree + k];
    example.tensors["candidates"] = candidates;
  }
  if (!has_truth()) return example;
  const auto cause = causes_->find((*store_)[last + 1].pc);
  if (cause == causes_->end() || cause->second > size) return example;
  at::Tensor keep = at::zeros({2, size}, at::kBool);  // of the page and of the offset
  keep.select(1, size - cause->second).fill_(true);
  example.truth["history"] = keep;
  return example;
}

Batch TraceDataset::batch(std::span<const int64_t> rows) const {
  const int64_t size = encoder_.shape().accesses;
  Columns columns{int64_t(rows.size())};
  for (int64_t r = 0; r < int64_t(rows.size()); ++r) {
    const int64_t last = last_access(rows[size_t(r)]);
    const Window window = window_to(last);
    const auto copy = [&](const char* name, const std::vector<int64_t>& numbers, int64_t from) {
      std::copy_n(numbers.begin() + from, size, columns.row(name, size, r));
    };
    copy("pages", window.pages, 0);
    copy("offsets", window.offsets, 0);
    copy("pcs", window.pcs, 0);
    copy("lines", window.lines, 0);
    copy("target_pages", window.pages, 1);
    copy("target_offsets", window.offsets, 1);
    for (int64_t i = 0; i + 1 < size && window.lines[size_t(i)] < 0; ++i)  // before the beginning
      columns.row("target_pages", size, r)[i] = columns.row("target_offsets", size, r)[i] =
          kNoTarget;
    *columns.row("next", 1, r) = window.lines.back();
    for (int64_t k = 0; named_.lines && k < named_.degree; ++k)
      columns.row("candidates", named_.degree, r)[k] = (*named_.lines)[last * named_.degree + k];
  }
  Batch batch{columns.take(), int64_t(rows.size())};
  if (batch.has("next")) batch.tensors["next"] = batch.at("next").squeeze(1);  // [B]
  return batch;
}

TraceDataset::Window TraceDataset::window_to(int64_t last) const {
  const int64_t size = encoder_.shape().accesses;
  const TraceCoding& coding = encoder_.coding();
  Window window;
  std::optional<int64_t> before;
  if (last - size >= 0) before = to_page((*store_)[last - size].line);
  for (int64_t access = last - size + 1; access <= last + 1; ++access) {
    const bool is_there = access >= 0;
    const StoredAccess own = is_there ? (*store_)[access] : StoredAccess{kNothing, 0};
    const int64_t page = is_there ? to_page(own.line) : kNothing;
    window.pages.push_back(is_there ? coding.number_of_page(page, before) : 0);
    window.offsets.push_back(is_there ? to_offset(own.line) : kUnknownOffset);
    window.pcs.push_back(is_there ? coding.number_of_pc(own.pc) : 0);
    window.lines.push_back(own.line);
    if (is_there) before = page;
  }
  return window;
}

}  // namespace fovea
