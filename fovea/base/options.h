// Described options. An options struct is a plain aggregate with defaults and one function
//   void describe(OptionList& list) { list.add("layers", layers, "number of stacked
//   layers").at_least(1); }
// That single list gives config files, `--set model.layers=6`, help, docs and the metadata of a
// run.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

/// One named, documented reference to a field of an options struct.
class Option {
 public:
  using Field = std::variant<bool*, int64_t*, double*, std::string*, std::vector<int64_t>*,
                             std::vector<std::string>*>;
  Option(std::string key, Field field, std::string help)
      : key_(std::move(key)), help_(std::move(help)), field_(field) {}

  Option& choices(std::vector<std::string> allowed) { return choices_ = std::move(allowed), *this; }
  Option& at_least(double low) { return low_ = low, *this; }
  Option& at_most(double high) { return high_ = high, *this; }
  Option& within(double low, double high) { return at_least(low).at_most(high); }
  Option& above(double low) { return low_ = low, low_is_open_ = true, *this; }
  /// The name that it had before: asked for, it is answered with the new one.
  Option& formerly(const std::string& name);
  Option& below(double high) { return high_ = high, high_is_open_ = true, *this; }
  /// At least 0 and below 1, as a rate of dropout.
  Option& rate() { return at_least(0).below(1); }

  const std::string& key() const { return key_; }                // "training.epochs"
  const std::string& former_key() const { return former_key_; }  // or ""
  const std::string& help() const { return help_; }
  std::string type() const;    // "integer", "number", "text", "yes/no", "list of integers", …
  std::string limits() const;  // "rnn, gru, lstm" or ">= 1" or ""
  Json value() const;
  void set(const std::string& text);  // from a command line
  void set(const Json& value);        // from a config file

 private:
  void check() const;
  void check_number(double number) const;
  [[noreturn]] void refuse(const std::string& found) const;
  std::string key_, former_key_, help_;
  Field field_;
  std::vector<std::string> choices_;
  double low_ = -std::numeric_limits<double>::infinity();
  double high_ = std::numeric_limits<double>::infinity();
  bool low_is_open_ = false, high_is_open_ = false;
};

/// "a.b=c" as key and value. InvalidArgument when there is no key.
std::pair<std::string, std::string> split_assignment(const std::string& assignment);

/// The options of a whole program: every group under its prefix. Holds references: the structs must
/// outlive it.
class OptionList {
 public:
  template <class Field>
  Option& add(const std::string& name, Field& field, const std::string& help) {
    return options_.emplace_back(prefix_ + name, &field, help);
  }
  /// Everything that `options` describes, under "name.".
  template <class Options>
  void group(const std::string& name, Options& options) {
    const std::string outer = prefix_;
    prefix_ += name + ".";
    options.describe(*this);
    prefix_ = outer;
  }

  /// Sets one key from text. InvalidArgument names the nearest known key.
  void set(const std::string& key, const std::string& text);
  /// "a.b=c".
  void set_assignment(const std::string& assignment);
  /// Sets all keys of a nested JSON object; `where` names the file in an error.
  void merge(const Json& object, const std::string& where);

  Json to_json() const;           // nested by the dots
  std::string help_text() const;  // for a terminal
  std::string markdown() const;   // for docs
  const std::deque<Option>& options() const { return options_; }
  bool has(const std::string& key) const;
  Option& find(const std::string& key);

 private:
  void merge(const Json& object, const std::string& prefix, const std::string& where);
  std::string prefix_;
  std::deque<Option> options_;
};

/// The values of all options, nested by the dots.
template <class Options>
Json options_json(Options options) {
  OptionList list;
  options.describe(list);
  return list.to_json();
}

}  // namespace fovea
