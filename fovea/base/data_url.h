// Files inside of inputs, as data URLs:
//   data:audio/wav;name=seven.wav;base64,UklGR…        the name is percent-encoded and may be
//   missing
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fovea {

struct DataUrl {
  std::string type;         // "audio/wav"
  std::string name;         // "seven.wav"; empty: unknown
  std::string_view base64;  // the file, not decoded
};

/// Nothing for what is no such URL. A name that would not be one line of UTF-8 stays encoded.
std::optional<DataUrl> split_data_url(std::string_view url);

/// Escapes such as %41 as the bytes that they stand for; what is no escape stays.
std::string percent_decode(std::string_view text);

std::string data_url(const std::string& type, const std::string& name, std::string_view bytes);

}  // namespace fovea
