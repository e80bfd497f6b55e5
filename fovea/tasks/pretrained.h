// An encoder, BERT's or of its kin, that was trained before: what `--from` begins with, what a
// Hugging Face folder holds, what a run gives away.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fovea/data/packed_text.h"
#include "fovea/data/source.h"
#include "fovea/data/tokenisers/piece_tokeniser.h"
#include "fovea/models/bert_names.h"
#include "fovea/models/bert_pretrainer.h"
#include "fovea/models/model.h"
#include "fovea/tasks/model_spec.h"
#include "fovea/tasks/symbols.h"
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

/// Lets the model begin with --from, and a Hugging Face folder that has its head open as a run of
/// it: what is read then is in `pretrained` for whoever needs its tokeniser, its sizes are in
/// `encoder`. Training goes on from `head` where that is what was read; a folder's head always
/// answers, and `open` tells the data of it.
void accept_pretrained(ModelSpec& spec, std::shared_ptr<BertOptions> encoder,
                       std::shared_ptr<PretrainedBert> pretrained, EncoderHead head,
                       std::function<void(const PretrainedBert&)> open);

/// The same for options with an `encoder`, and data with open().
template <class Options, class Data>
void accept_pretrained(ModelSpec& spec, const std::shared_ptr<Options>& options,
                       const std::shared_ptr<Data>& data,
                       std::shared_ptr<PretrainedBert> pretrained,
                       EncoderHead head = EncoderHead::None) {
  accept_pretrained(spec, {options, &options->encoder}, std::move(pretrained), head,
                    [data](const PretrainedBert& read) { data->open(read); });
}

/// The tokeniser as the asset tokeniser.json.
void save_pieces(const RunFolder& folder, const PieceTokeniser& tokeniser);
std::shared_ptr<const PieceTokeniser> load_pieces(const RunFolder& folder);

/// Data as BERT reads it: its tokeniser is the pretrained one, or is learned, and stays with the
/// run. `Data` has a `coding_` with a `tokeniser`.
template <class Data>
class PieceData : public Data {
 public:
  template <class... Arguments>
  explicit PieceData(std::shared_ptr<const PretrainedBert> pretrained, Arguments&&... data)
      : Data(std::forward<Arguments>(data)...), pretrained_(std::move(pretrained)) {}

  Splits load(const DataSource& source, uint64_t seed) override {
    pretrained_->require_data(source);
    if (!this->coding_.tokeniser) this->coding_.tokeniser = pretrained_->tokeniser;
    return pretrained_->noted(Data::load(source, seed));
  }
  std::vector<SymbolTable> symbols() const override {
    return {symbols_of("tokens", *this->coding_.tokeniser)};
  }
  void save(const RunFolder& folder) const override {
    Data::save(folder);
    save_pieces(folder, *this->coding_.tokeniser);
  }
  void restore(const RunFolder& folder) override {
    Data::restore(folder);
    this->coding_.tokeniser = load_pieces(folder);
  }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "tokens") return Data::erase(example, axis, units);
    return erase_tokens(example, *this->coding_.tokeniser, units);
  }

 private:
  std::shared_ptr<const PretrainedBert> pretrained_;
};

}  // namespace fovea
