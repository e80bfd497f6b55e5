#include "fovea/data/tokenisers/sentences.h"

#include "fovea/base/error.h"
#include "fovea/data/tokenisers/kinds.h"

namespace fovea {

std::vector<std::string_view> cut_sentences(std::string_view text) {
  check_text(text, "text to cut into sentences");
  std::vector<std::string_view> sentences;
  for (const std::string_view segment : segments(text, Boundary::Sentence))
    if (const std::string_view sentence = trim(segment); !sentence.empty())
      sentences.push_back(sentence);
  return sentences;
}

}  // namespace fovea
