#include "fovea/data/speech/spoken_word.h"

#include <algorithm>

namespace fovea {

std::vector<Span> word_spans(std::string_view transcript) {
  std::vector<Span> spans;
  for (size_t at = 0; at < transcript.size();) {
    const size_t end = std::min(transcript.find(' ', at), transcript.size());
    if (end > at) spans.push_back({int64_t(at), int64_t(end)});
    at = end + 1;
  }
  return spans;
}

}  // namespace fovea
