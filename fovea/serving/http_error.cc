#include "fovea/serving/http_error.h"

#include <new>

namespace fovea::serving {

namespace {

constexpr size_t kLongestMessage = 8000;  // bytes; an error may repeat what it found in an input

const char* const kOurFault =
    "something went wrong inside the server; its access log has the details under this request's "
    "id";

bool is_ours(ErrorKind kind) {
  return kind == ErrorKind::Io || kind == ErrorKind::Internal;
}

}  // namespace

Json HttpError::to_json() const {
  Json error{{"kind", kind_}, {"message", what()}};
  if (!field_.empty()) error["field"] = field_;
  return {{"error", std::move(error)}};
}

HttpError error_of_input(const Error& error, const std::string& field) {
  if (is_ours(error.kind())) throw error;
  return {422, name_of(error.kind()), shorten_bytes(error.what(), kLongestMessage), field};
}

HttpError error_of(std::exception_ptr exception, std::string& detail) {
  try {
    std::rethrow_exception(exception);
  } catch (const HttpError& error) {
    return error;
  } catch (const Error& error) {
    detail = error.what();
    if (!is_ours(error.kind()))
      return {422, name_of(error.kind()), shorten_bytes(error.what(), kLongestMessage)};
  } catch (const std::bad_alloc&) {
    detail = "out of memory";
  } catch (const std::exception& error) {
    detail = error.what();
  } catch (...) {
    detail = "an unknown exception";
  }
  return {500, "internal", kOurFault};
}

}  // namespace fovea::serving
