#include "fovea/metrics/answers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "fovea/base/code_points.h"

namespace fovea {

namespace {

/// The code point at `at`, which moves behind it; a byte that is no UTF-8 stands for itself.
char32_t read_code_point(std::string_view text, size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const bool is_lead = lead < 0x80 || lead >= 0xC0;
  if (is_lead && at + code_point_size(text[at]) <= text.size()) return next_code_point(text, at);
  return ++at, lead;
}

char32_t small_letter(char32_t code) {
  const auto within = [&](char32_t first, char32_t last) { return code >= first && code <= last; };
  if (within('A', 'Z') || (within(0xC0, 0xDE) && code != 0xD7)) return code + 32;
  if (within(0x100, 0x137) || within(0x14A, 0x177)) return code | 1;  // pairs, the even one capital
  if (within(0x139, 0x148) || within(0x179, 0x17E)) return code + (code & 1);
  if (code == 0x178) return 0xFF;
  if (within(0x391, 0x3A9) || within(0x410, 0x42F)) return code + 32;
  if (within(0x400, 0x40F)) return code + 80;
  return code;
}

bool is_ascii_punctuation(char32_t code) {
  return (code >= 0x21 && code <= 0x2F) || (code >= 0x3A && code <= 0x40) ||
         (code >= 0x5B && code <= 0x60) || (code >= 0x7B && code <= 0x7E);
}

/// What Python's split() splits at.
bool is_space(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20) || code == 0x85 ||
         code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
         code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

/// Whether an article may end beside it: white space, and punctuation that is not ASCII.
bool is_boundary(char32_t code) {
  constexpr char32_t kLatinWords[] = {0xAA, 0xB2, 0xB3, 0xB5, 0xB9, 0xBA, 0xBC, 0xBD, 0xBE};
  const bool latin_sign =
      code >= 0xA1 && code <= 0xBF &&
      std::find(std::begin(kLatinWords), std::end(kLatinWords), code) == std::end(kLatinWords);
  return is_space(code) || latin_sign || code == 0xD7 || code == 0xF7 ||
         (code >= 0x2010 && code <= 0x2060) || (code >= 0x2190 && code <= 0x2BFF) ||
         (code >= 0x3001 && code <= 0x3004) || (code >= 0x3008 && code <= 0x3020);
}

std::vector<std::string> words_of(std::string_view answer) {
  std::vector<std::string> words;
  for (size_t at = 0; at < answer.size();) {
    const size_t end = std::min(answer.find(' ', at), answer.size());
    if (end > at) words.emplace_back(answer.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

double f1_of(const std::vector<std::string>& found, const std::vector<std::string>& right,
             bool may_refuse) {
  if (may_refuse && (found.empty() || right.empty())) return found == right ? 1 : 0;
  std::map<std::string, int64_t> counts;
  for (const std::string& word : right) ++counts[word];
  double same = 0;
  for (const std::string& word : found)
    if (counts[word]-- > 0) ++same;
  if (same == 0) return 0;
  const double precision = same / double(found.size()), recall = same / double(right.size());
  return 2 * precision * recall / (precision + recall);
}

}  // namespace

std::string normalise_answer(std::string_view answer) {
  std::vector<char32_t> letters;
  for (size_t at = 0; at < answer.size();) {
    const char32_t code = small_letter(read_code_point(answer, at));
    if (!is_ascii_punctuation(code)) letters.push_back(code);
  }
  std::string result, word;  // word: between two boundaries
  bool space = false;        // white space, or an article, is due before the next letter
  const auto end_word = [&] {
    const bool article = word == "a" || word == "an" || word == "the";
    if (article) {
      space = true;
    } else if (!word.empty()) {
      if (space && !result.empty()) result += ' ';
      result += word;
      space = false;
    }
    word.clear();
  };
  for (const char32_t code : letters) {
    if (!is_boundary(code)) {
      append_code_point(code, word);
      continue;
    }
    end_word();
    if (is_space(code)) {
      space = true;
    } else {
      if (space && !result.empty()) result += ' ';
      append_code_point(code, result);
      space = false;
    }
  }
  end_word();
  return result;
}

AnswerScore score_answer(std::string_view found, std::span<const std::string> right,
                         bool may_refuse) {
  const std::string own = normalise_answer(found);
  std::vector<std::string> golds;
  for (const std::string& one : right) golds.push_back(normalise_answer(one));
  if (may_refuse) std::erase(golds, "");
  if (golds.empty()) golds.emplace_back();
  AnswerScore best;
  for (const std::string& gold : golds) {
    best.exact_match = std::max(best.exact_match, own == gold ? 1.0 : 0.0);
    best.f1 = std::max(best.f1, f1_of(words_of(own), words_of(gold), may_refuse));
  }
  return best;
}

}  // namespace fovea
