#include "fovea/data/documents_data.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "fovea/core/error.h"
#include "fovea/core/file.h"
#include "fovea/data/readers/labelled_text.h"

namespace fovea {

namespace {

constexpr size_t kMostClasses = 1000;
constexpr const char* kPartNames[kParts] = {"training", "validation", "test"};

using Texts = TextParts<LabelledText>;
using Decisive = std::unordered_map<std::string, std::vector<Span>>;  // by text

Json generator_json(OpinionsOptions options) {
  OptionList list;
  options.describe(list);
  return list.to_json();
}

/// dataset.json: "truth": {"decisive": {text: [[begin, end], …]}}, in code points.
Decisive read_truth(const std::filesystem::path& path) {
  Decisive decisive;
  if (!std::filesystem::exists(path)) return decisive;
  const Json description = read_json_file(path);
  if (!description.contains("truth")) return decisive;
  try {
    for (const auto& [text, spans] : description.at("truth").at("decisive").items())
      for (const Json& span : spans)
        decisive[text].push_back({span.at(0).get<int64_t>(), span.at(1).get<int64_t>()});
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::BadData, path.string(),
         ": \"truth\" must be {\"decisive\": {text: [[begin, end], …]}}");
  }
  return decisive;
}

Json truth_json(const OpinionsDraw& draw) {
  Json decisive = Json::object();
  for (const auto* part : {&draw.train, &draw.validation, &draw.test})
    for (const Opinion& opinion : *part) {
      Json& spans = decisive[opinion.text] = Json::array();
      for (const Span& span : opinion.decisive) spans.push_back({span.begin, span.end});
    }
  return {{"decisive", decisive}};
}

Texts draw_texts(const DocumentsDataOptions& options, Decisive& decisive) {
  const OpinionsDraw draw = draw_opinions(options.generator);
  Texts texts;
  const auto take = [&](const std::vector<Opinion>& part, std::vector<LabelledText>& to) {
    for (const Opinion& opinion : part) {
      to.push_back({opinion.text, "", label_of(opinion)});
      decisive[opinion.text] = opinion.decisive;
    }
  };
  take(draw.train, texts.train);
  take(draw.validation, texts.validation);
  take(draw.test, texts.test);
  ContentHash hash;
  hash.add(concat("documents ", generator_json(options.generator).dump()));
  texts.hash = hash.text();
  texts.notes.push_back(concat("built-in synthetic reviews, seed ", options.generator.seed, ": ",
                               format_count(int64_t(texts.train.size())), " training, ",
                               format_count(int64_t(texts.validation.size())), " validation, ",
                               format_count(int64_t(texts.test.size())), " test texts"));
  return texts;
}

Texts open_texts(const DataSource& source, const DocumentsDataOptions& options, bool needs_training,
                 uint64_t seed, Decisive& decisive) {
  SplitOptions split;
  split.task = "documents";
  split.fraction = options.validation_fraction;
  split.seed = seed;
  split.needs_training = needs_training;
  LabelledTextOptions reading;
  reading.quotes = options.quotes;
  Texts texts = open_labelled_text(source, split, reading);
  if (std::filesystem::is_directory(source.path))
    decisive = read_truth(source.path / "dataset.json");
  return texts;
}

/// Numbers first, by size; then other labels, alphabetically.
bool comes_before(const std::string& one, const std::string& other) {
  double left = 0, right = 0;
  const bool is_left = parse_number(one, left), is_right = parse_number(other, right);
  if (is_left && is_right && left != right) return left < right;
  if (is_left != is_right) return is_left;
  return one < other;
}

/// Of all parts: a class that only validation has is still one, if a note says so.
void fit_classes(Texts& texts, DocumentCoding& coding, std::vector<std::string>& notes) {
  std::set<std::string, decltype(&comes_before)> labels(&comes_before), trained(&comes_before);
  for (int part = 0; part < kParts; ++part)
    for (const LabelledText& row : texts[part]) {
      labels.insert(row.label);
      if (part == kTrain) trained.insert(row.label);
      coding.pairs = coding.pairs || !trim(row.second).empty();
      require(labels.size() <= kMostClasses, ErrorKind::BadData, "the labels have more than ",
              kMostClasses, " different values, such as '", row.label,
              "'; say with --columns label=NAME which column holds the class");
    }
  require(trained.size() >= 2, ErrorKind::BadData, "all training texts have the label '",
          *trained.begin(), "'; at least two classes are needed");
  coding.classes.assign(labels.begin(), labels.end());
  for (const std::string& label : labels)
    if (!trained.contains(label))
      notes.push_back(concat("no training text has the label '", label, "'"));
}

std::shared_ptr<const WordPiece> learn_tokeniser(const std::vector<LabelledText>& train,
                                                 const DocumentsDataOptions& options) {
  WordPieceOptions cutting;
  cutting.lowercase = options.lowercase;
  WordCounts words(cutting);
  for (const LabelledText& row : train) words.add(row.text), words.add(row.second);
  WordPieceLearning learning;
  learning.size = options.vocabulary_size;
  return std::make_shared<const WordPiece>(WordPiece::learn(words, learning));
}

int64_t class_of(const std::string& label, const DocumentCoding& coding, const char* part) {
  const auto found = std::find(coding.classes.begin(), coding.classes.end(), label);
  require(found != coding.classes.end(), ErrorKind::BadData, "a ", part, " text has the label '",
          label, "', which the run does not know; it knows: ", join(coding.classes));
  return found - coding.classes.begin();
}

void note_lengths(const DocumentDataset& rows, const FrameOptions& frames, const char* part,
                  std::vector<std::string>& notes) {
  if (rows.cut_documents() > 0)
    notes.push_back(concat(format_count(rows.cut_documents()), " of ", format_count(rows.size()),
                           " ", part, " texts were cut to ", frames.longest, " tokens and lost ",
                           format_count(rows.cut_pieces()), " (data.too_long=cut)"));
  if (rows.windowed_documents() > 0)
    notes.push_back(concat(format_count(rows.windowed_documents()), " of ",
                           format_count(rows.size()), " ", part, " texts are read in windows of ",
                           frames.longest, " tokens"));
}

std::string class_note(const std::vector<LabelledText>& train, const DocumentCoding& coding) {
  std::map<std::string, int64_t> counts;
  for (const LabelledText& row : train) ++counts[row.label];
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min<size_t>(coding.classes.size(), 10); ++i)
    shown.push_back(concat(coding.classes[i], " (", format_count(counts[coding.classes[i]]), ")"));
  if (coding.classes.size() > shown.size()) shown.push_back("…");
  return concat(coding.classes.size(), " classes: ", join(shown));
}

}  // namespace

void DocumentsDataOptions::describe(OptionList& list) {
  generator.describe(list);
  frames.describe(list);
  list.add("vocabulary_size", vocabulary_size,
           "most pieces of a vocabulary that is learned from the training texts")
      .at_least(100);
  list.add("lowercase", lowercase, "a vocabulary that is learned knows no case and no accents");
  list.add("validation_fraction", validation_fraction,
           "share of the training texts held out when the data has no validation part")
      .at_least(0)
      .below(1);
  list.add("quotes", quotes, "whether quotes quote; auto: in a CSV, not in a TSV")
      .choices({"auto", "yes", "no"});
}

Json DocumentCoding::to_json() const {
  return {{"classes", classes}, {"pairs", pairs}};
}

DocumentCoding DocumentCoding::from_json(const Json& json, const std::string& where) {
  DocumentCoding coding;
  try {
    coding.classes = json.at("classes").get<std::vector<std::string>>();
    coding.pairs = json.at("pairs").get<bool>();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::BadData, where, ": expected {\"classes\": [texts], \"pairs\": true or false}");
  }
  require(coding.classes.size() >= 2, ErrorKind::BadData, where, ": has ", coding.classes.size(),
          " classes; at least 2 are needed");
  return coding;
}

Splits load_documents(const DataSource& source, const DocumentsDataOptions& options,
                      DocumentCoding& coding, uint64_t seed) {
  Decisive decisive;
  if (source.path.empty()) check_roles(source, {});
  Texts texts = source.path.empty() ? draw_texts(options, decisive)
                                    : open_texts(source, options, !coding.fitted(), seed, decisive);
  Splits splits;
  splits.hash = texts.hash;
  splits.notes = texts.notes;
  if (!coding.fitted()) {
    fit_classes(texts, coding, splits.notes);
    splits.notes.push_back(class_note(texts.train, coding));
  }
  if (!coding.tokeniser) coding.tokeniser = learn_tokeniser(texts.train, options);
  splits.notes.push_back(concat(format_count(coding.tokeniser->size()), " pieces",
                                coding.pairs ? ", pairs of texts" : ""));
  const DocumentEncoder encoder{coding.tokeniser, options.frames, coding.pairs};
  const auto encode = [&](int part) -> std::shared_ptr<Dataset> {
    if (texts[part].empty()) return nullptr;
    std::vector<LabelledDocument> documents;
    for (LabelledText& row : texts[part]) {
      const auto known = decisive.find(row.text);
      documents.push_back({std::move(row.text), std::move(row.second),
                           class_of(row.label, coding, kPartNames[part]),
                           known == decisive.end() ? std::vector<Span>() : known->second});
    }
    auto rows = std::make_shared<DocumentDataset>(
        std::move(documents), encoder,
        source.path.empty() ? "the built-in reviews"
                            : concat(source.path.string(), " (", kPartNames[part], ")"));
    note_lengths(*rows, options.frames, kPartNames[part], splits.notes);
    return rows;
  };
  splits.train = encode(kTrain);
  splits.validation = encode(kValidation);
  splits.test = encode(kTest);
  return splits;
}

void write_documents_data(const std::filesystem::path& folder,
                          const DocumentsDataOptions& options) {
  const OpinionsDraw draw = draw_opinions(options.generator);
  make_folder(folder);
  const auto write = [&](const char* name, const std::vector<Opinion>& part) {
    if (part.empty()) return;
    std::string text = "label\ttext\n";
    for (const Opinion& opinion : part) text += concat(label_of(opinion), "\t", opinion.text, "\n");
    write_file(folder / name, text);
  };
  write("train.tsv", draw.train);
  write("val.tsv", draw.validation);
  write("test.tsv", draw.test);
  write_json_file(folder / "dataset.json", Json{{"format", "fovea-dataset"},
                                                {"version", 1},
                                                {"task", "documents"},
                                                {"truth", truth_json(draw)},
                                                {"generator", generator_json(options.generator)}});
}

}  // namespace fovea
