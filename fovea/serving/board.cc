#include "fovea/serving/board.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/explain/draw/report.h"
#include "fovea/tasks/watch_history.h"

namespace fovea::serving {

namespace {

constexpr std::string_view kRunsPath = "/v1/runs";
constexpr std::chrono::seconds kLately{4};

HttpResponse json_answer(const std::string& body) {
  HttpResponse response;
  response.body = body;
  return response;
}

std::string one_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Where the run stands as long as it cannot be read.
Json without_history(const std::string& name, const char* state, const std::string& error) {
  return {{"name", name}, {"state", state}, {"error", error}};
}

/// The parts of a path as numbers; -1 for what is none.
int64_t place_in(const std::string& part) {
  int64_t place = -1;
  return parse_integer(part, place) && std::to_string(place) == part ? place : -1;
}

[[noreturn]] void refuse_path(const std::string& path) {
  throw HttpError(404, "not_found",
                  concat("there is nothing at ", shorten_bytes(path, 200),
                         "; GET /v1/runs lists the trainings"));
}

}  // namespace

std::vector<std::string> names_of_runs(const std::vector<std::filesystem::path>& runs) {
  std::vector<std::vector<std::string>> parts;  // of each path, the last one first
  for (const std::filesystem::path& run : runs) {
    std::vector<std::string> own;
    for (const auto& part : std::filesystem::absolute(run).lexically_normal())
      if (!part.empty() && part != "/") own.insert(own.begin(), part.string());
    parts.push_back(std::move(own));
  }
  const auto name = [&](size_t run, size_t count) {
    std::string text;
    for (size_t i = 0; i < std::min(count, parts[run].size()); ++i)
      text = i == 0 ? parts[run][i] : concat(parts[run][i], "/", text);
    return text;
  };
  std::vector<std::string> names;
  for (size_t run = 0; run < runs.size(); ++run) {
    size_t count = 1;
    const auto is_shared = [&] {
      for (size_t other = 0; other < runs.size(); ++other)
        if (other != run && name(other, count) == name(run, count)) return true;
      return false;
    };
    while (count < parts[run].size() && is_shared()) ++count;
    names.push_back(name(run, count));
  }
  return names;
}

Board::Board(const std::vector<std::filesystem::path>& runs, bool live) : live_(live) {
  const std::vector<std::string> names = names_of_runs(runs);
  for (size_t i = 0; i < runs.size(); ++i)
    runs_.push_back({runs[i], names[i], version_of_file(RunFolder(runs[i]).manifest())});
}

bool Board::is_watched() const {
  const Clock::time_point asked = asked_;
  return asked != Clock::time_point::min() && Clock::now() - asked < kLately;
}

HttpResponse Board::answer(const HttpRequest& request) const {
  asked_ = Clock::now();
  const std::string& path = request.path;
  if (path == kRunsPath) return list();
  if (!path.starts_with(concat(kRunsPath, "/"))) refuse_path(path);
  const std::vector<std::string> parts = split(path.substr(kRunsPath.size() + 1), '/');
  const int64_t run = parts.empty() ? -1 : place_in(parts[0]);
  if (run < 0 || run >= int64_t(runs_.size())) refuse_path(path);
  if (parts.size() == 1) return history(runs_[size_t(run)], request);
  const int64_t line = parts.size() == 3 && parts[1] == "attention" ? place_in(parts[2]) : -1;
  if (line < 0) refuse_path(path);
  try {
    return json_answer(watched_attention(RunFolder(runs_[size_t(run)].path), size_t(line)) + "\n");
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::NotFound) refuse_path(path);
    throw HttpError(422, "bad_data", error.what());
  }
}

HttpResponse Board::list() const {
  Json runs = Json::array();
  for (const Run& run : runs_) runs.push_back({{"name", run.name}});
  return json_answer(one_line({{"live", live_}, {"runs", std::move(runs)}}));
}

HttpResponse Board::history(const Run& run, const HttpRequest& request) const {
  const RunFolder folder(run.path);
  // Taken before the files are read: what is written meanwhile is sent the next time.
  const std::string tag = concat("\"", history_tag(folder), "\"");
  HttpResponse response;
  response.headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}};
  if (request.header("if-none-match") == tag) {
    response.status = 304;
    return response;
  }
  const bool is_before = live_ && version_of_file(folder.manifest()) == run.before;
  Json history;
  try {
    history =
        is_before ? without_history(run.name, "beginning", "") : training_history(folder, run.name);
  } catch (const Error& error) {
    const bool begins =
        error.kind() == ErrorKind::NotFound && (live_ || folder.is_held());  // or is between files
    history =
        without_history(run.name, begins ? "beginning" : "unreadable", begins ? "" : error.what());
  }
  response.body = one_line(history);
  return response;
}

std::string board_file(const std::vector<std::filesystem::path>& runs) {
  const std::vector<std::string> names = names_of_runs(runs);
  Json histories = Json::array();
  std::vector<std::pair<std::string, Json>> looks;
  for (size_t run = 0; run < runs.size(); ++run) {
    const RunFolder folder(runs[run]);
    histories.push_back(training_history(folder, names[run]));
    for (size_t line = 0; line < histories.back()["attention"].size(); ++line)
      looks.emplace_back(concat("attention-", run, "-", line),
                         parse_json(watched_attention(folder, line), runs[run].string()));
  }
  return board_html(concat("Training of ", join(names)),
                    {{"format", "fovea-board"}, {"version", 1}, {"runs", histories}}, looks);
}

}  // namespace fovea::serving
