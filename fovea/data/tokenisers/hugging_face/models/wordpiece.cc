// WordPiece: the longest piece that fits, again and again (Wu et al. 2016). A piece inside a word
// begins with a prefix, "##". A word that is too long or that cannot be spelled is unknown as a
// whole.
#include "fovea/base/code_points.h"
#include "fovea/data/tokenisers/hugging_face/model.h"
#include "fovea/data/tokenisers/piece_trie.h"

namespace fovea::hugging_face {

namespace {

class WordPieceModel : public Model {
 public:
  explicit WordPieceModel(const Field& component)
      : Model(TokenTable::read(component.at("vocab"))), fields_(small_fields(component)) {
    if (const auto given = component.find("unk_token")) unknown_token_ = given->text();
    if (const auto given = component.find("continuing_subword_prefix")) prefix_ = given->text();
    longest_word_ = component.integer_or("max_input_chars_per_word", 100, 0, INT32_MAX);
    unknown_ = table_.find(unknown_token_);
    for (int64_t id = 0; id < table_.size(); ++id) {
      const std::string_view piece = table_.piece(id);
      bool added = trie_.add(PieceTrie::kBegin, piece, id);
      if (piece.starts_with(prefix_))
        added = added && trie_.add(PieceTrie::kInside, piece.substr(prefix_.size()), id);
      require(added, ErrorKind::BadData, component.place(), ": the vocabulary is too large, found ",
              format_count(table_.size()), " pieces");
    }
  }

  void cut(std::string_view word, std::vector<ModelToken>& tokens) const override {
    const size_t before = tokens.size();
    const bool short_enough =
        int64_t(word.size()) <= longest_word_ || count_code_points(word) <= longest_word_;
    for (size_t at = 0; short_enough && at < word.size();) {
      const auto match =
          trie_.longest(at == 0 ? PieceTrie::kBegin : PieceTrie::kInside, word.substr(at));
      if (match.length == 0) break;
      tokens.push_back({match.id, uint32_t(at), uint32_t(at + match.length)});
      at += match.length;
    }
    if (tokens.size() > before && tokens.back().end == word.size()) return;
    require(unknown_ >= 0, ErrorKind::BadData, "tokenizer.json: the pieces cannot spell the word '",
            shorten_bytes(word, 64), "', and the vocabulary has no unk_token '", unknown_token_,
            "'");
    tokens.resize(before);
    tokens.push_back({unknown_, 0, uint32_t(word.size())});
  }

  Json to_json() const override {
    Json json = fields_;
    json["vocab"] = table_.to_json();
    return json;
  }

 private:
  Json fields_;
  std::string unknown_token_ = "[UNK]", prefix_ = "##";
  int64_t longest_word_ = 100, unknown_ = -1;
  PieceTrie trie_;
};

}  // namespace

std::unique_ptr<const Model> make_wordpiece(const Field& component) {
  return std::make_unique<WordPieceModel>(component);
}

}  // namespace fovea::hugging_face
