// WordLevel: a word is a piece, or unknown.
#include "fovea/data/tokenisers/hugging_face/model.h"

namespace fovea::hugging_face {

namespace {

class WordLevelModel : public Model {
 public:
  explicit WordLevelModel(const Field& component)
      : Model(TokenTable::read(component.at("vocab"))),
        fields_(small_fields(component)),
        unknown_token_(component.text_or_empty("unk_token")),
        unknown_(table_.find(unknown_token_)) {}

  void cut(std::string_view word, std::vector<ModelToken>& tokens) const override {
    const int64_t found = table_.find(word);
    require(found >= 0 || unknown_ >= 0, ErrorKind::BadData, "tokenizer.json: the word '",
            shorten_bytes(word, 64), "' is not in the vocabulary, nor is its unk_token '",
            unknown_token_, "'");
    tokens.push_back({found >= 0 ? found : unknown_, 0, uint32_t(word.size())});
  }

  Json to_json() const override {
    Json json = fields_;
    json["vocab"] = table_.to_json();
    return json;
  }

 private:
  Json fields_;
  std::string unknown_token_;
  int64_t unknown_;
};

}  // namespace

std::unique_ptr<const Model> make_wordlevel(const Field& component) {
  return std::make_unique<WordLevelModel>(component);
}

}  // namespace fovea::hugging_face
