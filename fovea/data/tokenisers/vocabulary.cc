#include "fovea/data/tokenisers/vocabulary.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {

Vocabulary::Vocabulary() : Vocabulary(std::vector<std::string>()) {}

Vocabulary::Vocabulary(const std::vector<std::string>& tokens)
    : tokens_{"<pad>", "<unk>", "<s>", "</s>"} {
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const bool is_new = ids_.emplace(tokens_[i], int64_t(i)).second;
    require(is_new, ErrorKind::InvalidArgument, "vocabulary: the token '", tokens_[i],
            "' is there twice; '<pad>', '<unk>', '<s>' and '</s>' are in every vocabulary");
  }
}

Vocabulary::Vocabulary(std::vector<std::string> tokens, const Special& special)
    : tokens_(std::move(tokens)), special_(special) {
  for (const int64_t id : {special.padding, special.unknown, special.begin, special.end})
    require(id >= 0 && id < size(), ErrorKind::InvalidArgument, "vocabulary: the special symbol ",
            id, " is none of the ", size(), " tokens");
  for (size_t i = 0; i < tokens_.size(); ++i) ids_.emplace(tokens_[i], int64_t(i));
}

Vocabulary Vocabulary::from_counts(const std::map<std::string, int64_t>& counts,
                                   int64_t minimum_count, int64_t maximum_size) {
  require(maximum_size == 0 || maximum_size >= kSpecial, ErrorKind::InvalidArgument,
          "vocabulary: found a maximum size of ", maximum_size,
          "; expected 0 (no limit) or at least ", kSpecial, ", the number of special symbols");
  std::vector<std::pair<std::string, int64_t>> kept;
  for (const auto& entry : counts)
    if (entry.second >= minimum_count) kept.emplace_back(entry);
  std::stable_sort(kept.begin(), kept.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (maximum_size > 0)
    kept.resize(std::min(kept.size(), static_cast<size_t>(maximum_size - kSpecial)));
  std::vector<std::string> tokens;
  for (auto& [token, count] : kept) tokens.push_back(std::move(token));
  return Vocabulary(tokens);
}

int64_t Vocabulary::id(std::string_view token) const {
  const auto found = ids_.find(std::string(token));
  return found == ids_.end() ? special_.unknown : found->second;
}

const std::string& Vocabulary::token(int64_t id) const {
  require(id >= 0 && id < size(), ErrorKind::InvalidArgument, "vocabulary: there is no token ", id,
          "; expected 0 to ", size() - 1);
  return tokens_[static_cast<size_t>(id)];
}

Json Vocabulary::to_json() const {
  Json list = Json::array();
  for (size_t i = kSpecial; i < tokens_.size(); ++i) list.push_back(tokens_[i]);
  return list;
}

Vocabulary Vocabulary::from_json(const Json& json, const std::string& where) {
  require(json.is_array(), ErrorKind::BadData, where, ": found ", json.type_name(),
          "; expected the list of the vocabulary's tokens");
  std::vector<std::string> tokens;
  for (const Json& token : json) {
    require(token.is_string(), ErrorKind::BadData, where, ": token ", tokens.size(), " is ",
            token.type_name(), "; expected a text");
    tokens.push_back(token.get<std::string>());
  }
  try {
    return Vocabulary(tokens);
  } catch (const Error& error) {
    fail(ErrorKind::BadData, where, ": ", error.what());
  }
}

}  // namespace fovea
