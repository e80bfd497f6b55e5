#include "fovea/data/questions/reader.h"

#include <algorithm>
#include <optional>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/base/names.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/formats/json_rows.h"
#include "fovea/data/formats/text_encoding.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kMostQuestionBytes = int64_t{4} << 30;  // unpacked
constexpr int64_t kMostCodePoints = int64_t{1} << 31;
constexpr size_t kShownOfAnswer = 100;
constexpr const char* kExample =
    "{\"question\": \"…\", \"text\": \"…\", \"answers\": [{\"text\": \"…\", \"start\": 0}]}";

/// BadData unless the answer stands where it says.
void check_answer(const RightAnswer& answer, const std::string& text, const std::string& place) {
  const Span span{answer.start, answer.start + count_code_points(answer.text)};
  const std::string there = cut_code_points(text, span);
  require(!answer.text.empty() && there == answer.text, ErrorKind::BadData, place, ": the answer '",
          shorten_bytes(answer.text, kShownOfAnswer), "' is to stand at code point ", answer.start,
          " of the text, but there is '", shorten_bytes(there, kShownOfAnswer), "'");
}

int64_t start_of(const SortedField& answer) {
  const char* key = answer.find("answer_start") ? "answer_start" : "start";
  return answer.at(key).integer(0, kMostCodePoints);
}

/// A list of {"text", "start"}, or {"text": […], "answer_start": […]}.
std::vector<RightAnswer> answers_of(const SortedField& answers, const std::string& text) {
  std::vector<RightAnswer> all;
  if (answers.value().is_object()) {
    const std::vector<std::string> texts = answers.at("text").texts();
    const std::vector<int64_t> starts = answers.at("answer_start").integers(0, kMostCodePoints);
    require(texts.size() == starts.size(), ErrorKind::BadData, answers.place(), ": has ",
            texts.size(), " texts and ", starts.size(), " starts");
    for (size_t i = 0; i < texts.size(); ++i) all.push_back({texts[i], starts[i]});
    for (const RightAnswer& answer : all) check_answer(answer, text, answers.place());
    return all;
  }
  answers.each({}, [&](const SortedField& answer) {
    all.push_back({answer.at("text").text(), start_of(answer)});
    check_answer(all.back(), text, answer.place());
  });
  return all;
}

void require_words(const SortedField& field, const std::string& text) {
  field.expect(!trim(text).empty(), "a text that is not empty");
}

void add_question(const SortedField& field, const std::string& text, FileRows<QuestionRow>& file,
                  std::optional<Split> split = {}) {
  QuestionRow row{field.at("question").text(), text, "", {}};
  require_words(field.at("question"), row.question);
  if (const auto id = field.find("id"))
    row.id = id->value().is_string() ? id->text() : id->value().dump();
  if (!field.mark_or("is_impossible", false)) row.answers = answers_of(field.at("answers"), text);
  file.add(std::move(row), split);
}

void read_squad(const SortedField& root, FileRows<QuestionRow>& file) {
  root.at("data").each({}, [&](const SortedField& article) {
    article.at("paragraphs").each({}, [&](const SortedField& paragraph) {
      const std::string text = paragraph.at("context").text();
      require_words(paragraph.at("context"), text);
      paragraph.at("qas").each(
          {}, [&](const SortedField& question) { add_question(question, text, file); });
    });
  });
}

void read_line(const SortedJson& json, const std::string& place, FileRows<QuestionRow>& file) {
  const SortedField row = SortedField::root(json, place);
  const char* key = row.find("context") && !row.find("text") ? "context" : "text";
  const std::string text = row.at(key).text();
  require_words(row.at(key), text);
  std::optional<Split> own;
  if (const auto split = row.find("split")) {
    const int named = split_named(split->text());
    split->expect(named >= 0, "train, val or test");
    own = Split(named);
  }
  require(file.count == 0 || file.has_splits == own.has_value(), ErrorKind::BadData, place,
          own ? ": has a split, but rows before it have none"
              : ": has no split, but rows before it have one");
  add_question(row, text, file, own);
}

/// The whole of a .json file, where it is SQuAD's.
std::optional<SortedJson> squad_in(const fs::path& path, std::string& hash) {
  if (plain_ending(path) != ".json") return {};
  FileBytes bytes = read_text(path, kMostQuestionBytes);
  const bool one_value = SortedJson::accept(bytes.content);
  if (!one_value && bytes.content.find("\"paragraphs\"") == std::string::npos) return {};
  SortedJson root = parse_sorted_json(bytes.content, path.string());
  const bool squad = root.is_object() && root.contains("data") && root["data"].is_array() &&
                     !root["data"].empty() && root["data"][0].is_object() &&
                     root["data"][0].contains("paragraphs");
  if (!squad) return {};
  hash = bytes.hash;
  return root;
}

}  // namespace

std::string cut_code_points(const std::string& text, const Span& span) {
  size_t at = 0;
  const auto move_to = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to && at < text.size(); ++i) at += code_point_size(text[at]);
    return std::min(at, text.size());
  };
  const size_t begin = move_to(0, span.begin), end = move_to(span.begin, span.end);
  return text.substr(begin, end - begin);
}

FileRows<QuestionRow> read_questions(const fs::path& path, const RowSink<QuestionRow>& sink) {
  refuse_foreign_file(path, "jsonl");
  const std::string name = path.extension() == ".gz" ? path.stem().string() : path.string();
  for (const char* ending : {".csv", ".tsv", ".tab"})
    require(!name.ends_with(ending), ErrorKind::BadData, path.string(),
            ": is a table; questions are read from the JSON of SQuAD or from JSON lines such as ",
            kExample);
  FileRows<QuestionRow> file{sink};
  if (const std::optional<SortedJson> squad = squad_in(path, file.hash))
    read_squad(SortedField::root(*squad, path.string()), file);
  else
    file.hash = for_each_json_row(
        path, kMostQuestionBytes, kExample,
        [&](const SortedJson& json, const std::string& place) { read_line(json, place, file); });
  require(file.count > 0, ErrorKind::BadData, path.string(), ": holds no question");
  return file;
}

SplitRows<QuestionRow> open_questions(const DataSource& source, const SplitOptions& split) {
  check_roles(source, {});
  Reader<QuestionRow> reader;
  reader.endings = {".json", ".jsonl", ".ndjson"};
  reader.read = read_questions;
  reader.rows = "questions";
  reader.group = {"text", [](const QuestionRow& row) { return row.text; }};
  return read_splits<QuestionRow>(source, split, reader);
}

}  // namespace fovea
