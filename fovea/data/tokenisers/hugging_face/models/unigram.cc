// Unigram (Kudo 2018): of all ways to cut a word the one whose pieces have the highest sum of
// scores, found from left to right. A character that is no piece is unknown, at the lowest score
// less 10; neighbouring unknown ones are one token.
#include <algorithm>
#include <limits>

#include "fovea/base/code_points.h"
#include "fovea/data/tokenisers/hugging_face/model.h"
#include "fovea/data/tokenisers/piece_trie.h"

namespace fovea::hugging_face {

namespace {

std::vector<std::string> read_unigram_pieces(const Field& vocabulary) {
  std::vector<std::string> pieces;
  vocabulary.expect(vocabulary.value().is_array(), "a list of pieces with their scores");
  pieces.reserve(vocabulary.value().size());
  for (const Json& entry : vocabulary.value()) {
    const bool fits =
        entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_number();
    if (!fits)
      Field(entry, concat(vocabulary.place(), "[", pieces.size(), "]"))
          .expect(false, "a piece and its score, [\"the\", -3.2]");
    pieces.push_back(entry[0].get<std::string>());
  }
  return pieces;
}

class UnigramModel : public Model {
 public:
  explicit UnigramModel(const Field& component)
      : Model(TokenTable(read_unigram_pieces(component.at("vocab")))),
        fields_(small_fields(component)) {
    const Field vocabulary = component.at("vocab");
    lowest_ = std::numeric_limits<double>::infinity();
    for (const Json& entry : vocabulary.value()) {
      scores_.push_back(entry[1].get<double>());
      lowest_ = std::min(lowest_, scores_.back());
    }
    for (int64_t id = 0; id < table_.size(); ++id)
      require(trie_.add(PieceTrie::kBegin, table_.piece(id), id), ErrorKind::BadData,
              component.place(), ": the vocabulary is too large, found ",
              format_count(table_.size()), " pieces");
    byte_fallback_ = component.mark_or("byte_fallback", false);
    const auto unknown = component.find("unk_id");
    if (unknown) unknown_ = unknown->integer(0, table_.size() - 1);
  }

  void cut(std::string_view word, std::vector<ModelToken>& tokens) const override {
    cache_.get(word, tokens, [this](std::string_view given, std::vector<ModelToken>& into) {
      cut_anew(given, into);
    });
  }

  Json to_json() const override {
    Json json = fields_, vocabulary = Json::array();
    for (int64_t id = 0; id < table_.size(); ++id)
      vocabulary.push_back(Json::array({table_.piece(id), scores_[size_t(id)]}));
    json["vocab"] = std::move(vocabulary);
    return json;
  }

 private:
  /// The best way to the end of a piece.
  struct Node {
    double score = 0;
    int64_t id = -1;  // of the last piece; -1: no way leads here yet
    size_t begin = 0;
  };

  std::vector<Node> best_ways(std::string_view word) const {
    constexpr double kUnknownPenalty = 10;
    std::vector<Node> ways(word.size() + 1);
    for (size_t at = 0; at < word.size();) {
      const size_t size = code_point_size(word[at]);
      const double before = ways[at].score;
      const auto offer = [&](size_t end, double score, int64_t id) {
        if (ways[end].id < 0 || score + before > ways[end].score)
          ways[end] = {score + before, id, at};
      };
      bool known = false;  // whether the character is a piece
      trie_.each_prefix(PieceTrie::kBegin, word.substr(at), [&](const PieceTrie::Match& match) {
        offer(at + match.length, scores_[size_t(match.id)], match.id);
        known = known || match.length == size;
      });
      if (!known) {
        require_unknown(word.substr(at, size));
        offer(at + size, lowest_ - kUnknownPenalty, unknown_);
      }
      at += size;
    }
    return ways;
  }

  void cut_anew(std::string_view word, std::vector<ModelToken>& tokens) const {
    const std::vector<Node> ways = best_ways(word);
    std::vector<ModelToken> found;  // from the last to the first
    for (size_t end = word.size(); end > 0; end = ways[end].begin) {
      const Node& node = ways[end];
      if (node.id == unknown_ && !found.empty() && found.back().id == unknown_)
        found.back().begin = uint32_t(node.begin);
      else
        found.push_back({node.id, uint32_t(node.begin), uint32_t(end), true});
    }
    for (auto token = found.rbegin(); token != found.rend(); ++token) {
      if (token->id == unknown_)
        put_unknown(word.substr(token->begin, token->end - token->begin), *token, tokens);
      else
        tokens.push_back(*token);
    }
  }

  /// A run of unknown characters: a piece after all, bytes, or unknown.
  void put_unknown(std::string_view text, ModelToken token, std::vector<ModelToken>& tokens) const {
    token.id = table_.find(text);
    if (token.id < 0 && byte_fallback_) {
      std::vector<ModelToken> bytes;
      for (const char byte : text)
        bytes.push_back({table_.find(byte_piece(static_cast<unsigned char>(byte))), token.begin,
                         token.end, false});
      if (std::all_of(bytes.begin(), bytes.end(), [](const auto& each) { return each.id >= 0; })) {
        tokens.insert(tokens.end(), bytes.begin(), bytes.end());
        return;
      }
    }
    if (token.id < 0) token.id = unknown_;
    tokens.push_back(token);
  }

  void require_unknown(std::string_view character) const {
    require(unknown_ >= 0, ErrorKind::BadData, "tokenizer.json: no piece has the character '",
            character, "', and the model has no unk_id");
  }

  Json fields_;
  std::vector<double> scores_;
  double lowest_ = 0;
  int64_t unknown_ = -2;  // no id and no way
  bool byte_fallback_ = false;
  PieceTrie trie_;
  WordCache cache_;
};

}  // namespace

std::unique_ptr<const Model> make_unigram(const Field& component) {
  return std::make_unique<UnigramModel>(component);
}

}  // namespace fovea::hugging_face
