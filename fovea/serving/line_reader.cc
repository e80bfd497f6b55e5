#include "fovea/serving/line_reader.h"

namespace fovea::serving {

void refuse_request(const std::string& message) {
  throw HttpError(400, "bad_request", message);
}

std::optional<std::string> read_line(Connection& connection, size_t& budget,
                                     const HttpError& too_long) {
  std::string line;
  for (char character = 0;; line += character) {
    if (budget == 0) throw too_long;
    if (connection.read(&character, 1) == 0) {
      if (line.empty()) return std::nullopt;
      refuse_request("the request ends within a line");
    }
    --budget;
    const bool after_return = line.ends_with('\r');
    if (after_return && character == '\n') break;
    if (after_return) refuse_request("a line has a control character: a carriage return alone");
    if (character == '\n')
      refuse_request("a line has a control character: a line feed alone, not CR LF");
    const auto code = static_cast<unsigned char>(character);
    if ((code < 0x20 && character != '\t' && character != '\r') || code == 0x7f)
      refuse_request("a line has a control character");
  }
  line.pop_back();
  return line;
}

}  // namespace fovea::serving
