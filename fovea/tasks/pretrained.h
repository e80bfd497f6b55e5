// A BERT encoder that was trained before: what `--from` begins with, what a Hugging Face folder
// holds, what a run gives away.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fovea/data/tokenisers/wordpiece.h"
#include "fovea/models/bert_names.h"
#include "fovea/models/bert_pretrainer.h"
#include "fovea/models/model.h"
#include "fovea/tasks/model_spec.h"
#include "fovea/training/run_folder.h"

namespace fovea {

struct PretrainedBert {
  BertOptions options;  // every size filled in
  std::shared_ptr<const WordPiece> tokeniser;
  WeightMap encoder;  // as BertEncoder names them
  WeightMap heads;    // as BertPretrainer names them: "masked.…", "next.…"; may be empty
  std::vector<std::string> notes;  // what was left out, one sentence each

  /// The splits with these notes, said first.
  Splits noted(Splits splits) const;
};

/// From a Hugging Face folder, or from a run of pretrain, documents or tag: any run whose model
/// keeps a BertEncoder under "encoder." and its tokeniser as save_wordpiece() does. NotFound and
/// BadData say what is missing; InvalidArgument for a run without such an encoder.
PretrainedBert read_pretrained(const std::filesystem::path& run_or_folder);

/// The sizes of `start`. InvalidArgument when `options` asks for others; dropout stays as it is.
void take_sizes(BertOptions& options, const PretrainedBert& start);

/// The weights of `start` into a model that keeps its BertEncoder under "encoder.".
void take_encoder(Model& model, const PretrainedBert& start);

/// Lets the model begin with --from: what is read then is in `pretrained` for whoever needs its
/// tokeniser, its sizes are in `encoder`.
void accept_pretrained(ModelSpec& spec, std::shared_ptr<BertOptions> encoder,
                       std::shared_ptr<PretrainedBert> pretrained);

/// The tokeniser as the asset tokeniser.json.
void save_wordpiece(const RunFolder& folder, const WordPiece& tokeniser);
std::shared_ptr<const WordPiece> load_wordpiece(const RunFolder& folder);

}  // namespace fovea
