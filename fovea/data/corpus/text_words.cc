#include "fovea/data/corpus/text_words.h"

#include <string_view>

#include "fovea/base/error.h"
#include "fovea/data/corpus/reader.h"
#include "fovea/data/tokenisers/tokeniser.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace {

constexpr size_t kTextsTogether = 2048;

/// "Emma's" is Emma, an apostrophe and s: a name is the same word with and without it.
void cut_at_apostrophes(std::string_view word, std::vector<std::string>& into) {
  for (const std::string_view apostrophe : {"'", "’"}) {
    const size_t at = word.find(apostrophe);
    if (at == std::string_view::npos || word.size() == apostrophe.size()) continue;
    if (at > 0) into.emplace_back(word.substr(0, at));
    into.emplace_back(apostrophe);
    if (const size_t behind = at + apostrophe.size(); behind < word.size())
      cut_at_apostrophes(word.substr(behind), into);
    return;
  }
  into.emplace_back(word);
}

/// Texts wait until there are many, and are then cut side by side.
class TextCutter {
 public:
  explicit TextCutter(WordSequences& words) : words_(words) {}
  void add(std::string text) {
    waiting_.push_back(std::move(text));
    if (waiting_.size() == kTextsTogether) flush();
  }
  void flush() {
    std::vector<std::vector<std::string>> cut(waiting_.size());
    run_parallel(int64_t(cut.size()), [&](int64_t i) {
      const std::string& text = waiting_[size_t(i)];
      for (const Token& token : tokeniser_->encode(text))
        cut_at_apostrophes(std::string_view(text).substr(token.begin, token.end - token.begin),
                           cut[size_t(i)]);
    });
    for (const std::vector<std::string>& sentence : cut) words_.add(sentence);
    waiting_.clear();
  }

 private:
  // Where it cuts does not depend on what it learned.
  std::shared_ptr<const Tokeniser> tokeniser_ =
      Tokeniser::learn({"words", 0, 1}, std::vector<std::string>{"word"});
  WordSequences& words_;
  std::vector<std::string> waiting_;
};

}  // namespace

void add_texts(const std::vector<std::string>& files, WordSequences& words,
               const std::function<void()>& step) {
  for (const std::string& file : files) {
    TextCutter cutter(words);
    read_corpus(file, {.sentences = "lines"}, [&](const Document& document) {
      for (const std::string& line : document) cutter.add(line);
    });
    cutter.flush();
    if (step) step();
  }
}

}  // namespace fovea
