// SentencePiece in a shared library of its own. Its shared library carries an old protobuf inside
// and LibTorch may bring a newer one; linked into one program, they would call each other's
// functions and crash at the start. So what touches SentencePiece is a shared library of its own,
// made from sentencepiece_module.cc and opened at run time such that it sees its own symbols first.
// Only these types pass its entry point; no exception does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fovea {

/// One trained model; may encode in several threads at once.
class SentencePieceModel {
 public:
  struct Piece {
    int64_t id = 0;
    std::string text;
    size_t begin = 0, end = 0;  // bytes of the text
  };
  virtual ~SentencePieceModel() = default;
  virtual std::vector<std::string> pieces() const = 0;  // by their numbers
  virtual std::vector<double> scores() const = 0;  // of the pieces: logarithms of probabilities
  virtual std::vector<Piece> encode(std::string_view text) const = 0;
};

class SentencePieceModule {
 public:
  virtual ~SentencePieceModule() = default;
  /// Trains on what `next_text` writes until it returns false. Gives the model's bytes, or sets
  /// `error`.
  virtual std::string train(const std::unordered_map<std::string, std::string>& options,
                            const std::function<bool(std::string&)>& next_text,
                            std::string& error) const = 0;
  /// Null, with `error` set, when the bytes are no model.
  virtual std::unique_ptr<const SentencePieceModel> load(const std::string& model,
                                                         std::string& error) const = 0;
};

/// The one function that the shared library exports; it gives a SentencePieceModule.
inline constexpr const char* kSentencePieceDoor = "fovea_sentencepiece_module";

}  // namespace fovea
