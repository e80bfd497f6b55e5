#include "fovea/data/tokenisers/hugging_face/added_tokens.h"

#include <algorithm>

#include "fovea/data/tokenisers/kinds.h"

namespace fovea::hugging_face {

namespace {

/// Code point before byte `at` of `text`, which is not its first; `at` moves to its begin.
char32_t previous_code_point(std::string_view text, size_t& at) {
  do --at;
  while ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  size_t next = at;
  return next_code_point(text, next);
}

bool ends_with_word(std::string_view text) {
  size_t at = text.size();
  return !text.empty() && is_word_character(previous_code_point(text, at));
}

bool starts_with_word(std::string_view text) {
  size_t at = 0;
  return !text.empty() && is_word_character(next_code_point(text, at));
}

/// Where the white space at the end of `text` begins.
size_t before_white_space(std::string_view text) {
  size_t end = text.size();
  for (size_t at = end; at > 0; end = at)
    if (!is_white_space(previous_code_point(text, at))) break;
  return end;
}

}  // namespace

AddedToken AddedToken::read(const Field& field) {
  AddedToken token;
  token.id = field.at("id").integer(0, INT32_MAX);
  token.content = field.at("content").text();
  token.single_word = field.mark_or("single_word", false);
  token.lstrip = field.mark_or("lstrip", false);
  token.rstrip = field.mark_or("rstrip", false);
  token.special = field.mark_or("special", false);
  token.normalized = field.mark_or("normalized", !token.special);
  return token;
}

Json AddedToken::to_json() const {
  return {{"id", id},          {"content", content}, {"single_word", single_word},
          {"lstrip", lstrip},  {"rstrip", rstrip},   {"normalized", normalized},
          {"special", special}};
}

void AddedTokens::Finder::add(std::string_view content, size_t token) {
  if (content.empty()) return;
  require(trie.add(PieceTrie::kBegin, content, int64_t(token)), ErrorKind::BadData,
          "tokenizer.json: there are too many added tokens");
  leads[static_cast<unsigned char>(content[0])] = true;
  empty = false;
}

AddedTokens::AddedTokens(const std::optional<Field>& list, const TokenTable& table,
                         const Normaliser& normaliser) {
  if (!list) return;
  std::unordered_map<std::string, int64_t> contents;
  list->each({}, [&](const Field& field) {
    AddedToken token = AddedToken::read(field);
    const int64_t known = table.find(token.content);
    require(known < 0 || known == token.id, ErrorKind::BadData, field.place(), ": the token '",
            shorten_bytes(token.content, 64), "' has the id ", token.id,
            ", but in the vocabulary it has ", known);
    require(known >= 0 || token.id >= table.size(), ErrorKind::BadData, field.place(),
            ": the token '", shorten_bytes(token.content, 64), "' has the id ", token.id,
            ", which belongs to '",
            shorten_bytes(token.id < table.size() ? table.piece(token.id) : "", 64), "'");
    require(!by_id_.contains(token.id) && contents.emplace(token.content, token.id).second,
            ErrorKind::BadData, field.place(), ": the token '", shorten_bytes(token.content, 64),
            "' or its id ", token.id, " stands there twice");
    by_id_.emplace(token.id, tokens_.size());
    tokens_.push_back(std::move(token));
  });
  int64_t last = table.size() - 1, beyond = 0;
  for (const AddedToken& token : tokens_) {
    last = std::max(last, token.id);
    beyond += token.id >= table.size();
  }
  require(last + 1 == table.size() + beyond, ErrorKind::BadData, list->place(),
          ": the ids leave a hole; behind the ", table.size(),
          " pieces of the vocabulary they must go on from ", table.size(), " to ",
          table.size() + beyond - 1, ", found ", last);
  for (size_t i = 0; has_icu() && i < tokens_.size(); ++i) {  // without it no text is read
    if (!tokens_[i].normalized) {
      raw_.add(tokens_[i].content, i);
      continue;
    }
    AlignedText content(tokens_[i].content);
    if (normaliser) normaliser(content);
    normalised_.add(content.text, i);
  }
}

const AddedToken* AddedTokens::find(int64_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  for (const AddedToken& token : tokens_)
    if (token.content == content) return &token;
  return nullptr;
}

std::vector<AddedTokens::Found> AddedTokens::find_all(std::string_view text,
                                                      const Finder& finder) const {
  std::vector<Found> found;
  size_t done = 0;  // all before it is in `found`
  for (size_t at = 0; !finder.empty && at < text.size();) {
    const bool may_begin = finder.leads[static_cast<unsigned char>(text[at])];
    const auto match =
        may_begin ? finder.trie.longest(PieceTrie::kBegin, text.substr(at)) : PieceTrie::Match{};
    if (match.length == 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[size_t(match.id)];
    size_t begin = at, end = at + match.length;
    at = end;
    if (token.single_word &&
        (ends_with_word(text.substr(0, begin)) || starts_with_word(text.substr(end))))
      continue;
    if (token.lstrip) begin = std::max(before_white_space(text.substr(0, begin)), done);
    if (token.rstrip) end += run_length(text.substr(end), /*white=*/true);
    if (done < begin) found.push_back({done, begin, nullptr});
    found.push_back({begin, end, &token});
    done = end;
  }
  if (done < text.size()) found.push_back({done, text.size(), nullptr});
  return found;
}

PreTokenisedText AddedTokens::extract(std::string_view text, const Normaliser& normaliser) const {
  PreTokenisedText cut;
  for (const Found& part : find_all(text, raw_)) {
    AlignedText aligned(text.substr(part.begin, part.end - part.begin), part.begin);
    if (part.token != nullptr) {
      cut.add(aligned, 0, aligned.text.size(), part.token->id);
      continue;
    }
    if (normaliser) normaliser(aligned);
    for (const Found& inner : find_all(aligned.text, normalised_))
      cut.add(aligned, inner.begin, inner.end,
              inner.token == nullptr ? std::nullopt : std::optional(inner.token->id));
  }
  return cut;
}

}  // namespace fovea::hugging_face
