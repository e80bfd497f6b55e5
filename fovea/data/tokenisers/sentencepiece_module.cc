// Compiled into a shared library of its own; the header says why.
#include "fovea/data/tokenisers/sentencepiece_module.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

namespace fovea {

namespace {

class Texts : public sentencepiece::SentenceIterator {
 public:
  explicit Texts(const std::function<bool(std::string&)>& next) : next_(next) { advance(); }
  bool done() const override { return done_; }
  void Next() override { advance(); }
  const std::string& value() const override { return text_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void advance() { done_ = !next_(text_); }

  const std::function<bool(std::string&)>& next_;
  std::string text_;
  bool done_ = false;
};

class Model : public SentencePieceModel {
 public:
  /// The reason why `model` cannot be read, or "".
  std::string read(const std::string& model) {
    const auto status = processor_.LoadFromSerializedProto(model);
    return status.ok() ? "" : status.ToString();
  }

  std::vector<std::string> pieces() const override {
    std::vector<std::string> pieces;
    for (int id = 0; id < processor_.GetPieceSize(); ++id)
      pieces.push_back(processor_.IdToPiece(id));
    return pieces;
  }

  std::vector<double> scores() const override {
    std::vector<double> scores;
    for (int id = 0; id < processor_.GetPieceSize(); ++id)
      scores.push_back(double(processor_.GetScore(id)));
    return scores;
  }

  std::vector<Piece> encode(std::string_view text) const override {
    const auto encoded = processor_.EncodeAsImmutableProto(text);
    std::vector<Piece> pieces;
    for (const auto& piece : encoded.pieces())
      pieces.push_back({int64_t(piece.id()), piece.piece(), piece.begin(), piece.end()});
    return pieces;
  }

 private:
  sentencepiece::SentencePieceProcessor processor_;
};

class Module : public SentencePieceModule {
 public:
  std::string train(const std::unordered_map<std::string, std::string>& options,
                    const std::function<bool(std::string&)>& next_text,
                    std::string& error) const override {
    Texts texts(next_text);
    std::string model;
    const auto status = sentencepiece::SentencePieceTrainer::Train(options, &texts, &model);
    error = status.ok() ? "" : status.ToString();
    return model;
  }

  std::unique_ptr<const SentencePieceModel> load(const std::string& model,
                                                 std::string& error) const override {
    auto loaded = std::make_unique<Model>();
    error = loaded->read(model);
    if (!error.empty()) return nullptr;
    return loaded;
  }
};

}  // namespace

}  // namespace fovea

extern "C" const fovea::SentencePieceModule* fovea_sentencepiece_module() {
  static const fovea::Module module;
  return &module;
}
