#include <chrono>
#include <iostream>

#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/data/formats/line_stream.h"
#include "fovea/data/tokenisers/hugging_face/files.h"
#include "fovea/data/tokenisers/hugging_face/train.h"

namespace fovea::cli {

namespace {

struct TokeniseFlags {
  std::vector<std::string> paths;  // the tokeniser and a file of texts; with --train the files
  std::vector<std::string> texts;
  std::optional<std::string> pair, train, decode, out;
  std::optional<int64_t> size, minimum_count;
  bool no_special_tokens = false, whole = false, cased = false, count = false, json = false;
};

Json offsets_json(const std::vector<Offsets>& offsets) {
  Json list = Json::array();
  for (const Offsets& each : offsets) list.push_back(Json::array({each.begin, each.end}));
  return list;
}

/// Columns under the names that Hugging Face gives them.
Json encoding_json(const Encoding& encoding) {
  Json words = Json::array();
  for (const int64_t word : encoding.word_ids) words.push_back(word < 0 ? Json() : Json(word));
  const auto mask = [](const std::vector<bool>& marks) {
    return std::vector<int>(marks.begin(), marks.end());
  };
  Json json{{"ids", encoding.ids},
            {"tokens", encoding.tokens},
            {"offsets", offsets_json(encoding.offsets)},
            {"bytes", offsets_json(encoding.bytes)},
            {"type_ids", encoding.type_ids},
            {"word_ids", std::move(words)},
            {"special_tokens_mask", mask(encoding.special)},
            {"attention_mask", mask(encoding.attention)}};
  if (encoding.overflowing.empty()) return json;
  json["overflowing"] = Json::array();
  for (const Encoding& each : encoding.overflowing)
    json["overflowing"].push_back(encoding_json(each));
  return json;
}

std::string encoding_table(const Encoding& encoding) {
  TextTable table({"token", "id", "characters", "type", "word", "special"});
  for (size_t i = 0; i < encoding.size(); ++i) {
    const Offsets& offsets = encoding.offsets[i];
    const int64_t word = encoding.word_ids[i];
    table.add({printable(encoding.tokens[i]), std::to_string(encoding.ids[i]),
               concat(offsets.begin, "-", offsets.end), std::to_string(encoding.type_ids[i]),
               word < 0 ? "" : std::to_string(word), encoding.special[i] ? "yes" : ""});
  }
  return table.plain();
}

void show(const HuggingFaceTokeniser& tokeniser, std::string_view text,
          const TokeniseFlags& flags) {
  const auto pair = flags.pair ? std::optional<std::string_view>(*flags.pair) : std::nullopt;
  const Encoding encoding = tokeniser.encode(text, pair, !flags.no_special_tokens);
  if (flags.json)
    std::cout << encoding_json(encoding).dump(-1, ' ', false, Json::error_handler_t::replace)
              << "\n";
  else
    std::cout << encoding_table(encoding);
  if (!encoding.overflowing.empty() && !flags.json)
    tell(concat("truncated: ", encoding.overflowing.size(),
                " more windows; --json shows all of them"));
}

/// What --count says of all texts together.
struct TokenCount {
  int64_t texts = 0, bytes = 0, characters = 0, tokens = 0;
  double seconds = 0;

  void add(const HuggingFaceTokeniser& tokeniser, std::string_view text, bool special_tokens) {
    const auto start = std::chrono::steady_clock::now();
    tokens += int64_t(tokeniser.encode(text, {}, special_tokens).size());
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ++texts;
    bytes += int64_t(text.size());
    characters += count_code_points(text);
  }

  void print(bool json) const {
    if (json) {
      std::cout << Json{{"texts", texts}, {"characters", characters}, {"tokens", tokens}}.dump()
                << "\n";
    } else {
      TextTable table({"texts", "characters", "tokens", "characters a token"});
      table.add({format_count(texts), format_count(characters), format_count(tokens),
                 format_number(tokens > 0 ? double(characters) / double(tokens) : 0, 3)});
      std::cout << table.plain();
    }
    if (seconds > 0) tell(concat(format_number(double(bytes) / 1e6 / seconds, 3), " MB/s"));
  }
};

/// "101 7592" or "101,7592".
std::vector<int64_t> read_ids(const std::string& text) {
  std::vector<int64_t> ids;
  std::string spaced = text;
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  for (const std::string& word : split(spaced, ' ')) {
    if (trim(word).empty()) continue;
    int64_t id = 0;
    require(parse_integer(trim(word), id), ErrorKind::InvalidArgument, "--decode: found '", word,
            "', expected ids such as \"101 7592 102\"");
    ids.push_back(id);
  }
  return ids;
}

void train_and_write(const TokeniseFlags& flags) {
  require(!flags.paths.empty() && flags.out, ErrorKind::InvalidArgument,
          "--train needs files of texts, one a line, and --out FOLDER");
  TokeniserTraining training;
  OptionList options;
  training.describe(options);
  options.set("model", *flags.train);
  if (flags.size) options.set("size", std::to_string(*flags.size));
  if (flags.minimum_count) options.set("minimum_count", std::to_string(*flags.minimum_count));
  training.lowercase = !flags.cased;
  std::vector<std::string> texts;
  for (const std::string& path : flags.paths) {
    LineStream lines(path);
    for (std::string_view line; lines.next(line);)
      if (!trim(line).empty()) texts.emplace_back(line);
  }
  const HuggingFaceTokeniser tokeniser = train_tokeniser(training, texts);
  write_tokeniser_folder(*flags.out, tokeniser);
  tell(concat(tokeniser.model_type(), " of ", format_count(tokeniser.size()), " tokens from ",
              format_count(int64_t(texts.size())), " texts"));
  put_line(*flags.out);
}

void run_tokenise(const TokeniseFlags& flags) {
  if (flags.train) return train_and_write(flags);
  require(!flags.out && !flags.size && !flags.minimum_count && !flags.cased,
          ErrorKind::InvalidArgument,
          "--out, --size, --minimum-count and --cased belong to --train bpe, wordpiece or unigram");
  require(!flags.paths.empty(), ErrorKind::InvalidArgument,
          "which tokeniser? Give a tokenizer.json or the folder that it lies in");
  require(flags.paths.size() <= 2, ErrorKind::InvalidArgument, "found ", flags.paths.size(),
          " paths; expected a tokeniser and one file of texts");
  HuggingFaceTokeniser tokeniser = HuggingFaceTokeniser::load(flags.paths[0]);
  if (flags.whole) {
    tokeniser.set_truncation(nullptr);
    tokeniser.set_padding(nullptr);
  }
  if (flags.decode)
    return put_line(tokeniser.decode(read_ids(*flags.decode), flags.no_special_tokens));
  const bool has_file = flags.paths.size() == 2;
  require(has_file != !flags.texts.empty(), ErrorKind::InvalidArgument,
          "expected either --text TEXT or a file with a text a line (- is standard input)");
  require(!(flags.count && flags.pair), ErrorKind::InvalidArgument,
          "--count counts single texts; leave --pair out");
  bool first = true;
  TokenCount count;
  const auto show_next = [&](std::string_view text) {
    if (flags.count) return count.add(tokeniser, text, !flags.no_special_tokens);
    if (!first && !flags.json) std::cout << "\n";
    first = false;
    show(tokeniser, text, flags);
  };
  for (const std::string& text : flags.texts) show_next(text);
  const std::string content = has_file ? read_content(flags.paths[1]) : "";
  for (std::string_view rest = content; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    show_next(line);
  }
  if (flags.count) count.print(flags.json);
}

}  // namespace

void add_tokenise(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "tokenise", "what a tokenizer.json makes of texts; or learns one from your texts");
  auto flags = std::make_shared<TokeniseFlags>();
  command->add_option(
      "paths", flags->paths,
      "a tokenizer.json, or a Hugging Face folder; then a file with a text a line (- "
      "is standard input). With --train: files to learn from");
  command->add_option("--text", flags->texts, "a text in place of a file; may stand several times")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--pair", flags->pair, "the second text of a pair");
  command->add_option("--decode", flags->decode, "ids to turn back into a text: \"101 7592 102\"");
  command->add_flag("--no-special-tokens", flags->no_special_tokens,
                    "nothing around the texts; with --decode: special tokens are left out");
  command->add_flag("--whole", flags->whole,
                    "neither truncated nor padded, whatever the file says");
  command->add_flag("--count", flags->count, "only how many tokens the texts have, and how fast");
  command->add_flag("--json", flags->json, "one JSON object a text");
  command->add_option("--train", flags->train, "learn a tokeniser: bpe, wordpiece or unigram");
  command->add_option("--size", flags->size, "most tokens to learn (default 30000)");
  command->add_option("--minimum-count", flags->minimum_count,
                      "bpe, wordpiece: a pair seen less often is never merged (default 2)");
  command->add_flag("--cased", flags->cased, "wordpiece: upper case is not made lower case");
  command->add_option("--out", flags->out, "folder for the tokenizer.json that was learned");
  command->footer(
      "Examples:\n"
      "  fovea data pretrain --out data/stories && fovea tokenise --train wordpiece "
      "data/stories/train.txt "
      "--size 300 --out runs/pieces\n"
      "  fovea tokenise runs/pieces --text \"A cat sat on the mat.\"\n"
      "  fovea tokenise runs/pieces --text \"Who sat?\" --pair \"A cat sat.\" --json");
  command->callback([flags] { run_tokenise(*flags); });
}

}  // namespace fovea::cli
