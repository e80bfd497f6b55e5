#include "fovea/data/documents/words.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <ranges>
#include <unordered_map>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/data/encode_rows.h"
#include "fovea/data/padding.h"
#include "fovea/data/tokenisers/word_form.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr int64_t kMostNumbers = 8'000'000;  // units times classes
constexpr int64_t kFewestUnits = 20'000;     // that many classes leave
// Between the two texts of a pair, and in front of the words of the second one.
constexpr char kSecond = '\t';

struct BagText {
  std::string text;
  std::vector<std::string> words, forms;  // as they are written, and as units
  std::vector<Span> spans;
  int64_t cut = 0;  // words that were cut off
};

BagText cut_bag(const LabelledDocument& document, const BagDataOptions& options) {
  BagText bag;
  bag.text = document.second.empty() ? document.text : document.text + kSecond + document.second;
  HierarchicalDataOptions limits;
  limits.maximum_sentences = limits.maximum_words = options.maximum_words;
  CutDocument cut = cut_document(bag.text, limits);
  const auto kept = std::min(cut.words.size(), size_t(options.maximum_words));
  bag.cut = cut.cut + int64_t(cut.words.size() - kept);
  cut.words.resize(kept);
  cut.spans.resize(kept);
  const int64_t second = document.second.empty() ? INT64_MAX : count_code_points(document.text);
  for (size_t i = 0; i < kept; ++i)
    bag.forms.push_back((cut.spans[i].begin > second ? std::string(1, kSecond) : "") +
                        word_form(cut.words[i], options.lowercase));
  bag.words = std::move(cut.words);
  bag.spans = std::move(cut.spans);
  return bag;
}

std::string bigram(const BagText& bag, size_t place) {
  return bag.forms[place] + " " + bag.forms[place + 1];
}

/// units [W, 2] of a text, and how often each stands there, [W, 2]; 0: it is special.
struct BagUnits {
  std::vector<int64_t> units;
  std::vector<uint16_t> times;

  static float share(uint16_t times) { return times == 0 ? 0.0F : 1.0F / float(times); }
  std::vector<float> shares() const {
    std::vector<float> all;
    for (const uint16_t own : times) all.push_back(share(own));
    return all;
  }
};

BagUnits number_units(const BagText& bag, const BagEncoder& encoder) {
  const size_t words = bag.forms.size();
  BagUnits numbered{std::vector<int64_t>(2 * words, Vocabulary::kPadding),
                    std::vector<uint16_t>(2 * words, 0)};
  std::unordered_map<int64_t, int64_t> counts;
  for (size_t i = 0; i < words; ++i) {
    numbered.units[2 * i] = encoder.vocabulary->id(bag.forms[i]);
    if (encoder.options.bigrams && i + 1 < words)
      numbered.units[2 * i + 1] = encoder.vocabulary->id(bigram(bag, i));
  }
  for (const int64_t unit : numbered.units) ++counts[unit];
  for (size_t i = 0; i < numbered.units.size(); ++i)
    if (!Vocabulary::is_special(numbered.units[i]))
      numbered.times[i] = uint16_t(std::min<int64_t>(counts[numbered.units[i]], UINT16_MAX));
  return numbered;
}

}  // namespace

void BagDataOptions::describe(OptionList& list) {
  list.add("lowercase", lowercase, "words in lower case are the same");
  list.add("bigrams", bigrams, "two neighbouring words are a unit, besides each of them");
  list.add("minimum_count", minimum_count, "words that training saw less often are unknown")
      .at_least(1);
  list.add("minimum_bigram_count", minimum_bigram_count, "likewise of bigrams").at_least(1);
  list.add("vocabulary_size", vocabulary_size,
           "most words and bigrams, the most frequent; with many classes at most 8 million / "
           "classes")
      .at_least(1);
  list.add("maximum_words", maximum_words, "words of a text beyond these are cut off").at_least(1);
}

Vocabulary learn_units(const Rows<LabelledDocument>& documents, int64_t classes,
                       const BagDataOptions& options) {
  UnitCounts all =
      count_units(documents, [&](const LabelledDocument& document, UnitCounts& counts) {
        const BagText bag = cut_bag(document, options);
        for (size_t i = 0; i < bag.forms.size(); ++i) {
          ++counts[bag.forms[i]];
          if (options.bigrams && i + 1 < bag.forms.size()) ++counts[bigram(bag, i)];
        }
      });
  const auto is_rare = [&](const auto& unit) {
    const bool is_bigram = unit.first.find(' ') != std::string::npos;
    return unit.second < (is_bigram ? options.minimum_bigram_count : options.minimum_count);
  };
  std::erase_if(all, is_rare);
  const int64_t most =
      std::min(options.vocabulary_size, std::max(kFewestUnits, kMostNumbers / classes));
  const Vocabulary vocabulary =
      Vocabulary::from_counts({all.begin(), all.end()}, 1, most + Vocabulary::kSpecial);
  require(vocabulary.size() > Vocabulary::kSpecial, ErrorKind::BadData, "no word is seen ",
          options.minimum_count,
          " times in the training texts, so all would be unknown; set data.minimum_count lower");
  return vocabulary;
}

Example BagEncoder::example(const LabelledDocument& document) const {
  const BagText bag = cut_bag(document, options);
  const auto words = static_cast<int64_t>(bag.words.size());
  const BagUnits numbered = number_units(bag, *this);
  Example example;
  example.tensors["units"] = at::tensor(numbered.units, at::kLong).view({words, 2});
  example.tensors["shares"] = at::tensor(numbered.shares(), at::kFloat).view({words, 2});
  Axis whole{"document", "document", {"document"}};
  Axis axis{"words", "word", bag.words};
  axis.parent = whole.name;
  axis.offsets = {0, words};
  axis.text = bag.text;
  axis.spans = bag.spans;
  example.axes = {whole, axis};
  example.add_cut("words", words, bag.cut);
  if (document.decisive.empty()) return example;
  const Tensor truth = at::zeros({1, words}, at::kBool);
  for (int64_t word = 0; word < words; ++word)
    for (const Span& span : document.decisive)
      if (span.begin < bag.spans[size_t(word)].end && bag.spans[size_t(word)].begin < span.end)
        truth.data_ptr<bool>()[word] = true;
  example.truth["words"] = truth;
  return example;
}

Batch collate_bags(std::span<const Example> examples) {
  Batch batch;
  batch.size = static_cast<int64_t>(examples.size());
  for (const char* name : {"units", "shares"})
    batch.tensors[name] = pad_tensors(examples, name);  // [B, W, 2]
  return batch;
}

Example erase_bag_words(const Example& example, std::span<const int64_t> units) {
  Example erased = example;
  Tensor& shares = erased.tensors.at("shares");
  shares = shares.clone();
  const int64_t words = shares.size(0);
  for (const int64_t unit : units) {
    require(unit >= 0 && unit < words, ErrorKind::InvalidArgument, "word ", unit,
            " cannot be erased: there are ", words);
    float* own = shares.data_ptr<float>() + 2 * unit;
    own[0] = own[1] = 0;
    if (unit > 0) own[-1] = 0;  // the bigram that ends here
  }
  return erased;
}

BagDataset::BagDataset(Rows<LabelledDocument> documents, BagEncoder encoder,
                       const std::string& where)
    : encoder_(std::move(encoder)) {
  struct Encoded {
    Row row;
    int64_t cut = 0;
  };
  const auto encode = [&](const LabelledDocument& document) {
    const BagText bag = cut_bag(document, encoder_.options);
    BagUnits numbered = number_units(bag, encoder_);
    return Encoded{{{numbered.units.begin(), numbered.units.end()}, std::move(numbered.times)},
                   bag.cut};
  };
  encode_rows(std::move(documents), where, "text", encode,
              [&](LabelledDocument&& document, Encoded&& encoded) {
                const std::vector<uint16_t>& times = encoded.row.times;
                cut_documents_ += encoded.cut > 0;
                cut_words_ += encoded.cut;
                empty_documents_ +=
                    std::count(times.begin(), times.end(), 0) == int64_t(times.size());
                rows_.push_back(std::move(encoded.row));
                add(std::move(document));
              });
}

int64_t BagDataset::length(int64_t row) const {
  return std::max<int64_t>(1, int64_t(rows_.at(size_t(row)).units.size()) / 2);
}

Json BagDataset::input(int64_t row) const {
  const LabelledDocument& own = document(row);
  if (own.second.empty()) return LabelledDataset::input(row);
  return {{"text", own.text}, {"second", own.second}};
}

Batch BagDataset::batch(std::span<const int64_t> rows) const {
  Batch batch;
  batch.size = static_cast<int64_t>(rows.size());
  const auto own = [&](int64_t row) -> const Row& { return rows_.at(size_t(rows[size_t(row)])); };
  const auto add = [&](const char* name, const Tensor& all) {
    batch.tensors[name] = all.view({batch.size, all.size(1) / 2, 2});  // [B, W, 2]
  };
  add("units", pad_rows<int64_t>(
                   batch.size, [&](int64_t i) -> const auto& { return own(i).units; }));
  add("shares", pad_rows<float>(batch.size, [&](int64_t i) {
        return own(i).times | std::views::transform(BagUnits::share);
      }));
  batch.tensors["target"] = targets(rows);  // [B]
  return batch;
}

}  // namespace fovea
