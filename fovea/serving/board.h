// The trainings that a server shows, finished ones and those under way: GET /v1/runs and what lies
// below it (docs/formats/board.md). And the same as one file.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "fovea/serving/clock.h"
#include "fovea/serving/http_message.h"

namespace fovea::serving {

class Board {
 public:
  /// `live`: the server ends with the training, which is about to write that folder.
  Board(const std::vector<std::filesystem::path>& runs, bool live);

  /// GET of a path that begins with /v1/runs. HttpError 404; 304 where the client has it already.
  HttpResponse answer(const HttpRequest& request) const;

  /// A page that is open asks about once a second: whether one did so lately.
  bool is_watched() const;

 private:
  struct Run {
    std::filesystem::path path;
    std::string name;
    std::string before;  // version of the manifest that stood there before a live training
  };
  HttpResponse list() const;
  HttpResponse history(const Run& run, const HttpRequest& request) const;
  std::vector<Run> runs_;
  bool live_;
  mutable std::atomic<Clock::time_point> asked_{Clock::time_point::min()};
};

/// The last component of each path, and what stands before it where two are the same.
std::vector<std::string> names_of_runs(const std::vector<std::filesystem::path>& runs);

/// The board as one file that needs no server and no network. Each folder must be a run.
std::string board_file(const std::vector<std::filesystem::path>& runs);

}  // namespace fovea::serving
