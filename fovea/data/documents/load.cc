#include "fovea/data/documents/load.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/documents/reader.h"
#include "fovea/data/labels.h"
#include "fovea/data/tokenisers/wordpiece.h"

namespace fovea {

namespace {

constexpr LabelWords kWords{"text", "label", "NAME"};

using Texts = SplitRows<LabelledText>;

Json generator_json(const DocumentsDataOptions& options, TextsAs as) {
  Json json =
      as == TextsAs::Sentences ? options_json(options.documents) : options_json(options.texts);
  const std::string& kind = options.target.target_kind;
  if (kind == "labels" || kind == "number") json["target_kind"] = kind;
  return json;
}

Texts draw_rows(const DocumentsDataOptions& options, TextsAs as) {
  Texts texts =
      as == TextsAs::Sentences ? draw_documents(options.documents) : draw_texts(options.texts);
  const std::string& kind = options.target.target_kind;
  if (kind == "labels") answer_otherwise(AnswerKind::Labels, texts);
  if (kind == "number") answer_otherwise(AnswerKind::Number, texts);
  texts.hash = hash_of_built_in("documents", generator_json(options, as));
  return texts;
}

Texts read_rows(const DataSource& source, const DocumentsDataOptions& options,
                DocumentCoding& coding, uint64_t seed) {
  const bool needs_training = !coding.fitted();
  const SplitOptions split{"documents", options.validation_fraction, seed, needs_training};
  LabelledTextOptions reading;
  reading.quotes = options.quotes;
  if (needs_training) reading.found = &coding.columns;
  Texts texts = open_labelled_text(source, split, reading);
  const Decisive decisive = read_decisive(source.path, "[begin, end]");
  if (decisive.empty()) return texts;
  texts.transform([decisive](LabelledText& row) {
    const auto known = decisive.find(row.text);
    if (known == decisive.end() || !row.decisive.empty()) return;
    for (const auto& [begin, end] : known->second) row.decisive.push_back({begin, end});
  });
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

/// Labels that are numbers of the classes, as data sets beside a network from elsewhere have them,
/// become their names.
void name_labels(Texts& texts, const DocumentCoding& coding, Notes& notes) {
  const auto number_of = [&coding](const std::string& label) {
    int64_t number = -1;
    return parse_integer(label, number) && number < int64_t(coding.classes.size()) ? number : -1;
  };
  const bool several = coding.target.kind == AnswerKind::Labels;
  bool numbers = true;
  const auto look_at = [&](const std::string& label) {
    const auto& known = coding.classes;
    numbers = numbers && number_of(label) >= 0 &&
              std::find(known.begin(), known.end(), label) == known.end();
  };
  texts.for_each([&](const LabelledText& row, Split) {
    if (!several) look_at(row.label);
    for (const std::string& label : row.labels) look_at(label);
  });
  if (!numbers) return;
  texts.transform([&coding, several, number_of](LabelledText& row) {
    if (!several) row.label = coding.classes[size_t(number_of(row.label))];
    for (std::string& label : row.labels) label = coding.classes[size_t(number_of(label))];
  });
  notes.push_back(concat("the labels are the numbers of the classes: 0 is ", coding.classes[0],
                         ", ", coding.classes.size() - 1, " is ", coding.classes.back()));
}

bool has_pairs(const Texts& texts) {
  bool found = false;
  texts.for_each([&](const LabelledText& row, Split) { found |= !trim(row.second).empty(); });
  return found;
}

void fit_classes(const Texts& texts, DocumentCoding& coding, Notes& notes) {
  const bool several = coding.target.kind == AnswerKind::Labels;
  LabelSet labels(kWords);
  texts.for_each([&](const LabelledText& row, Split split) {
    if (!several) labels.add(row.label, split);
    for (const std::string& label : row.labels) labels.add(label, split);
  });
  require(!several || labels.trained().size() >= 2, ErrorKind::BadData, "the training texts have ",
          labels.trained().size(), " different labels; several labels are at least two");
  require(labels.trained().size() >= 2, ErrorKind::BadData, "all training texts have the label '",
          *labels.trained().begin(), "'; at least two classes are needed");
  coding.classes.assign(labels.all().begin(), labels.all().end());
  std::sort(coding.classes.begin(), coding.classes.end(), comes_before);
  for (const std::string& note : labels.notes()) notes.push_back(note);
}

void count_classes(const Rows<LabelledText>& train, DocumentCoding& coding) {
  if (train.empty()) return;
  coding.class_counts.assign(coding.classes.size(), 0);
  coding.target.rows = train.size();
  if (coding.target.kind == AnswerKind::Number) return;
  const auto count = [&](const std::string& label) {
    ++coding.class_counts[size_t(label_index(label, coding.classes, kTrain, kWords))];
  };
  train.for_each([&](const LabelledText& row) {
    if (coding.target.kind == AnswerKind::Class) count(row.label);
    for (const std::string& label : row.labels) count(label);
  });
}

Rows<LabelledDocument> to_documents(Rows<LabelledText> rows, const DocumentCoding& coding,
                                    Split split) {
  return std::move(rows).map<LabelledDocument>([&coding, split](LabelledText&& row) {
    const AnswerKind kind = coding.target.kind;
    LabelledDocument document{std::move(row.text), std::move(row.second), -1,
                              std::move(row.decisive)};
    if (kind == AnswerKind::Class)
      document.label = label_index(row.label, coding.classes, split, kWords);
    else if (kind == AnswerKind::Number)
      document.targets = {float(coding.target.standardised(label_number(row.label)))};
    else
      document.targets.assign(coding.classes.size(), 0);
    for (const std::string& label : row.labels)
      if (kind == AnswerKind::Labels)
        document.targets[size_t(label_index(label, coding.classes, split, kWords))] = 1;
    return document;
  });
}

void note_lengths(const DocumentDataset& rows, const PackingOptions& packing, const char* split,
                  Notes& notes) {
  if (rows.cut_documents() > 0)
    notes.push_back(concat(format_count(rows.cut_documents()), " of ", format_count(rows.size()),
                           " ", split, " texts were cut to ", packing.longest, " tokens and lost ",
                           format_count(rows.cut_pieces()), " (data.too_long=cut)"));
  if (rows.windowed_documents() > 0)
    notes.push_back(concat(format_count(rows.windowed_documents()), " of ",
                           format_count(rows.size()), " ", split, " texts are read in windows of ",
                           packing.longest, " tokens"));
}

void note_lengths(const HierarchicalDataset& rows, const HierarchicalDataOptions& options,
                  const char* split, Notes& notes) {
  const std::string all = concat(" of ", format_count(rows.size()), " ", split, " texts ");
  if (rows.cut_documents() > 0)
    notes.push_back(concat(format_count(rows.cut_documents()), all, "were cut to ",
                           options.maximum_sentences, " sentences and lost ",
                           format_count(rows.cut_words()), " words (data.maximum_sentences)"));
  if (rows.split_sentences() > 0)
    notes.push_back(concat(format_count(rows.split_sentences()), " sentences of the ", split,
                           " texts have more than ", options.maximum_words,
                           " words and are read as several (data.maximum_words)"));
  if (rows.empty_documents() > 0)
    notes.push_back(concat(format_count(rows.empty_documents()), all, "have no word"));
  notes.push_back(concat(format_number(100 * rows.unknown_share(), 3), " % of the words of the ",
                         split, " texts are unknown"));
}

void note_lengths(const BagDataset& rows, const BagDataOptions& options, const char* split,
                  Notes& notes) {
  const std::string all = concat(" of ", format_count(rows.size()), " ", split, " texts ");
  if (rows.cut_documents() > 0)
    notes.push_back(concat(format_count(rows.cut_documents()), all, "were cut to ",
                           options.maximum_words, " words and lost ",
                           format_count(rows.cut_words()), " (data.maximum_words)"));
  if (rows.empty_documents() > 0)
    notes.push_back(concat(format_count(rows.empty_documents()), all, "have no known word"));
}

std::string class_note(const DocumentCoding& coding, const Texts& texts) {
  const DocumentTarget& target = coding.target;
  if (target.kind == AnswerKind::Number)
    return concat("a number: mean ", format_number(target.mean, 4), ", standard deviation ",
                  format_number(target.deviation, 4));
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min<size_t>(coding.classes.size(), 10); ++i)
    shown.push_back(concat(coding.classes[i], " (", format_count(coding.class_counts[i]), ")"));
  if (coding.classes.size() > shown.size()) shown.push_back("…");
  if (target.kind == AnswerKind::Class)
    return concat(coding.classes.size(), " classes: ", join(shown));
  size_t all = 0;
  texts.train.for_each([&](const LabelledText& row) { all += row.labels.size(); });
  const double each = double(all) / std::max(1.0, double(texts.train.size()));
  return concat(coding.classes.size(), " labels, ", format_number(each, 3),
                " a text: ", join(shown));
}

/// What the model reads by, where it is not there yet, and a note about it.
std::string learn_coding(const Rows<LabelledText>& train, const DocumentsDataOptions& options,
                         TextsAs as, DocumentCoding& coding) {
  if (as == TextsAs::Pieces) {
    if (!coding.tokeniser)
      coding.tokeniser = options.vocabulary.learn([&](WordCounts& words) {
        train.for_each(
            [&](const LabelledText& row) { words.add(row.text), words.add(row.second); });
      });
    return concat(format_count(coding.tokeniser->size()), " pieces",
                  coding.pairs ? ", pairs of texts" : "");
  }
  if (as == TextsAs::Bag) {
    if (!coding.words)
      coding.words = std::make_shared<const Vocabulary>(
          learn_units(to_documents(train, coding, kTrain), coding.outputs(), options.bag));
    return concat(format_count(coding.words->size() - Vocabulary::kSpecial), " words",
                  options.bag.bigrams ? " and bigrams" : "",
                  coding.pairs ? ", pairs of texts" : "");
  }
  require(!coding.pairs, ErrorKind::BadData,
          "the data has pairs of texts (column second); model.name=han reads one text a row, "
          "model.name=words and model.name=bert read both");
  if (!coding.words)
    coding.words = std::make_shared<const Vocabulary>(learn_words(
        Rows(train).map<std::string>([](LabelledText&& row) { return std::move(row.text); }),
        options.sentences));
  return concat(format_count(coding.words->size() - Vocabulary::kSpecial), " words");
}

std::shared_ptr<Dataset> encode(Rows<LabelledDocument> documents,
                                const DocumentsDataOptions& options, TextsAs as,
                                const DocumentCoding& coding, const std::string& where,
                                const char* split, Notes& notes) {
  if (as == TextsAs::Pieces) {
    auto rows = std::make_shared<DocumentDataset>(
        std::move(documents), DocumentEncoder{coding.tokeniser, options.packing, coding.pairs},
        where);
    note_lengths(*rows, options.packing, split, notes);
    return rows;
  }
  if (as == TextsAs::Bag) {
    auto rows = std::make_shared<BagDataset>(std::move(documents),
                                             BagEncoder{coding.words, options.bag}, where);
    note_lengths(*rows, options.bag, split, notes);
    return rows;
  }
  auto rows = std::make_shared<HierarchicalDataset>(
      std::move(documents), HierarchicalEncoder{coding.words, options.sentences}, where);
  note_lengths(*rows, options.sentences, split, notes);
  return rows;
}

}  // namespace

void DocumentsDataOptions::describe(OptionList& list, TextsAs as) {
  if (as == TextsAs::Pieces) {
    texts.describe(list);
    packing.describe(list);
    vocabulary.describe(list, "training texts");
  } else if (as == TextsAs::Bag) {
    texts.describe(list);
    bag.describe(list);
  } else {
    documents.describe(list);
    sentences.describe(list);
  }
  target.describe(list);
  describe_held_out(list, validation_fraction, "training texts");
  describe_quotes(list, quotes);
}

Json DocumentCoding::to_json() const {
  Json json{{"classes", classes}, {"pairs", pairs}};
  for (const auto& [role, names] : columns) json["columns"][role] = names.front();
  if (target.kind == AnswerKind::Class) return json;
  json["target"] = {{"kind", name_of(target.kind)}};
  if (target.kind == AnswerKind::Labels)
    json["target"]["separator"] = target.separator;
  else
    json["target"].update(
        {{"name", target.name}, {"mean", target.mean}, {"deviation", target.deviation}});
  return json;
}

DocumentCoding DocumentCoding::from_json(const Json& json, const std::string& where) {
  DocumentCoding coding;
  const Field root = Field::root(json, where);
  coding.classes = root.at("classes").texts();
  coding.pairs = root.at("pairs").mark();
  if (const auto columns = root.find("columns"))
    columns->each_member(
        [&](const std::string& role, const Field& name) { coding.columns[role] = {name.text()}; });
  if (const auto target = root.find("target")) {
    const std::string kind = target->at("kind").text();
    target->at("kind").expect(kind == "labels" || kind == "number", "labels or number");
    coding.target.kind = kind == "labels" ? AnswerKind::Labels : AnswerKind::Number;
    coding.target.separator = target->text_or_empty("separator");
  }
  if (coding.target.kind == AnswerKind::Number) {
    const Field target = root.at("target");
    coding.target.name = target.at("name").text();
    coding.target.mean = target.at("mean").finite();
    coding.target.deviation = target.at("deviation").deviation();
    return coding;
  }
  require(coding.classes.size() >= 2, ErrorKind::BadData, where, ": has ", coding.classes.size(),
          " classes; at least 2 are needed");
  return coding;
}

Splits load_documents(const DataSource& source, const DocumentsDataOptions& options, TextsAs as,
                      DocumentCoding& coding, uint64_t seed) {
  if (source.path.empty()) check_roles(source, {});
  Texts texts =
      source.path.empty() ? draw_rows(options, as) : read_rows(source, options, coding, seed);
  const auto fit = [&](Texts& rows, Notes& notes) {
    const bool is_first = !coding.fitted();
    if (is_first) {
      coding.target = decide_target(rows, options.target, notes);
      if (coding.target.kind == AnswerKind::Number)
        for (const char* role : {"label", "target"})
          coding.target.name = single_role(source.roles, role, coding.target.name);
    } else {
      apply_target(coding.target, coding.classes, rows, notes);
    }
    if (is_first) coding.pairs = has_pairs(rows);
    if (is_first && coding.target.kind != AnswerKind::Number) fit_classes(rows, coding, notes);
    if (coding.any_pairs) {
      coding.pairs = has_pairs(rows);
      if (coding.target.kind != AnswerKind::Number) name_labels(rows, coding, notes);
    }
    count_classes(rows.train, coding);
    if (is_first) notes.push_back(class_note(coding, rows));
    notes.push_back(learn_coding(rows.train, options, as, coding));
  };
  return encode_splits(texts, fit, [&](Rows<LabelledText> rows, Split split, Notes& notes) {
    return encode(to_documents(std::move(rows), coding, split), options, as, coding,
                  place_of(source, split, "the synthetic reviews"), kSplitNames[split], notes);
  });
}

void write_documents_data(const std::filesystem::path& folder, const DocumentsDataOptions& options,
                          TextsAs as) {
  const Texts texts = draw_rows(options, as);
  write_splits(folder, texts, ".tsv", [](const std::vector<LabelledText>& rows) {
    std::string content = rows[0].cell == LabelCell::List ? "labels\ttext\n" : "label\ttext\n";
    for (const LabelledText& row : rows) content += concat(row.label, "\t", row.text, "\n");
    return content;
  });
  Decisive decisive;
  texts.for_each([&](const LabelledText& row, Split) {
    for (const Span& span : row.decisive) decisive[row.text].emplace_back(span.begin, span.end);
  });
  write_description(folder, "documents", generator_json(options, as),
                    {{"truth", decisive_json(decisive)}});
}

}  // namespace fovea
