#include "fovea/base/options.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "fovea/base/error.h"

namespace fovea {

namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

/// "[1,2]" and "1,2" and "1" all mean a list.
std::vector<std::string> list_items(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']')
    text = trim(text.substr(1, text.size() - 2));
  std::vector<std::string> items = split(text, ',');
  for (std::string& item : items) item = std::string(trim(item));
  return items;
}

bool parse_bool(std::string_view text, bool& value) {
  for (const char* yes : {"true", "yes", "on", "1"})
    if (text == yes) return value = true, true;
  for (const char* no : {"false", "no", "off", "0"})
    if (text == no) return value = false, true;
  return false;
}

}  // namespace

Option& Option::formerly(const std::string& name) {
  former_key_ = key_.substr(0, key_.rfind('.') + 1) + name;
  return *this;
}

std::string Option::type() const {
  return std::visit(
      Overloaded{[](bool*) { return "yes/no"; }, [](int64_t*) { return "integer"; },
                 [](double*) { return "number"; }, [](std::string*) { return "text"; },
                 [](std::vector<int64_t>*) { return "list of integers"; },
                 [](std::vector<std::string>*) { return "list of texts"; }},
      field_);
}

std::string Option::limits() const {
  if (!choices_.empty()) return join(choices_);
  std::string text;
  if (std::isfinite(low_)) text += concat(low_is_open_ ? "> " : ">= ", low_);
  if (std::isfinite(high_))
    text += concat(text.empty() ? "" : ", ", high_is_open_ ? "< " : "<= ", high_);
  return text;
}

Json Option::value() const {
  return std::visit([](auto* field) { return Json(*field); }, field_);
}

void Option::refuse(const std::string& found) const {
  // Choices by the names that other programs have for them.
  static const std::map<std::string, std::string> kOtherNames{{"gpu", "cuda"}};
  const auto other = kOtherNames.find(found);
  const bool is_known = other != kOtherNames.end() && std::find(choices_.begin(), choices_.end(),
                                                                other->second) != choices_.end();
  const std::string allowed = limits();
  constexpr size_t kShown = 200;  // bytes of what may come from a damaged file
  fail(ErrorKind::InvalidArgument, "option ", key_, ": found '", shorten_bytes(found, kShown),
       "', expected ", type(), allowed.empty() ? "" : concat(" (", allowed, ")"),
       suggestion(is_known ? other->second : found, choices_), "; it means: ", help_);
}

void Option::check_number(double number) const {
  const bool low_fits = low_is_open_ ? number > low_ : number >= low_;
  const bool high_fits = high_is_open_ ? number < high_ : number <= high_;
  // Infinity has no place in JSON: a run could not be read back.
  if (!low_fits || !high_fits || !std::isfinite(number)) refuse(format_number(number, 10));
}

void Option::check() const {
  const auto check_choice = [this](const std::string& text) {
    if (!choices_.empty() && std::find(choices_.begin(), choices_.end(), text) == choices_.end())
      refuse(text);
  };
  std::visit(Overloaded{[](bool*) {}, [&](int64_t* number) { check_number(double(*number)); },
                        [&](double* number) { check_number(*number); },
                        [&](std::string* text) { check_choice(*text); },
                        [&](std::vector<int64_t>* list) {
                          for (int64_t number : *list) check_number(double(number));
                        },
                        [&](std::vector<std::string>* list) {
                          for (const auto& text : *list) check_choice(text);
                        }},
             field_);
}

void Option::set(const std::string& text) {
  const auto refuse_unless = [&](bool parsed) {
    if (!parsed) refuse(text);
  };
  // The old value comes back when the new one is refused.
  std::visit(
      [&](auto* field) {
        const auto before = *field;
        try {
          Overloaded{[&](bool* to) { refuse_unless(parse_bool(trim(text), *to)); },
                     [&](int64_t* to) { refuse_unless(parse_integer(text, *to)); },
                     [&](double* to) { refuse_unless(parse_number(text, *to)); },
                     [&](std::string* to) { *to = text; },
                     [&](std::vector<int64_t>* to) {
                       to->clear();
                       for (const std::string& item : list_items(text))
                         refuse_unless(parse_integer(item, to->emplace_back()));
                     },
                     [&](std::vector<std::string>* to) { *to = list_items(text); }}(field);
          check();
        } catch (...) {
          *field = before;
          throw;
        }
      },
      field_);
}

void Option::set(const Json& value) {
  if (value.is_string()) return set(value.get<std::string>());
  if (value.is_array()) {
    std::vector<std::string> items;
    for (const Json& item : value) {
      if (item.is_structured() || item.is_null()) refuse(value.dump());
      items.push_back(item.is_string() ? item.get<std::string>() : item.dump());
    }
    if (std::holds_alternative<std::vector<int64_t>*>(field_)) return set(join(items, ","));
    if (!std::holds_alternative<std::vector<std::string>*>(field_)) refuse(value.dump());
    auto& list =
        *std::get<std::vector<std::string>*>(field_);  // not through text: an item may hold a comma
    std::swap(list, items);
    try {
      return check();
    } catch (...) {
      std::swap(list, items);
      throw;
    }
  }
  if (value.is_object() || value.is_null()) refuse(value.dump());
  set(value.is_number_float() ? format_exact(value.get<double>()) : value.dump());
}

bool OptionList::has(const std::string& key) const {
  return std::any_of(options_.begin(), options_.end(),
                     [&](const Option& option) { return option.key() == key; });
}

Option& OptionList::find(const std::string& key) {
  std::vector<std::string> keys;
  for (Option& option : options_) {
    if (option.key() == key) return option;
    require(option.former_key() != key, ErrorKind::InvalidArgument, "the option '", key,
            "' is now called '", option.key(), "'");
    keys.push_back(option.key());
  }
  fail(ErrorKind::InvalidArgument, "there is no option '", shorten_bytes(key, 200), "'",
       suggestion(key, keys), "; `fovea tasks TASK` lists them all");
}

void OptionList::set(const std::string& key, const std::string& text) {
  find(key).set(text);
}

std::pair<std::string, std::string> split_assignment(const std::string& assignment) {
  const size_t equals = assignment.find('=');
  require(equals != std::string::npos && equals > 0, ErrorKind::InvalidArgument, "--set ",
          assignment, ": expected key=value, for example --set training.batch_size=64");
  return {std::string(trim(assignment.substr(0, equals))), assignment.substr(equals + 1)};
}

void OptionList::set_assignment(const std::string& assignment) {
  const auto [key, value] = split_assignment(assignment);
  set(key, value);
}

void OptionList::merge(const Json& object, const std::string& where) {
  merge(object, "", where);
}

void OptionList::merge(const Json& object, const std::string& prefix, const std::string& where) {
  require(object.is_object(), ErrorKind::BadData, where, ": ", prefix.empty() ? "a config" : prefix,
          " must be a JSON object, found ", object.type_name());
  for (const auto& [name, value] : object.items()) {
    const std::string key = prefix.empty() ? name : prefix + "." + name;
    if (value.is_object()) {
      const auto inside = [&](const Option& option) {
        return option.key().rfind(key + ".", 0) == 0;
      };
      if (value.empty() && std::none_of(options_.begin(), options_.end(), inside))
        fail(ErrorKind::InvalidArgument, where, ": there is no group of options '",
             shorten_bytes(key, 200), "'");
      merge(value, key, where);
      continue;
    }
    try {
      find(key).set(value);
    } catch (const Error& error) {
      fail(error.kind(), where, ": ", error.what());
    }
  }
}

Json OptionList::to_json() const {
  Json root = Json::object();
  for (const Option& option : options_) {
    Json* place = &root;
    for (const std::string& part : split(option.key(), '.')) place = &(*place)[part];
    *place = option.value();
  }
  return root;
}

namespace {

std::string shown(const Json& value) {
  if (value.is_string())
    return value.get<std::string>().empty() ? "\"\"" : value.get<std::string>();
  return value.dump();
}

}  // namespace

std::string OptionList::help_text() const {
  TextTable table({"option", "default", "meaning"});
  for (const Option& option : options_)
    table.add({option.key(), shown(option.value()),
               option.help() + (option.limits().empty() ? "" : " [" + option.limits() + "]")});
  return table.plain();
}

std::string OptionList::markdown() const {
  TextTable table({"option", "type", "default", "allowed", "meaning"});
  for (const Option& option : options_)
    table.add({"`" + option.key() + "`", option.type(), "`" + shown(option.value()) + "`",
               option.limits(), option.help()});
  return table.markdown();
}

}  // namespace fovea
