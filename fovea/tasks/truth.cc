#include "fovea/tasks/truth.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "fovea/base/file.h"
#include "fovea/base/text.h"
#include "fovea/metrics/answers.h"

namespace fovea {
namespace {

constexpr const char* kNoLabels = "(none)";
constexpr const char* kNoAnswer = "no answer";

std::string text_in(const Json& answer, const char* key) {
  const auto found = answer.find(key);
  return found != answer.end() && found->is_string() ? found->get<std::string>() : "";
}

std::set<std::string> label_set(const std::string& text) {
  std::set<std::string> labels;
  if (text == kNoLabels) return labels;
  for (const std::string& label : split(text, '|')) labels.emplace(trim(label));
  labels.erase("");
  return labels;
}

KnownTruth compare_labels(const Json& answer, const std::string& truth) {
  std::set<std::string> given;
  for (const Json& label : answer["labels"]) given.insert(label.get<std::string>());
  const std::set<std::string> right = label_set(truth);
  const std::vector<std::string> names(right.begin(), right.end());
  return {names.empty() ? "no label" : join(names), given == right};
}

std::optional<KnownTruth> compare_number(double value, const std::string& truth) {
  double right = 0;
  if (!parse_number(trim(truth), right) || !std::isfinite(right)) return {};
  const double off = value - right;
  // As many digits as the difference needs, not those that rounding left behind.
  const bool same = std::abs(off) <= 1e-6 * std::max(std::abs(value), std::abs(right));
  return KnownTruth{format_number(right, 6),
                    {},
                    same ? "the same"
                         : concat("the answer is ", format_number(std::abs(off), 3),
                                  off > 0 ? " too high" : " too low")};
}

KnownTruth compare_tags(const Json& answer, const std::string& truth) {
  std::vector<std::string> right;
  for (const char mark : truth) {
    const bool is_between = mark == '|' || mark == ' ' || mark == '\t' || mark == '\n';
    if (right.empty() || (is_between && !right.back().empty())) right.emplace_back();
    if (!is_between) right.back() += mark;
  }
  if (right.back().empty()) right.pop_back();
  return {join(right, " "), answer["tags"] == Json(right)};
}

KnownTruth compare_spans(const Json& answer, const std::string& truth) {
  const auto words = [](const std::string& text) {
    return text == kNoAnswer ? "" : normalise_answer(text);
  };
  return {truth, words(text_in(answer, "answer")) == words(std::string(trim(truth)))};
}

void sort_shares(std::vector<AnswerShare>& shares, const std::string& truth) {
  std::ranges::stable_sort(shares, std::ranges::greater(), &AnswerShare::probability);
  const std::set<std::string> right = label_set(truth);
  size_t place = 0;
  std::erase_if(shares, [&](const AnswerShare& share) {
    return place++ >= kMostShares && !share.given && !right.contains(share.label) &&
           share.label != truth;
  });
}

/// The text of a value, as a form or a file has it; 1248, 1248.0 and "1248" are one number.
std::string as_text(const Json& value) {
  if (value.is_null()) return "";
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  double number = 0;
  return parse_number(trim(text), number) ? format_exact(number) : std::string(trim(text));
}

}  // namespace

std::optional<KnownTruth> compare_truth(const Json& answer, const std::string& truth) {
  if (truth.empty() || !answer.is_object()) return {};
  if (answer.contains("labels") && answer["labels"].is_array())
    return compare_labels(answer, truth);
  for (const char* key : {"value", "rating"})
    if (answer.contains(key) && answer[key].is_number())
      return compare_number(answer[key].get<double>(), truth);
  if (answer.contains("tags") && answer["tags"].is_array()) return compare_tags(answer, truth);
  if (answer.contains("answer") && answer.contains("score")) return compare_spans(answer, truth);
  for (const char* key : {"class", "choice", "text"})
    if (answer.contains(key)) return KnownTruth{truth, trim(text_in(answer, key)) == trim(truth)};
  return {};
}

std::string named_choice(const Json& answer, const Prediction& prediction,
                         const std::string& truth) {
  double place = 0;
  if (!answer.is_object() || !answer.contains("choice") || !parse_number(trim(truth), place))
    return truth;
  for (const Decoded& output : prediction.outputs)
    if (!output.tokens.empty() && double(output.tokens[0]) == place) return output.text;
  return truth;
}

std::vector<AnswerShare> answer_shares(const Json& answer, const Prediction& prediction,
                                       const std::string& truth) {
  std::vector<AnswerShare> shares;
  if (!answer.is_object()) return shares;
  const auto scores = answer.find("scores");
  if (scores != answer.end() && scores->is_object()) {
    std::set<std::string> given{text_in(answer, "class")};
    if (answer.contains("labels"))
      for (const Json& label : answer["labels"]) given.insert(label.get<std::string>());
    for (const auto& [label, probability] : scores->items())
      if (probability.is_number())
        shares.push_back({label, probability.get<double>(), given.contains(label)});
  } else if (answer.contains("probabilities")) {  // choices, which each have a text
    for (const Decoded& output : prediction.outputs)
      shares.push_back({output.text, std::exp(output.log_probability), shares.empty()});
  }
  sort_shares(shares, truth);
  return shares;
}

std::optional<std::string> sameness_key(const Json& answer) {
  if (!answer.is_object() || answer.contains("value") || answer.contains("rating")) return {};
  for (const char* key : {"labels", "tags", "class", "choice", "text"})
    if (answer.contains(key)) return answer[key].dump();
  if (answer.contains("answer") && answer.contains("score")) return answer["answer"].dump();
  return {};
}

std::string input_key(const Json& input) {
  ContentHash hash;
  if (!input.is_object()) {
    hash.add(as_text(input));
    return hash.text();
  }
  std::map<std::string, std::string> fields;  // in the order of their names
  for (const auto& [name, value] : input.items())
    if (!as_text(value).empty()) fields[name] = as_text(value);
  for (const auto& [name, text] : fields) hash.add(concat(name.size(), " ", name, " ", text, "\n"));
  return hash.text();
}

}  // namespace fovea
