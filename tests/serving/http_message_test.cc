#include "fovea/serving/http_message.h"

#include <gtest/gtest.h>

#include <new>

namespace fovea::serving::http_message_test {
namespace {

TEST(HttpMessage, Accepts) {
  EXPECT_TRUE(accepts("gzip", "gzip"));
  EXPECT_TRUE(accepts("br, GZip;q=0.5", "gzip"));
  EXPECT_TRUE(accepts("keep-alive , Close", "close"));
  EXPECT_FALSE(accepts("gzip;q=0", "gzip"));
  EXPECT_FALSE(accepts("gzip; q=0.0, br", "gzip"));
  EXPECT_FALSE(accepts("xgzip, gzipx", "gzip"));
  EXPECT_FALSE(accepts("", "gzip"));
  EXPECT_FALSE(accepts(",;,", "gzip"));
}

TEST(HttpMessage, KnowsTheTypeOfJson) {
  for (const char* type : {"application/json", "Application/JSON", "application/json;charset=utf-8",
                           "application/json ; Charset=\"UTF-8\""})
    EXPECT_TRUE(is_json_type(type)) << type;
  for (const char* type : {"", ";", "text/plain", "application/x-www-form-urlencoded", "text/json",
                           "application/jsonp", "application/json;charset=latin1",
                           "text/plain;application/json", "application/json;x"})
    EXPECT_FALSE(is_json_type(type)) << type;
}

TEST(HttpMessage, FindsTheNameOfAHost) {
  EXPECT_EQ(host_name("LocalHost"), "localhost");
  EXPECT_EQ(host_name("127.0.0.1:8080"), "127.0.0.1");
  EXPECT_EQ(host_name("[::1]"), "[::1]");
  EXPECT_EQ(host_name("[::1]:8080"), "[::1]");
  EXPECT_EQ(host_name("localhost:1@evil.example:80"), "localhost:1@evil.example");
  EXPECT_EQ(host_name(""), "");
}

TEST(HttpMessage, AnAnswerSaysHowLongItIs) {
  HttpResponse response;
  response.status = 503;
  response.body = "{}";
  response.headers = {{"Retry-After", "1"}};
  const std::string text = format_response(response, kClose);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nDate: "));
  EXPECT_TRUE(text.ends_with("Content-Length: 2\r\nConnection: close\r\n\r\n{}")) << text;
  EXPECT_TRUE(format_response(response, kClose, false).ends_with("Connection: close\r\n\r\n"));
  response.status = 204;
  response.body = "";
  const std::string empty = format_response(response, "");
  EXPECT_TRUE(empty.starts_with("HTTP/1.1 204 No Content\r\n"));
  EXPECT_EQ(empty.find("Content-"), std::string::npos) << empty;
}

TEST(HttpMessage, TheDateIsThatOfRfc9110) {
  const std::string date = http_date();
  EXPECT_EQ(date.size(), 29u) << date;
  EXPECT_TRUE(date.ends_with(" GMT"));
}

TEST(HttpError, OurOwnFaultsTellNoDetails) {
  std::string detail;
  const auto status_of = [&](auto error) {
    detail.clear();
    return error_of(std::make_exception_ptr(error), detail);
  };
  const HttpError internal = status_of(Error(ErrorKind::Internal, "a secret"));
  EXPECT_EQ(internal.status(), 500);
  EXPECT_EQ(std::string(internal.what()).find("secret"), std::string::npos);
  EXPECT_EQ(detail, "a secret");
  EXPECT_EQ(status_of(Error(ErrorKind::Io, "a secret")).status(), 500);
  EXPECT_EQ(status_of(std::runtime_error("a secret")).status(), 500);
  EXPECT_EQ(detail, "a secret");
  EXPECT_EQ(status_of(std::bad_alloc()).status(), 500);
  EXPECT_EQ(status_of(5).status(), 500);
}

TEST(HttpError, EveryKindHasItsStatus) {
  std::string detail;
  for (const ErrorKind kind : {ErrorKind::InvalidArgument, ErrorKind::BadData, ErrorKind::NotFound,
                               ErrorKind::Unsupported}) {
    const HttpError error = error_of(std::make_exception_ptr(Error(kind, "why")), detail);
    EXPECT_EQ(error.status(), 422);
    EXPECT_EQ(error.kind(), name_of(kind));
    EXPECT_STREQ(error.what(), "why");
    EXPECT_EQ(error_of_input(Error(kind, "why"), "input").field(), "input");
  }
  const HttpError same =
      error_of(std::make_exception_ptr(HttpError(429, "queue_full", "full")), detail);
  EXPECT_EQ(same.status(), 429);
}

TEST(HttpError, ShortensBetweenCharacters) {
  EXPECT_EQ(shorten_bytes("abc", 3), "abc");
  EXPECT_EQ(shorten_bytes("abcd", 3), "abc…");
  EXPECT_EQ(shorten_bytes("ääää", 3), "ä…");
}

}  // namespace
}  // namespace fovea::serving::http_message_test
