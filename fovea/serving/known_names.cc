#include "fovea/serving/known_names.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/text.h"

namespace fovea::serving {

void KnownNames::take(Json& schema) {
  const auto properties = schema.find("properties");
  if (schema.contains("items")) take(schema["items"]);
  if (properties == schema.end()) return;
  for (auto& [name, property] : properties->items()) {
    const auto known = property.find("known");
    if (known == property.end()) {
      take(property);
      continue;
    }
    std::vector<std::string> all = known->get<std::vector<std::string>>();
    const auto shown = all.begin() + std::ptrdiff_t(std::min(all.size(), kNamesShown));
    *known = {{"count", all.size()}, {"names", std::vector<std::string>(all.begin(), shown)}};
    names_[name] = std::move(all);
  }
}

std::vector<std::string> KnownNames::properties() const {
  std::vector<std::string> list;
  for (const auto& [name, all] : names_) list.push_back(name);
  return list;
}

std::vector<std::string> KnownNames::find(const std::string& property,
                                          const std::string& text) const {
  const auto all = names_.find(property);
  require(all != names_.end(), ErrorKind::NotFound, "there are no names of '",
          shorten_bytes(property, 64), "'; there are those of: ", join(properties()));
  const std::string wanted = lower_case(text);
  std::vector<std::string> beginning, holding;
  for (const std::string& name : all->second) {
    const size_t place = lower_case(name).find(wanted);
    if (place == 0) beginning.push_back(name);
    if (beginning.size() == kNamesShown) return beginning;
    const bool holds = place != 0 && place != std::string::npos;
    if (holds && holding.size() < kNamesShown) holding.push_back(name);
  }
  holding.resize(std::min(holding.size(), kNamesShown - beginning.size()));
  beginning.insert(beginning.end(), holding.begin(), holding.end());
  return beginning;
}

}  // namespace fovea::serving
