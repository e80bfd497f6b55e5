#include "fovea/tasks/task.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tasks/model_spec.h"
#include "fovea/tasks/task_predictor.h"
#include "fovea/tensor/torch.h"

namespace fovea {

std::string Task::model_name() const {
  return model_name_.empty() ? models().at(0) : model_name_;
}

bool Task::choose_model(const std::string& name) {
  const std::vector<std::string> known = models();
  if (std::find(known.begin(), known.end(), name) == known.end() || name == model_name())
    return false;
  model_name_ = name;
  return true;
}

void Task::add_model(ModelSpec) {
  fail(ErrorKind::Unsupported, "this task takes no networks from outside of the library");
}

Explanation Task::overview(const Model& model, const Dataset& rows) const {
  require(rows.size() > 0, ErrorKind::BadData, "there are no rows to explain");
  Explanation explanation =
      explain_example(BorrowedPredictor(*this, model), rows.example(0), explain_options());
  explanation.notes.push_back(
      concat("the first of ", format_count(rows.size()), " rows; give an input to see another"));
  return explanation;
}

std::vector<std::string> Task::keep_most_attended(const Model&, const Dataset&, int64_t) {
  fail(ErrorKind::Unsupported,
       "prune: this task has no columns to drop; it works for runs of the task features");
}

void Task::prepare(const DataSource&, uint64_t, const std::filesystem::path&) {
  fail(ErrorKind::Unsupported,
       "prepare: this task reads its files quickly enough; it works for "
       "caption, dates, speech and translate");
}

void Task::load_pretrained(const std::filesystem::path&) {
  fail(ErrorKind::Unsupported,
       "--from: this task learns everything itself; it works for documents, tag and pretrain");
}

std::vector<std::string> Task::open_pretrained(const std::filesystem::path&) {
  fail(ErrorKind::Unsupported, "this task opens no Hugging Face folder");
}

StreamReport Task::stream(const Model&, const std::filesystem::path&, bool,
                          const std::function<void(const std::string&)>&) const {
  fail(ErrorKind::Internal, "the inputs of this task are no stream of events");
}

Example Task::erase(const Example&, const std::string& axis, std::span<const int64_t>) const {
  fail(ErrorKind::Unsupported, "units of the axis '", axis, "' cannot be erased");
}

LengthCurve Task::measure_by_length(const Model&, const Dataset&) const {
  return {};
}

std::vector<Example> Task::parse_table(const CsvTable& table, const InputColumns& columns) const {
  std::vector<Example> examples;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string line = input_object(table, row, columns).dump();
    try {
      examples.push_back(parse(line));
    } catch (const Error& error) {
      fail(error.kind(), table.place(row), ": ", error.what());
    }
    examples.back().given = line;
  }
  return examples;
}

Batch Task::collate(std::span<const Example> examples) const {
  return stack(examples);
}

}  // namespace fovea
