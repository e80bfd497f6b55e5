// What the tasks share whose texts BERT reads (pretrain, documents, tag): an encoder that was
// trained before, and inputs of one text or two.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "fovea/tasks/pretrained.h"
#include "fovea/tasks/task.h"

namespace fovea {

class BertTask : public Task {
 public:
  void load_pretrained(const std::filesystem::path& run_or_folder) override;
  void copy_pretrained(Model& model) const override;
  bool takes_plain_text() const override { return true; }

 protected:
  virtual BertOptions& encoder_options() = 0;
  virtual std::shared_ptr<const WordPiece>& tokeniser() = 0;

  /// Takes over its sizes and its tokeniser.
  void begin_with(PretrainedBert start);
  /// With what was left out of the start, said first.
  Splits noted(Splits splits) const;

  std::optional<PretrainedBert> start_;
};

/// What a user gives: a text as it is, or {"text": …}, perhaps with a "second" one.
struct TextInput {
  std::string text;
  std::optional<std::string> second;
};
TextInput read_text_input(const std::string& line);

}  // namespace fovea
