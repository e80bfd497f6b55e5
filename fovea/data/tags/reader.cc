#include "fovea/data/tags/reader.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/formats/text_lines.h"

namespace fovea {

namespace {

bool is_entity_tag(std::string_view tag) {
  return tag == "O" || (tag.size() > 2 && tag[1] == '-' &&
                        std::string_view("BIELSU").find(tag[0]) != std::string_view::npos);
}

[[noreturn]] void refuse_tag(const std::string& place, const std::string& tag) {
  fail(ErrorKind::BadData, place, ": the tag '", tag,
       "' is neither O nor one of B-, I-, E-, S-, L-, U- with a type behind it, as in B-person; ",
       "say which column holds the tags (--columns tag=2), or set scheme=plain for other tags");
}

std::vector<std::string> split_at_blanks(std::string_view line) {
  std::vector<std::string> cells;
  for (size_t at = line.find_first_not_of(" \t"); at < line.size();) {
    const size_t end = std::min(line.find_first_of(" \t", at), line.size());
    cells.emplace_back(line.substr(at, end - at));
    at = std::min(line.find_first_not_of(" \t", end), line.size());
  }
  return cells;
}

/// Number of a column from 1, as the role says; 0 when it says nothing.
size_t role_number(const Roles& roles, const std::string& role) {
  const std::string text = single_role(roles, role, "");
  if (text.empty()) return 0;
  int64_t number = 0;
  require(parse_integer(text, number) && number >= 1, ErrorKind::InvalidArgument, "the role '",
          role, "' is '", text, "'; expected the number of a column, from 1, as in ", role, "=1");
  return size_t(number);
}

class TaggedTextReader {
 public:
  TaggedTextReader(const std::filesystem::path& path, const TaggedTextOptions& options,
                   const RowSink<TaggedSentence>& sink)
      : lines_(path, options.max_bytes),
        plain_(options.scheme == "plain"),
        separator_(options.separator),
        token_(role_number(options.roles, "token")),
        tag_(role_number(options.roles, "tag")),
        result_{sink} {
    const auto one_of = [](const char* name, const std::string& value,
                           const std::vector<std::string>& choices) {
      require(std::find(choices.begin(), choices.end(), value) != choices.end(),
              ErrorKind::InvalidArgument, name, " is '", value, "'; expected ", join(choices));
    };
    one_of("separator", separator_, {"auto", "tab", "blanks"});
    one_of("scheme", options.scheme, {"entities", "plain"});
  }

  FileRows<TaggedSentence> read() {
    for (std::string_view line; lines_.next(line);) {
      if (trim(line).empty()) {
        end_sentence();
      } else if (!line.starts_with("-DOCSTART-")) {
        take(line);
      } else {
        end_sentence();
      }
    }
    end_sentence();
    result_.hash = lines_.hash();
    require(result_.count > 0, ErrorKind::BadData, lines_.path(), ": holds no sentence");
    if (changed_ > 0)
      result_.notes.push_back(concat(lines_.path(), ": ", format_count(changed_),
                                     " tags were rewritten as IOB2 (B- begins every entity)"));
    return std::move(result_);
  }

 private:
  void take(std::string_view line) {
    if (separator_ == "auto" && !is_comment(line))
      separator_ = line.find('\t') != std::string_view::npos ? "tab" : "blanks";
    if (is_comment(line)) return;
    std::vector<std::string> cells = cells_of(line);
    if (columns_ == 0) {
      refuse_other_formats(line);
      choose_columns(cells.size());
    }
    require(cells.size() == columns_, ErrorKind::BadData, lines_.place(), ": has ", cells.size(),
            " columns, the lines before it have ", columns_, " (separated by ",
            separator_ == "tab" ? "tabs" : "blanks", ")");
    std::string &word = cells[token_ - 1], &tag = cells[tag_ - 1];
    require(!trim(word).empty(), ErrorKind::BadData, lines_.place(), ": the token in column ",
            token_, " is empty");
    tag = trim(tag);
    if (plain_)
      require(!tag.empty(), ErrorKind::BadData, lines_.place(), ": the tag in column ", tag_,
              " is empty");
    else if (!is_entity_tag(tag))
      refuse_tag(lines_.place(), tag);
    if (may_count_) {  // CoNLL-U: the first column counts the tokens
      may_count_ = cells[0] == std::to_string(sentence_.words.size() + 1);
      second_.push_back(cells[1]);
    }
    sentence_.words.push_back(std::move(word));
    sentence_.tags.push_back(std::move(tag));
  }

  void refuse_other_formats(std::string_view line) const {
    const std::string expected =
        ": expected a token and its tag on each line, parted by a tab or blanks, and a blank line "
        "behind each sentence";
    const bool json = line.starts_with("{\"") || line.starts_with("[{\"");
    require(!json || line.find("\":") == std::string_view::npos, ErrorKind::BadData, lines_.place(),
            ": JSON", expected,
            " (jq -r '[.tokens, .tags] | transpose[] | @tsv' writes one sentence so, where the "
            "keys are tokens and tags)");
    const auto commas = std::count(line.begin(), line.end(), ',');
    require(lines_.path().find(".csv") == std::string::npos || commas == 0 || separator_ == "tab",
            ErrorKind::BadData, lines_.place(), ": a table with commas", expected);
  }

  std::vector<std::string> cells_of(std::string_view line) const {
    return separator_ == "tab" ? split(line, '\t') : split_at_blanks(line);
  }

  /// A '#' may well be a token, so a line is a comment only where a sentence may begin and where
  /// it cannot be read as token and tag. Plain tags can be anything: then "# " decides.
  bool is_comment(std::string_view line) const {
    if (!line.starts_with('#') || !sentence_.words.empty()) return false;
    const std::vector<std::string> cells =
        separator_ == "auto" && line.find('\t') != std::string_view::npos ? split(line, '\t')
                                                                          : cells_of(line);
    if (cells.size() < 2 || (columns_ > 0 && cells.size() != columns_)) return true;
    if (plain_) return line.starts_with("# ") && line.find('\t') == std::string_view::npos;
    const size_t tag = tag_ > 0 ? tag_ : cells.size();
    return tag > cells.size() || !is_entity_tag(trim(cells[tag - 1]));
  }

  void choose_columns(size_t columns) {
    require(columns >= 2, ErrorKind::BadData, lines_.place(),
            ": has one column; a token and its tag are expected, separated by ",
            separator_ == "tab" ? "a tab" : "blanks or a tab");
    may_count_ = token_ == 0 && columns > 2;
    if (token_ == 0) token_ = 1;
    if (tag_ == 0) tag_ = columns;
    for (const auto& [role, number] : {std::pair("token", token_), std::pair("tag", tag_)})
      require(number <= columns, ErrorKind::NotFound, lines_.place(), ": there is no column ",
              number, " for the role '", role, "'; the line has 1 to ", columns);
    require(token_ != tag_, ErrorKind::InvalidArgument, "token and tag are both column ", token_);
    columns_ = columns;
  }

  void end_sentence() {
    if (sentence_.words.empty()) return;
    if (std::exchange(may_count_, false) && sentence_.words.size() > 1) {
      sentence_.words = std::exchange(second_, {});
      token_ = 2;
      require(tag_ != token_, ErrorKind::InvalidArgument, "token and tag are both column 2");
      result_.notes.push_back(concat(lines_.path(),
                                     ": column 1 counts the tokens, so the token is column 2 "
                                     "(--columns token=1 reads column 1)"));
    }
    if (!plain_) changed_ += normalise_tags(sentence_.tags);
    result_.add(std::exchange(sentence_, {}));
  }

  TextLines lines_;
  bool plain_;
  std::string separator_;
  size_t token_, tag_, columns_ = 0;  // from 1; 0: not known yet
  bool may_count_ = false;            // whether column 1 counts the tokens of the first sentence
  std::vector<std::string> second_;   // column 2 of them
  TaggedSentence sentence_;
  FileRows<TaggedSentence> result_;
  int64_t changed_ = 0;
};

}  // namespace

int64_t normalise_tags(std::vector<std::string>& tags) {
  int64_t changed = 0;
  std::string open;  // type of the entity that may go on, or ""
  for (size_t i = 0; i < tags.size(); ++i) {
    std::string& tag = tags[i];
    if (!is_entity_tag(tag)) refuse_tag(concat("tag ", i + 1), tag);
    if (tag == "O") {
      open.clear();
      continue;
    }
    const char mark = tag[0];
    const std::string type = tag.substr(2);
    const bool begins = mark == 'B' || mark == 'S' || mark == 'U' || type != open;
    const bool ends = mark == 'E' || mark == 'L' || mark == 'S' || mark == 'U';
    const char wanted = begins ? 'B' : 'I';
    changed += tag[0] != wanted;
    tag[0] = wanted;
    open = ends ? "" : type;
  }
  return changed;
}

std::string format_tagged_text(std::span<const TaggedSentence> sentences) {
  std::string text;
  for (const TaggedSentence& sentence : sentences) {
    require(sentence.words.size() == sentence.tags.size(), ErrorKind::InvalidArgument,
            "a sentence has ", sentence.words.size(), " words but ", sentence.tags.size(), " tags");
    for (size_t i = 0; i < sentence.words.size(); ++i) {
      for (const std::string& cell : {sentence.words[i], sentence.tags[i]})
        require(!trim(cell).empty() && cell.find_first_of("\t\r\n") == std::string::npos,
                ErrorKind::InvalidArgument, "'", cell,
                "' cannot stand in a TSV: it is empty, or holds a tab or a line end");
      text += sentence.words[i] + "\t" + sentence.tags[i] + "\n";
    }
    text += "\n";
  }
  return text;
}

FileRows<TaggedSentence> read_tagged_text(const std::filesystem::path& path,
                                          const TaggedTextOptions& options,
                                          const RowSink<TaggedSentence>& sink) {
  return TaggedTextReader(path, options, sink).read();
}

SplitRows<TaggedSentence> open_tagged_text(const DataSource& source, const SplitOptions& split,
                                           TaggedTextOptions options) {
  check_roles(source, {"token", "tag"});
  options.roles = source.roles;
  return read_splits<TaggedSentence>(
      source, split,
      {{".tsv", ".tab", ".conll", ".txt", ".iob", ".iob2", ".bio"},
       [options](const std::filesystem::path& path, const RowSink<TaggedSentence>& sink) {
         return read_tagged_text(path, options, sink);
       },
       "sentences"});
}

}  // namespace fovea
