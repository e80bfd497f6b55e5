// A refusal that the client gets to read: a status, a kind for programs, a sentence for people, and
// the field of the request that is to blame. docs/formats/http.md lists the statuses.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea::serving {

class HttpError : public std::runtime_error {
 public:
  HttpError(int status, std::string kind, const std::string& message, std::string field = "")
      : std::runtime_error(message),
        status_(status),
        kind_(std::move(kind)),
        field_(std::move(field)) {}

  int status() const { return status_; }
  const std::string& kind() const { return kind_; }
  const std::string& field() const { return field_; }
  Json to_json() const;  // {"error": {"kind": …, "message": …, "field": …}}

 private:
  int status_;
  std::string kind_, field_;
};

/// Throws a 400 about a field of the request's body.
template <class... Pieces>
[[noreturn]] void refuse_field(const std::string& field, const Pieces&... pieces) {
  throw HttpError(400, "bad_request", concat(field.empty() ? "" : field + ": ", pieces...), field);
}

/// An Error about an input as the client reads it: 422, or 500 where the fault is ours.
HttpError error_of_input(const Error& error, const std::string& field);

/// Any exception as the client reads it. What is not a refusal or an Error is a mistake of ours:
/// the client learns no details, `detail` does.
HttpError error_of(std::exception_ptr exception, std::string& detail);

}  // namespace fovea::serving
