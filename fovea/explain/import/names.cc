#include "fovea/explain/import/names.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

#include "fovea/base/names.h"
#include "fovea/base/text.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Strong: a layer wherever it stands. Weak: a layer where several tensors differ in it.
enum class Counts { Nothing, Weak, Strong, Head };

/// A run of digits in a name.
struct Number {
  size_t begin = 0, end = 0;
  size_t word = 0;  // where the word before it begins that says only what it counts
  Counts counts = Counts::Nothing;
  int64_t value = 0;
};

struct Word {
  const char* text;
  Counts counts;
  bool drop;  // the family's name does without it
};
constexpr Word kWords[] = {{"layers", Counts::Strong, true},    {"layer", Counts::Strong, true},
                           {"blocks", Counts::Strong, true},    {"block", Counts::Strong, true},
                           {"heads", Counts::Head, true},       {"head", Counts::Head, true},
                           {"attentions", Counts::Weak, false}, {"attention", Counts::Weak, false},
                           {"attns", Counts::Weak, false},      {"attn", Counts::Weak, false},
                           {"weights", Counts::Weak, false},    {"arr", Counts::Weak, true}};

/// What the number counts, by the letters before it; "h.3" and "l3" are layers, too.
void read_word(const std::string& name, Number& number) {
  size_t end = number.begin;
  while (end > 0 && std::isalnum(static_cast<unsigned char>(name[end - 1])) == 0) --end;
  size_t begin = end;
  while (begin > 0 && std::isalpha(static_cast<unsigned char>(name[begin - 1])) != 0) --begin;
  const std::string letters = lower_ascii(name.substr(begin, end - begin));
  number.word = number.begin;
  if (letters.empty() && number.begin == 0 && number.end == name.size())
    number.counts = Counts::Weak;
  if (letters == "h" || letters == "l") number.counts = Counts::Strong, number.word = begin;
  for (const Word& word : kWords) {
    if (!letters.ends_with(word.text)) continue;
    number.counts = word.counts;
    if (word.drop) number.word = end - std::string_view(word.text).size();
    return;
  }
}

std::vector<Number> counting_numbers(const std::string& name) {
  constexpr size_t kLongest = 6;  // more digits are a date or an identifier
  std::vector<Number> numbers;
  for (size_t at = 0; at < name.size();) {
    Number number{at, at};
    while (number.end < name.size() && is_digit(name[number.end])) ++number.end;
    at = number.end + 1;
    if (number.end == number.begin || number.end - number.begin > kLongest) continue;
    parse_integer(std::string_view(name).substr(number.begin, number.end - number.begin),
                  number.value);
    read_word(name, number);
    if (number.counts != Counts::Nothing) numbers.push_back(number);
  }
  return numbers;
}

/// The name with another text for its counting numbers. Names that differ only in them belong
/// together.
std::string name_pattern(const std::string& name, const std::vector<Number>& numbers) {
  std::string pattern = name;
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number)
    pattern.replace(number->begin, number->end - number->begin, "*");
  return pattern;
}

/// Tensors of one pattern: which of its numbers vary, and which is the layer and the head.
struct Group {
  std::vector<std::set<int64_t>> values;  // of each number
  int layer = -1, head = -1;

  void choose(const std::vector<Number>& numbers, const TensorName& name) {
    int best = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const bool varies = values[i].size() > 1, strong = numbers[i].counts == Counts::Strong;
      const int rank = (varies ? 2 : 0) + (strong ? 1 : 0);
      if (numbers[i].counts == Counts::Head) {
        if (head < 0 && name.one_head) head = int(i);
      } else if (rank > best && name.one_layer) {
        best = rank;
        layer = int(i);
      }
    }
  }
};

/// The name without its layer and its head: "encoder.layers.3.attn" is "encoder.attn".
std::string family_name(const std::string& name, const std::vector<Number>& numbers,
                        const Group& group) {
  std::string family = name;
  for (int i = int(numbers.size()); i-- > 0;) {
    if (i != group.layer && i != group.head) continue;
    size_t begin = numbers[size_t(i)].word, end = numbers[size_t(i)].end;
    const auto separates = [&](size_t at) {
      return std::isalnum(static_cast<unsigned char>(family[at])) == 0;
    };
    while (end < family.size() && separates(end)) ++end;
    if (end == family.size())
      while (begin > 0 && separates(begin - 1)) --begin;
    family.erase(begin, end - begin);
  }
  return family.empty() || lower_ascii(family) == "arr_0" ? "attention" : family;
}

/// Two patterns may lose their difference with their layers; the later one then keeps its own.
class Families {
 public:
  std::string name_for(const std::string& family, const std::string& key) {
    const auto [known, fresh] = owners_.emplace(family, key);
    return known->second == key ? family : key;
  }

 private:
  std::map<std::string, std::string> owners_;
};

/// Names that count from 0 are shown from 1, as everything here.
void count_from_one(std::vector<TensorPlace>& places) {
  for (int64_t TensorPlace::*number : {&TensorPlace::layer, &TensorPlace::head}) {
    std::map<std::string, int64_t> least;
    for (const TensorPlace& place : places)
      if (place.*number >= 0) {
        int64_t& smallest = least.emplace(place.family, place.*number).first->second;
        smallest = std::min(smallest, place.*number);
      }
    for (TensorPlace& place : places) {
      if (place.*number < 0)
        place.*number = 0;
      else if (least[place.family] == 0)
        ++(place.*number);
    }
  }
}

}  // namespace

std::vector<TensorPlace> place_tensors(const std::vector<TensorName>& names) {
  std::map<std::string, Group> groups;
  std::vector<std::vector<Number>> numbers;
  for (const TensorName& name : names) {
    numbers.push_back(counting_numbers(name.name));
    Group& group = groups[name_pattern(name.name, numbers.back())];
    group.values.resize(numbers.back().size());
    for (size_t i = 0; i < numbers.back().size(); ++i)
      group.values[i].insert(numbers.back()[i].value);
  }
  Families families;
  std::vector<TensorPlace> places;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string pattern = name_pattern(names[i].name, numbers[i]);
    Group group = groups[pattern];
    group.choose(numbers[i], names[i]);
    TensorPlace place{i, family_name(names[i].name, numbers[i], group), -1, -1};
    std::string key = names[i].name;  // with a star for what the family counts
    for (int number = int(numbers[i].size()); number-- > 0;) {
      if (number != group.layer && number != group.head) continue;
      const Number& counted = numbers[i][size_t(number)];
      (number == group.layer ? place.layer : place.head) = counted.value;
      key.replace(counted.begin, counted.end - counted.begin, "*");
    }
    place.family = families.name_for(place.family, key);
    places.push_back(std::move(place));
  }
  count_from_one(places);
  std::set<std::tuple<std::string, int64_t, int64_t>> taken;
  for (TensorPlace& place : places)  // "layer_1" and "layer_01"
    if (!taken.emplace(place.family, place.layer, place.head).second)
      place = {place.tensor, names[place.tensor].name, 0, 0};
  std::ranges::stable_sort(places, [](const TensorPlace& a, const TensorPlace& b) {
    if (a.family != b.family) return natural_less(a.family, b.family);
    return std::pair(a.layer, a.head) < std::pair(b.layer, b.head);
  });
  return places;
}

AttentionRole attention_role(const std::string& name) {
  const std::string text = lower_ascii(name);
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  const bool decoder = has("decoder");
  if (has("cross") || has("encdec") || has("enc_dec") || has("src_attn") ||
      (decoder && (has("encoder_att") || has("multihead_attn") || has("encoder_decoder"))))
    return AttentionRole::Cross;
  return decoder          ? AttentionRole::Decoder
         : has("encoder") ? AttentionRole::Encoder
                          : AttentionRole::Unknown;
}

}  // namespace fovea
