#include "fovea/data/language/load.h"

#include <algorithm>
#include <set>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/data/documents/reader.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/tokenisers/hugging_face/files.h"
#include "fovea/data/tokenisers/hugging_face/train.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

using Texts = SplitRows<std::string>;

constexpr const char *kUnknownToken = "<unk>", *kEndOfText = "<|endoftext|>";
constexpr int64_t kMostBytes = int64_t{4} << 30;           // of one file, unpacked
constexpr int64_t kBytesOfCharacters = int64_t{10} << 20;  // of more, pieces are learned
constexpr size_t kBytesToLearnFrom = size_t{64} << 20;     // of pieces
constexpr size_t kChunkBytes = 1 << 16;                    // that are encoded at once
constexpr size_t kChunksTogether = 64;                     // side by side
constexpr int64_t kUsualWindow = 512, kLeastTokens = 32;   // of the training text
const std::vector<std::string> kTextEndings{".txt", ".text", ".md"};

/// A plain text of valid UTF-8, with LF at the end of its lines.
FileRows<std::string> read_plain(const fs::path& path, const RowSink<std::string>& sink) {
  FileBytes file = read_text(path, kMostBytes);
  std::string& text = file.content;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  const size_t valid = valid_utf8_prefix(text);
  require(valid == text.size(), ErrorKind::BadData, path.string(), ":",
          1 + std::count(text.begin(), text.begin() + ptrdiff_t(valid), '\n'),
          ": not valid UTF-8 at byte ", valid, " of the file");
  if (text.find("\r\n") != std::string::npos) {
    size_t to = 0;
    for (size_t at = 0; at < text.size(); ++at)
      if (text[at] != '\r' || at + 1 == text.size() || text[at + 1] != '\n') text[to++] = text[at];
    text.resize(to);
  }
  require(!trim(text).empty(), ErrorKind::BadData, path.string(), ": holds no text");
  FileRows<std::string> rows{sink};
  rows.hash = file.hash;
  rows.add(std::move(text));
  return rows;
}

/// The text column of a table.
FileRows<std::string> read_column(const fs::path& path, const Roles& roles,
                                  const RowSink<std::string>& sink) {
  LabelledTextOptions options;
  options.roles = roles;
  options.needs_label = false;
  FileRows<std::string> texts{sink};
  FileRows<LabelledText> table =
      read_labelled_text(path, options, [&](LabelledText&& row, std::optional<Split> split) {
        texts.add(std::move(row.text), split);
      });
  texts.hash = table.hash;
  texts.notes = std::move(table.notes);
  return texts;
}

bool is_text_file(const fs::path& path) {
  return std::ranges::count(kTextEndings, plain_ending(path)) > 0;
}

/// Every text file below the folder, in the order of their names.
Texts read_folder(const DataSource& source) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(source.path))
    if (entry.is_regular_file() && is_text_file(entry.path())) files.push_back(entry.path());
  std::ranges::sort(files);
  require(!files.empty(), ErrorKind::NotFound, source.path.string(),
          ": the folder has no text files (", join(kTextEndings), ", each perhaps with .gz)");
  Texts texts;
  ContentHash hash;
  const auto walk = [files](const Rows<std::string>::Take& take) {
    for (const fs::path& file : files)
      read_plain(file, [&](std::string&& text, std::optional<Split>) { take(std::move(text)); });
  };
  for (const fs::path& file : files)
    hash.add(concat(read_plain(file, [](std::string&&, std::optional<Split>) {}).hash, "\n"));
  Rows<std::string>& rows = texts[source.whole ? kTest : kTrain];
  rows = {int64_t(files.size()), walk};
  if (holds_at_most(source.path, source.kept_bytes)) rows.keep();
  texts.hash = hash.text();
  texts.notes.push_back(concat(format_count(int64_t(files.size())), " texts"));
  return texts;
}

Texts read_texts(const DataSource& source, bool needs_training) {
  check_roles(source, {"text"});
  require(fs::exists(source.path), ErrorKind::NotFound, source.path.string(),
          ": no such file or folder");
  std::vector<std::string> endings = kTextEndings;
  for (const char* table : {".csv", ".tsv", ".tab", ".jsonl", ".ndjson"}) endings.push_back(table);
  if (fs::is_directory(source.path)) {
    const SplitFiles files = find_split_files(source.path, endings);
    if (std::ranges::none_of(files, [](const auto& file) { return file.has_value(); }))
      return read_folder(source);
  }
  const auto read = [roles = source.roles](const fs::path& path, const RowSink<std::string>& sink) {
    if (is_labelled_text(path)) return read_column(path, roles, sink);
    require(roles.empty(), ErrorKind::InvalidArgument, path.string(),
            ": is plain text and has no columns; leave the roles out");
    return read_plain(path, sink);
  };
  return read_splits<std::string>(source, {"language", 0, 0, needs_training},
                                  {endings, read, "texts"});
}

size_t count_bytes(const Rows<std::string>& texts) {
  size_t bytes = 0;
  texts.for_each([&](const std::string& text) { bytes += text.size(); });
  return bytes;
}

/// The last of the training text becomes the validation text.
void hold_out_end(Texts& texts, double fraction) {
  if (fraction == 0 || !texts.validation.empty() || texts.train.empty()) return;
  const size_t total = count_bytes(texts.train);
  auto left = size_t((1 - fraction) * double(total));
  int64_t whole = 0;  // texts that are all for training; of the next one the first `left` bytes are
  bool found = false;
  texts.train.for_each([&](const std::string& text) {
    if (found) return;
    found = left < text.size();
    while (found && left > 0 && (static_cast<unsigned char>(text[left]) & 0xC0) == 0x80) --left;
    if (!found) left -= text.size(), ++whole;
  });
  if (found) {
    const int64_t count = texts.train.size();
    const auto all = std::make_shared<const Rows<std::string>>(std::move(texts.train));
    const auto half = [&](bool train) {
      return [all, whole, left, train](const Rows<std::string>::Take& take) {
        int64_t number = 0;
        all->for_each([&](const std::string& text) {
          const int64_t own = number++;
          if (own == whole && (!train || left > 0))
            take(train ? text.substr(0, left) : text.substr(left));
          else if (own != whole && (own < whole) == train)
            take(std::string(text));
        });
      };
    };
    texts.train = {left > 0 ? whole + 1 : whole, half(true)};
    texts.validation = {count - whole, half(false)};
  }
  texts.notes.push_back(
      concat("validation: the last ", format_number(100 * fraction, 3), " % of the text"));
}

/// Where a text may be cut: before a line end that follows a letter or digit, so that no rule for
/// words sees the cut; else before any line end, else between two characters.
size_t chunk_end(std::string_view text, size_t begin) {
  const size_t end = begin + kChunkBytes;
  if (end >= text.size()) return text.size();
  size_t any = 0;
  for (size_t at = end; at > begin + kChunkBytes / 2; --at) {
    if (text[at] != '\n') continue;
    if (std::isalnum(static_cast<unsigned char>(text[at - 1]))) return at;
    if (any == 0) any = at;
  }
  if (any > 0) return any;
  size_t at = end;
  while (at > begin + 1 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

std::vector<std::string_view> to_chunks(std::string_view text) {
  std::vector<std::string_view> chunks;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = chunk_end(text, begin);
    chunks.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return chunks;
}

HuggingFaceTokeniser learn_pieces(const Rows<std::string>& texts, int64_t size, size_t bytes) {
  std::vector<std::string> chunks;
  size_t taken = 0;
  texts.for_each([&](const std::string& text) {
    if (taken >= kBytesToLearnFrom) return;
    for (const std::string_view chunk : to_chunks(text)) {
      if (taken >= kBytesToLearnFrom) break;
      taken += chunk.size();
      chunks.emplace_back(chunk);
    }
  });
  TokeniserTraining training;
  training.model = "bpe";
  training.size = size > 0 ? size : std::clamp<int64_t>(int64_t(bytes / 200), 512, 32000);
  return train_tokeniser(training, chunks);
}

HuggingFaceTokeniser choose_tokeniser(const Rows<std::string>& texts,
                                      const LanguageDataOptions& options, Notes& notes) {
  const std::vector<std::string> known{"auto", "characters", "bpe"};
  const std::string& name = options.tokeniser;
  if (std::ranges::count(known, name) == 0) {
    require(fs::exists(name), ErrorKind::NotFound, "data.tokeniser=", name,
            ": there is no such tokeniser and no such file", suggestion(name, known), "; expected ",
            join(known), ", or a tokenizer.json or a folder with one");
    return load_whole_tokeniser(name);
  }
  const size_t bytes = count_bytes(texts);
  const bool characters =
      name == "characters" || (name == "auto" && int64_t(bytes) <= kBytesOfCharacters);
  HuggingFaceTokeniser tokeniser =
      characters ? character_tokeniser(texts) : learn_pieces(texts, options.vocabulary_size, bytes);
  notes.push_back(concat("tokens: ", format_count(tokeniser.size()),
                         characters ? " different characters" : " pieces of byte-level BPE",
                         ", learned from the training text"));
  return tokeniser;
}

int64_t choose_window(const LanguageDataOptions& options, int64_t longest, int64_t tokens,
                      const std::string& place, Notes& notes) {
  require(options.window <= longest, ErrorKind::InvalidArgument, "data.window=", options.window,
          " is more than the ", longest, " positions of the network (model.maximum_length)");
  require(tokens >= kLeastTokens, ErrorKind::BadData, place, ": has ", tokens,
          " tokens to train on; at least ", kLeastTokens, " are needed");
  if (options.window > 0) {
    require(options.window < tokens, ErrorKind::BadData, place, ": has ", tokens,
            " tokens to train on, no more than a window of data.window=", options.window,
            "; set it lower");
    return options.window;
  }
  const int64_t wanted = std::min(longest, kUsualWindow), fitting = tokens / 4;
  if (fitting >= wanted) return wanted;
  notes.push_back(concat("windows of ", fitting, " tokens in place of ", wanted,
                         ": there are only ", format_count(tokens), " to train on"));
  return fitting;
}

}  // namespace

void LanguageDataOptions::describe(OptionList& list) {
  generator.describe(list);
  list.add("tokeniser", tokeniser,
           "what a text is cut into: characters, bpe (byte-level, learned from the training text), "
           "or a tokenizer.json or a folder with one; auto: characters up to 10 MiB of text, else "
           "bpe");
  list.add("vocabulary_size", vocabulary_size,
           "bpe: most tokens; 0: one for each 200 bytes, from 512 to 32,000")
      .at_least(0);
  list.add("window", window,
           "tokens of a row, while training and while measuring; 0: model.maximum_length and at "
           "most 512, less where the text is small")
      .at_least(0);
  describe_share(list, "validation_fraction", validation_fraction,
                 "share of the text, its end, that is held out for validation where there is no "
                 "validation text");
  list.add("scratch", scratch,
           "folder for the tokens of the text, in a file without a name; empty: the system's");
}

int64_t LanguageCoding::end() const {
  for (const char* name : {kEndOfText, "<|end_of_text|>", "</s>"})
    if (const int64_t id = tokeniser->id(name); id >= 0 && tokeniser->is_special(id)) return id;
  return -1;
}

HuggingFaceTokeniser load_whole_tokeniser(const fs::path& path) {
  HuggingFaceTokeniser tokeniser = HuggingFaceTokeniser::load(path);
  tokeniser.set_truncation(nullptr);
  tokeniser.set_padding(nullptr);
  return tokeniser;
}

HuggingFaceTokeniser character_tokeniser(const Rows<std::string>& texts) {
  std::set<char32_t> found;
  texts.for_each([&](const std::string& text) {
    for (size_t at = 0; at < text.size();) found.insert(next_code_point(text, at));
  });
  Json vocabulary = Json::object(), added = Json::array();
  for (const char* special : {kUnknownToken, kEndOfText}) {
    const auto id = int64_t(vocabulary.size());
    added.push_back(hugging_face::special_token_json(id, special));
    vocabulary[special] = id;
  }
  for (const char32_t code : found) {
    std::string character;
    append_code_point(code, character);
    const auto id = int64_t(vocabulary.size());
    vocabulary[character] = id;
  }
  const Json each{{"type", "Split"},
                  {"pattern", {{"Regex", "[\\s\\S]"}}},
                  {"behavior", "Isolated"},
                  {"invert", false}};
  return HuggingFaceTokeniser::from_json(
      {{"version", "1.0"},
       {"truncation", nullptr},
       {"padding", nullptr},
       {"added_tokens", added},
       {"normalizer", nullptr},
       {"pre_tokenizer", each},
       {"post_processor", nullptr},
       {"decoder", {{"type", "Fuse"}}},
       {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", kUnknownToken}}}},
      "the characters of the text");
}

EncodedText encode_texts(const HuggingFaceTokeniser& tokeniser, Rows<std::string> texts,
                         int64_t end, const fs::path& scratch) {
  auto tokens = std::make_shared<ScratchArray<int32_t>>(scratch);
  EncodedText encoded;
  const int64_t unknown = tokeniser.id(kUnknownToken);
  bool is_first = true;
  texts.take_each([&](std::string&& text) {
    if (!std::exchange(is_first, false) && end >= 0) tokens->push_back(int32_t(end));
    encoded.bytes += double(text.size());
    encoded.characters += double(count_code_points(text));
    const std::vector<std::string_view> chunks = to_chunks(text);
    for (size_t begin = 0; begin < chunks.size(); begin += kChunksTogether) {
      const size_t count = std::min(kChunksTogether, chunks.size() - begin);
      std::vector<std::vector<int64_t>> ids(count);
      run_parallel(int64_t(count), [&](int64_t chunk) {
        ids[size_t(chunk)] =
            tokeniser.encode(chunks[begin + size_t(chunk)], {}, /*add_special_tokens=*/false).ids;
      });
      for (const std::vector<int64_t>& some : ids)
        for (const int64_t id : some) {
          tokens->push_back(int32_t(id));
          encoded.unknown += id == unknown;
        }
    }
  });
  tokens->finish();
  encoded.tokens = std::move(tokens);
  return encoded;
}

Splits load_language(const DataSource& source, const LanguageDataOptions& options, int64_t longest,
                     LanguageCoding& coding) {
  if (source.path.empty()) check_roles(source, {});
  Texts texts =
      source.path.empty() ? draw_recall(options.generator) : read_texts(source, !coding.tokeniser);
  if (source.path.empty())
    texts.hash = hash_of_built_in("language", options_json(options.generator));
  if (!source.path.empty() && !source.whole) hold_out_end(texts, options.validation_fraction);
  const auto fit = [&](const Texts& rows, Notes& notes) {
    if (!coding.tokeniser)
      coding.tokeniser = std::make_shared<const HuggingFaceTokeniser>(
          choose_tokeniser(rows.train, options, notes));
  };
  return encode_splits(
      texts, fit,
      [&](Rows<std::string> rows, Split split, Notes& notes) -> std::shared_ptr<Dataset> {
        const std::string place = place_of(source, split, "synthetic text");
        EncodedText text =
            encode_texts(*coding.tokeniser, std::move(rows), coding.end(), options.scratch);
        const int64_t tokens = text.tokens->size();
        if (coding.window == 0 && split == kTrain)
          coding.window = choose_window(options, longest, tokens, place, notes);
        if (coding.window == 0)  // a network from elsewhere, that is only measured
          coding.window = std::min(longest, options.window > 0 ? options.window : kUsualWindow);
        notes.push_back(concat(kSplitNames[split], ": ", format_count(tokens), " tokens"));
        if (text.unknown > 0)
          notes.push_back(
              concat(place, ": ", format_count(text.unknown), " tokens are not in the vocabulary"));
        if (tokens < 2 && split == kValidation) return nullptr;
        require(tokens > 1, ErrorKind::BadData, place,
                ": holds one token; at least 2 are needed to predict one");
        return std::make_shared<TextDataset>(std::move(text), coding.tokeniser, coding.window);
      });
}

void write_language_data(const fs::path& folder, const SyntheticTextOptions& options) {
  write_splits(folder, draw_recall(options), ".txt",
               [](const std::vector<std::string>& texts) { return join(texts, ""); });
  write_description(folder, "language", options_json(options));
}

}  // namespace fovea
