// An encoder, BERT's or of its kin, that was trained before: what `--from` begins with, what a
// Hugging Face folder holds, what a run gives away.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fovea/data/tokenisers/piece_tokeniser.h"
#include "fovea/models/bert_names.h"
#include "fovea/models/bert_pretrainer.h"
#include "fovea/models/model.h"
#include "fovea/tasks/model_spec.h"
#include "fovea/training/run_folder.h"

namespace fovea {

struct PretrainedBert {
  BertOptions options;  // every size filled in
  std::shared_ptr<const PieceTokeniser> tokeniser;
  WeightMap encoder;  // as BertEncoder names them
  WeightMap heads;  // as the models name them: "masked.…", "next.…", "output.…"; may be empty
  EncoderHead head = EncoderHead::None;  // what the architecture, or the run, is made for
  std::vector<std::string> labels;       // of "output.…": names of classes or tags, in order
  std::string problem;                   // of a classifier: problem_type of config.json, or empty
  bool answers = false;                  // the heads answer, as in a folder that is opened as a run
  std::vector<std::string> notes;        // what was left out, one sentence each

  /// The splits with these notes, said first.
  Splits noted(Splits splits) const;
  /// InvalidArgument where a folder answers and no data is named: it has none of its own.
  void require_data(const DataSource& source) const;
};

/// From a Hugging Face folder, or from a run of pretrain, documents, tag, questions or choices: any
/// run whose model keeps a BertEncoder under "encoder." and its tokeniser as save_pieces() does.
/// NotFound and BadData say what is missing; InvalidArgument for a run without such an encoder.
PretrainedBert read_pretrained(const std::filesystem::path& run_or_folder);

/// What tasks of BERT share in their training from scratch; the rest is each task's own.
TrainingOptions bert_training();

/// The sizes of `start`. InvalidArgument when `options` asks for others; dropout stays as it is.
void take_sizes(BertOptions& options, const PretrainedBert& start);

/// The weights of `start` into a model that keeps its BertEncoder under "encoder.".
void take_encoder(Model& model, const PretrainedBert& start);
/// Those of its heads that the model has in the same size.
void take_heads(Model& model, const PretrainedBert& start);

/// Lets the model begin with --from: what is read then is in `pretrained` for whoever needs its
/// tokeniser, its sizes are in `encoder`.
void accept_pretrained(ModelSpec& spec, std::shared_ptr<BertOptions> encoder,
                       std::shared_ptr<PretrainedBert> pretrained);
/// Lets a Hugging Face folder with such a head open as a run of the model, too: `open` is given
/// what was read, for the data.
void open_as_run(ModelSpec& spec, std::shared_ptr<BertOptions> encoder,
                 std::shared_ptr<PretrainedBert> pretrained,
                 std::function<void(const PretrainedBert&)> open);

/// The tokeniser as the asset tokeniser.json.
void save_pieces(const RunFolder& folder, const PieceTokeniser& tokeniser);
std::shared_ptr<const PieceTokeniser> load_pieces(const RunFolder& folder);

}  // namespace fovea
