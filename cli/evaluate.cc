#include <iostream>

#include "cli/flags.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/progress.h"
#include "fovea/base/text.h"

namespace fovea::cli {

void add_evaluate(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "evaluate", "metrics of a run on its own data or on a file with the same columns");
  auto flags = std::make_shared<RowFlags>();
  command->add_option("run", flags->run, "folder made by fovea train")->required();
  command->add_option("data", flags->data, "file or folder; none: the run's own data");
  add_row_flags(*command, *flags);
  command->footer(
      "Examples:\n"
      "  fovea evaluate runs/first\n"
      "  fovea evaluate runs/first data/mine --split validation\n"
      "  fovea evaluate runs/tag --json");
  command->callback([flags] {
    Pipeline pipeline = Pipeline::load(flags->run, flags->device, flags->assignments);
    for (const std::string& note : pipeline.notes()) tell(note);
    const auto rows = choose_rows(pipeline, *flags);
    if (flags->split == "validation" && flags->data.empty() && flags->source.empty() &&
        pipeline.use_held_out_weights())
      tell(
          "measured with the weights that have not seen these rows; answers come from weights "
          "that were then learned from all rows");
    Evaluation evaluation;
    {
      Progress progress("measuring", rows->size(), "rows");
      pipeline.setup().task().progress = [&](int64_t done) { progress.update(done); };
      evaluation = pipeline.evaluate(*rows);
    }
    const std::vector<std::string> notes = pipeline.setup().task().metric_notes(*rows);
    if (flags->json) {
      Json json{{"task", pipeline.task_name()}, {"split", flags->split}, {"rows", rows->size()}};
      json.update(evaluation.to_json());
      if (!notes.empty()) json["notes"] = notes;
      if (!pipeline.unfinished().empty()) json["unfinished"] = pipeline.unfinished();
      std::cout << json.dump() << "\n";
      return;
    }
    std::cerr << pipeline.task_name() << ", " << flags->split << " split, "
              << format_count(rows->size()) << " rows\n";
    for (const std::string& note : notes) tell(note);
    std::cout << evaluation.text();
    for (const std::string& remark : evaluation.remarks()) tell(remark);
  });
}

}  // namespace fovea::cli
