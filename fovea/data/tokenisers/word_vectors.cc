#include "fovea/data/tokenisers/word_vectors.h"

#include <ATen/ATen.h>

#include <cmath>
#include <string_view>

#include "fovea/base/error.h"
#include "fovea/data/formats/line_stream.h"

namespace fovea {

namespace {

constexpr int64_t kMostNumbers = 10'000;  // of one word

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/// The last field, which is taken off the line together with the blanks around it.
std::string_view take_last(std::string_view& line) {
  size_t begin = line.size();
  while (begin > 0 && !is_blank(line[begin - 1])) --begin;
  const std::string_view field = line.substr(begin);
  while (begin > 0 && is_blank(line[begin - 1])) --begin;
  line = line.substr(0, begin);
  return field;
}

int64_t count_fields(std::string_view line) {
  int64_t fields = 0;
  for (size_t i = 0; i < line.size(); ++i)
    fields += !is_blank(line[i]) && (i == 0 || is_blank(line[i - 1]));
  return fields;
}

/// "400000 100": how many words and numbers follow.
struct Header {
  int64_t words = -1, numbers = 0;
  bool is_there() const { return words >= 0; }
};

Header read_header(std::string_view line) {
  Header header;
  if (count_fields(line) != 2) return {};
  const std::string_view numbers = take_last(line);
  if (!parse_integer(numbers, header.numbers) || !parse_integer(line, header.words)) return {};
  return header;
}

/// The numbers behind a word, into `row`; what is left of the line is the word, which may hold
/// blanks itself.
void read_numbers(std::string_view line, int64_t count, const std::string& place, float* row) {
  for (int64_t i = count - 1; i >= 0; --i) {
    const std::string_view field = take_last(line);
    double value = 0;
    require(parse_number(field, value) && std::isfinite(value), ErrorKind::BadData, place, ": '",
            field, "' is no finite number; expected a word and ", count, " numbers");
    row[i] = static_cast<float>(value);
  }
}

/// The word in front of `count` fields; empty where there are not as many.
std::string_view word_of(std::string_view line, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (take_last(line).empty()) return {};
  return line;
}

class WordVectorsReader {
 public:
  WordVectorsReader(const std::filesystem::path& path, const Vocabulary& vocabulary)
      : path_(path.string()), lines_(path), vocabulary_(vocabulary) {}

  WordVectors read() {
    std::string_view line;
    while (lines_.next(line)) {
      while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
      if (line.empty()) continue;
      const bool is_first = numbers_ == 0;
      if (is_first && (header_ = read_header(line)).is_there()) {
        expect_numbers(header_.numbers);
        continue;
      }
      if (is_first) expect_numbers(count_fields(line) - 1);
      ++words_;
      take(line);
    }
    require(numbers_ > 0 && words_ > 0, ErrorKind::BadData, path_, ": holds no word vectors");
    require(!header_.is_there() || words_ >= header_.words, ErrorKind::BadData, path_,
            ": ends after ", format_count(words_), " words; its first line says ",
            format_count(header_.words));
    return finish();
  }

 private:
  void expect_numbers(int64_t numbers) {
    require(numbers >= 1 && numbers <= kMostNumbers, ErrorKind::BadData, lines_.place(), ": found ",
            numbers, " numbers behind a word; expected 1 to ", format_count(kMostNumbers),
            ", as word2vec, fastText and GloVe write them");
    numbers_ = numbers;
  }

  /// Room for the vectors, once a line has as many numbers as the first one says.
  void begin() {
    result_.vectors = at::zeros({vocabulary_.size(), numbers_}, at::kFloat);
    result_.known = at::zeros({vocabulary_.size()}, at::kBool);
  }

  void take(std::string_view line) {
    const std::string_view word = word_of(line, numbers_);
    require(!word.empty(), ErrorKind::BadData, lines_.place(), ": has ", count_fields(line),
            " fields; expected a word and ", numbers_, " numbers");
    if (!result_.vectors.defined()) begin();
    const int64_t id = vocabulary_.id(word);
    bool* known = result_.known.data_ptr<bool>();
    if (Vocabulary::is_special(id) || known[id]) return;
    read_numbers(line, numbers_, lines_.place(), result_.vectors.data_ptr<float>() + id * numbers_);
    known[id] = true;
    ++result_.found;
  }

  WordVectors finish() {
    const int64_t all = vocabulary_.size() - Vocabulary::kSpecial;
    require(result_.found > 0, ErrorKind::BadData, path_, ": none of its ", format_count(words_),
            " words is among the ", format_count(all),
            " of the training texts; are they of this language, and in the same case "
            "(data.lowercase, where the task has it)?");
    result_.note = concat("word vectors: ", format_count(result_.found), " of ", format_count(all),
                          " words found, ", format_count(all - result_.found), " missing; ",
                          numbers_, " numbers each");
    return std::move(result_);
  }

  std::string path_;
  LineStream lines_;
  const Vocabulary& vocabulary_;
  Header header_;
  int64_t numbers_ = 0, words_ = 0;
  WordVectors result_;
};

}  // namespace

WordVectors read_word_vectors(const std::filesystem::path& path, const Vocabulary& vocabulary) {
  return WordVectorsReader(path, vocabulary).read();
}

WordVectors read_first_vectors(const std::filesystem::path& path, const Vocabulary& vocabulary,
                               EmbeddingSize embedding, std::vector<std::string>& notes) {
  WordVectors vectors = read_word_vectors(path, vocabulary);
  notes.push_back(vectors.note);
  const int64_t size = vectors.size();
  if (embedding.now == size) return vectors;
  require(embedding.now == embedding.usual, ErrorKind::InvalidArgument, path.string(),
          ": its words have ", size, " numbers, but model.embedding=", embedding.now,
          "; leave that out");
  embedding.now = size;
  notes.push_back(concat("model.embedding is ", size, ", as the vectors have it"));
  return vectors;
}

}  // namespace fovea
