#include "fovea/data/language/text_stream.h"

#include <algorithm>

#include "fovea/base/text.h"

namespace fovea {

namespace {

constexpr size_t kTokensBefore = 6;  // decide whether a blank stands in front
constexpr std::string_view kBroken = "\uFFFD";

}  // namespace

TextStream::TextStream(const HuggingFaceTokeniser& tokeniser, std::span<const int64_t> before)
    : tokeniser_(tokeniser) {
  const auto last = before.last(std::min(before.size(), kTokensBefore));
  tokens_.assign(last.begin(), last.end());
  written_ = tokens_.size();
}

std::string TextStream::decode(size_t end) const {
  return tokeniser_.decode(std::span(tokens_).subspan(from_, end - from_));
}

std::string TextStream::add(int64_t token) {
  tokens_.push_back(token);
  const std::string before = decode(written_), now = decode(tokens_.size());
  if (now.size() <= before.size() || now.ends_with(kBroken)) return "";
  from_ = written_;
  written_ = tokens_.size();
  return now.substr(before.size());
}

std::string TextStream::finish() {
  const std::string before = decode(written_), now = decode(tokens_.size());
  written_ = tokens_.size();
  return now.size() > before.size() ? now.substr(before.size()) : "";
}

std::string continued_text(const HuggingFaceTokeniser& tokeniser, std::span<const int64_t> before,
                           std::span<const int64_t> tokens) {
  TextStream stream(tokeniser, before);
  std::string text;
  for (const int64_t token : tokens) text += stream.add(token);
  return text + stream.finish();
}

std::string token_label(const HuggingFaceTokeniser& tokeniser, int64_t token) {
  if (tokeniser.is_special(token)) return tokeniser.token(token);
  const std::string text = tokeniser.decode({&token, 1});
  if (text.empty() || text.find(kBroken) != std::string::npos) return tokeniser.token(token);
  std::string label;
  for (const char byte : text) label += byte == '\n' ? std::string("\\n") : std::string(1, byte);
  return label;
}

}  // namespace fovea
