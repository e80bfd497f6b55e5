#include <iostream>

#include "cli/program.h"
#include "fovea/attention/alignment.h"
#include "fovea/attention/normaliser.h"
#include "fovea/attention/score.h"
#include "fovea/base/text.h"

namespace fovea::cli {

void add_scores(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "scores", "score functions, alignments and normalisers, with their formulas");
  command->footer(
      "Examples:\n"
      "  fovea scores\n"
      "  fovea train dates --set model.score=additive --set data.rows=500 --epochs 1 --out "
      "runs/score\n"
      "  fovea train dates --set model.normaliser=sparsemax --set data.rows=500 --epochs 1 --out "
      "runs/sparse");
  command->callback([] {
    TextTable scores({"score", "formula", "parameters", "paper"});
    for (const ScoreEntry& row : score_table())
      scores.add({row.name, row.formula, row.parameters, row.paper});
    TextTable alignments({"alignment", "formula", "paper"});
    for (const AlignmentEntry& row : alignment_table())
      alignments.add({row.name, row.formula, row.paper});
    TextTable normalisers({"normaliser", "formula", "paper"});
    for (const NormaliserEntry& row : normaliser_table())
      normalisers.add({row.name, row.formula, row.paper});
    std::cout << scores.plain() << "\n" << alignments.plain() << "\n" << normalisers.plain();
  });
}

}  // namespace fovea::cli
