#include "fovea/data/documents/load.h"

#include <algorithm>
#include <map>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/documents/reader.h"
#include "fovea/data/labels.h"

namespace fovea {

namespace {

constexpr LabelWords kWords{"text", "label", "NAME"};

using Texts = SplitRows<LabelledText>;

/// Truth: spans of the words that decide, begin and end in code points.
template <class Drawn>
Texts take_drawn(Drawn draw, const Json& options, Decisive& decisive) {
  Texts texts;
  const auto take = [&](const auto& part, std::vector<LabelledText>& to) {
    for (const auto& row : part) {
      to.push_back({row.text, "", label_of(row)});
      auto& spans = decisive[row.text];
      for (const Span& span : row.decisive) spans.emplace_back(span.begin, span.end);
    }
  };
  take(draw.train, texts.train);
  take(draw.validation, texts.validation);
  take(draw.test, texts.test);
  texts.hash = hash_of_built_in("documents", options);
  texts.notes = std::move(draw.notes);
  return texts;
}

Json generator_json(const DocumentsDataOptions& options, TextsAs as) {
  return as == TextsAs::Pieces ? options_json(options.generator) : options_json(options.verdicts);
}

Texts draw_texts(const DocumentsDataOptions& options, TextsAs as, Decisive& decisive) {
  const Json json = generator_json(options, as);
  return as == TextsAs::Pieces ? take_drawn(draw_opinions(options.generator), json, decisive)
                               : take_drawn(draw_verdicts(options.verdicts), json, decisive);
}

Texts open_texts(const DataSource& source, const DocumentsDataOptions& options, bool needs_training,
                 uint64_t seed, Decisive& decisive) {
  const SplitOptions split{.task = "documents",
                           .fraction = options.validation_fraction,
                           .seed = seed,
                           .needs_training = needs_training};
  LabelledTextOptions reading;
  reading.quotes = options.quotes;
  Texts texts = open_labelled_text(source, split, reading);
  decisive = read_decisive(source.path, "[begin, end]");
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

void fit_classes(Texts& texts, DocumentCoding& coding, std::vector<std::string>& notes) {
  LabelSet labels(kWords);
  for (int part = 0; part < kSplitCount; ++part)
    for (const LabelledText& row : texts[part]) {
      labels.add(row.label, part);
      coding.pairs = coding.pairs || !trim(row.second).empty();
    }
  require(labels.trained().size() >= 2, ErrorKind::BadData, "all training texts have the label '",
          *labels.trained().begin(), "'; at least two classes are needed");
  coding.classes.assign(labels.all().begin(), labels.all().end());
  std::sort(coding.classes.begin(), coding.classes.end(), comes_before);
  for (const std::string& note : labels.notes()) notes.push_back(note);
}

std::shared_ptr<const WordPiece> learn_tokeniser(const std::vector<LabelledText>& train,
                                                 const DocumentsDataOptions& options) {
  WordCounts words({.lowercase = options.lowercase});
  for (const LabelledText& row : train) words.add(row.text), words.add(row.second);
  return std::make_shared<const WordPiece>(
      WordPiece::learn(words, {.size = options.vocabulary_size}));
}

std::vector<LabelledDocument> documents_of(std::vector<LabelledText>& rows,
                                           const DocumentCoding& coding, const Decisive& decisive,
                                           int part) {
  std::vector<LabelledDocument> documents;
  for (LabelledText& row : rows) {
    const int64_t label = number_of(row.label, coding.classes, part, kWords);
    std::vector<Span> spans = std::move(row.decisive);
    if (const auto known = decisive.find(row.text); spans.empty() && known != decisive.end())
      for (const auto& [begin, end] : known->second) spans.push_back({begin, end});
    documents.push_back({std::move(row.text), std::move(row.second), label, std::move(spans)});
  }
  return documents;
}

void note_lengths(const DocumentDataset& rows, const PackingOptions& packing, const char* part,
                  std::vector<std::string>& notes) {
  if (rows.cut_documents() > 0)
    notes.push_back(concat(format_count(rows.cut_documents()), " of ", format_count(rows.size()),
                           " ", part, " texts were cut to ", packing.longest, " tokens and lost ",
                           format_count(rows.cut_pieces()), " (data.too_long=cut)"));
  if (rows.windowed_documents() > 0)
    notes.push_back(concat(format_count(rows.windowed_documents()), " of ",
                           format_count(rows.size()), " ", part, " texts are read in windows of ",
                           packing.longest, " tokens"));
}

void note_lengths(const HierarchicalDataset& rows, const HierarchicalDataOptions& options,
                  const char* part, std::vector<std::string>& notes) {
  const std::string all = concat(" of ", format_count(rows.size()), " ", part, " texts ");
  if (rows.cut_documents() > 0)
    notes.push_back(concat(format_count(rows.cut_documents()), all, "were cut to ",
                           options.maximum_sentences, " sentences and lost ",
                           format_count(rows.cut_words()), " words (data.maximum_sentences)"));
  if (rows.parted_sentences() > 0)
    notes.push_back(concat(format_count(rows.parted_sentences()), " sentences of the ", part,
                           " texts have more than ", options.maximum_words,
                           " words and are read as several (data.maximum_words)"));
  if (rows.empty_documents() > 0)
    notes.push_back(concat(format_count(rows.empty_documents()), all, "have no word"));
  notes.push_back(concat(format_number(100 * rows.unknown_share(), 3), " % of the words of the ",
                         part, " texts are unknown"));
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

std::shared_ptr<const Vocabulary> learn_vocabulary(const std::vector<LabelledText>& train,
                                                   const HierarchicalDataOptions& options) {
  std::vector<std::string> texts;
  for (const LabelledText& row : train) texts.push_back(row.text);
  return std::make_shared<const Vocabulary>(learn_words(texts, options));
}

/// What the model reads by, where it is not there yet, and a note about it.
std::string learn_coding(const std::vector<LabelledText>& train,
                         const DocumentsDataOptions& options, TextsAs as, DocumentCoding& coding) {
  if (as == TextsAs::Pieces) {
    if (!coding.tokeniser) coding.tokeniser = learn_tokeniser(train, options);
    return concat(format_count(coding.tokeniser->size()), " pieces",
                  coding.pairs ? ", pairs of texts" : "");
  }
  require(!coding.pairs, ErrorKind::BadData,
          "the data has pairs of texts (column second); model.name=han reads one text a row, "
          "model.name=bert reads both");
  if (!coding.words) coding.words = learn_vocabulary(train, options.sentences);
  return concat(format_count(coding.words->size() - Vocabulary::kSpecial), " words");
}

std::shared_ptr<Dataset> encode(std::vector<LabelledDocument> documents,
                                const DocumentsDataOptions& options, TextsAs as,
                                const DocumentCoding& coding, const std::string& where,
                                const char* part, std::vector<std::string>& notes) {
  if (as == TextsAs::Pieces) {
    auto rows = std::make_shared<DocumentDataset>(
        std::move(documents), DocumentEncoder{coding.tokeniser, options.packing, coding.pairs},
        where);
    note_lengths(*rows, options.packing, part, notes);
    return rows;
  }
  auto rows = std::make_shared<HierarchicalDataset>(
      std::move(documents), HierarchicalEncoder{coding.words, options.sentences}, where);
  note_lengths(*rows, options.sentences, part, notes);
  return rows;
}

}  // namespace

void DocumentsDataOptions::describe(OptionList& list, TextsAs texts) {
  if (texts == TextsAs::Pieces) {
    generator.describe(list);
    packing.describe(list);
    list.add("vocabulary_size", vocabulary_size,
             "most pieces of a vocabulary that is learned from the training texts")
        .at_least(100);
    list.add("lowercase", lowercase, "a vocabulary that is learned knows no case and no accents");
  } else {
    verdicts.describe(list);
    sentences.describe(list);
  }
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
  const Field root = Field::root(json, where);
  coding.classes = root.at("classes").texts();
  coding.pairs = root.at("pairs").mark();
  require(coding.classes.size() >= 2, ErrorKind::BadData, where, ": has ", coding.classes.size(),
          " classes; at least 2 are needed");
  return coding;
}

Splits load_documents(const DataSource& source, const DocumentsDataOptions& options, TextsAs as,
                      DocumentCoding& coding, uint64_t seed) {
  Decisive decisive;
  if (source.path.empty()) check_roles(source, {});
  Texts texts = source.path.empty() ? draw_texts(options, as, decisive)
                                    : open_texts(source, options, !coding.fitted(), seed, decisive);
  const auto fit = [&](Texts& rows, Notes& notes) {
    if (!coding.fitted()) {
      fit_classes(rows, coding, notes);
      notes.push_back(class_note(rows.train, coding));
    }
    notes.push_back(learn_coding(rows.train, options, as, coding));
  };
  return encode_splits(texts, fit, [&](std::vector<LabelledText> rows, Split split, Notes& notes) {
    return encode(documents_of(rows, coding, decisive, split), options, as, coding,
                  place_of(source, split, "the built-in reviews"), kSplitNames[split], notes);
  });
}

void write_documents_data(const std::filesystem::path& folder, const DocumentsDataOptions& options,
                          TextsAs as) {
  Decisive decisive;
  const Texts texts = draw_texts(options, as, decisive);
  write_splits(folder, texts, ".tsv", [](const std::vector<LabelledText>& rows) {
    std::string content = "label\ttext\n";
    for (const LabelledText& row : rows) content += concat(row.label, "\t", row.text, "\n");
    return content;
  });
  write_description(folder, "documents", generator_json(options, as),
                    {{"truth", decisive_json(decisive)}});
}

}  // namespace fovea
