#include "fovea/serving/http_message.h"

#include <algorithm>
#include <ctime>

namespace fovea::serving {

namespace {

/// For the statuses of docs/formats/http.md.
const char* reason_phrase(int status) {
  static constexpr std::pair<int, const char*> kPhrases[] = {
      {200, "OK"},
      {204, "No Content"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {411, "Length Required"},
      {413, "Payload Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {421, "Misdirected Request"},
      {422, "Unprocessable Entity"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
  };
  for (const auto& [known, phrase] : kPhrases)
    if (known == status) return phrase;
  return "Error";
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

std::string text_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool accepts(std::string_view header, std::string_view token) {
  for (const std::string& item : split(lower_case(header), ',')) {
    const std::vector<std::string> fields = split(item, ';');
    if (fields.empty() || trim(fields[0]) != token) continue;
    double quality = 1;
    for (size_t i = 1; i < fields.size(); ++i)
      if (trim(fields[i]).starts_with("q=")) parse_number(trim(fields[i]).substr(2), quality);
    return quality > 0;
  }
  return false;
}

bool is_json_type(std::string_view content_type) {
  const std::vector<std::string> fields = split(lower_case(content_type), ';');
  if (fields.empty() || trim(fields[0]) != "application/json") return false;
  return std::all_of(fields.begin() + 1, fields.end(), [](const std::string& field) {
    return trim(field) == "charset=utf-8" || trim(field) == "charset=\"utf-8\"";
  });
}

std::string host_name(std::string_view host) {
  const size_t bracket = host.rfind(']'), colon = host.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  return lower_case(has_port ? host.substr(0, colon) : host);
}

namespace {

void add_line(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ").append(value).append("\r\n");
}

/// The status and the headers, without the empty line behind them.
std::string first_lines(const HttpResponse& response, bool has_content) {
  std::string text =
      "HTTP/1.1 " + std::to_string(response.status) + " " + reason_phrase(response.status) + "\r\n";
  for (const auto& [name, value] : response.headers) add_line(text, name, value);
  add_line(text, "Date", http_date());
  if (has_content) add_line(text, "Content-Type", response.type);
  return text;
}

}  // namespace

std::string format_head(const HttpResponse& response, std::string_view connection) {
  return first_lines(response, true).append(connection).append("\r\n");
}

std::string format_response(const HttpResponse& response, std::string_view connection,
                            bool with_body) {
  std::string text = first_lines(response, !response.body.empty());
  if (response.status != 204 && response.status != 304)
    add_line(text, "Content-Length", std::to_string(response.body.size()));
  text.append(connection).append("\r\n");
  if (with_body) text += response.body;
  return text;
}

std::string http_date() {
  static const char* const kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static const char* const kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t now = std::time(nullptr);
  std::tm time{};
  ::gmtime_r(&now, &time);
  char text[64];  // not strftime, whose names follow the locale
  std::snprintf(text, sizeof text, "%s, %02d %s %d %02d:%02d:%02d GMT", kDays[time.tm_wday],
                time.tm_mday, kMonths[time.tm_mon], time.tm_year + 1900, time.tm_hour, time.tm_min,
                time.tm_sec);
  return text;
}

}  // namespace fovea::serving
