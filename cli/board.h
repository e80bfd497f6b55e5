// The page of trainings, for the commands that show it.
#pragma once

#include <filesystem>
#include <memory>

#include "fovea/serving/server.h"

namespace fovea::cli {

/// The page of one training, from before its folder is there until it has come to its end.
class LivePage {
 public:
  /// Listens on this machine alone; says where.
  LivePage(const std::filesystem::path& run, int port);

  /// The training is over. Pages that are open are given the time to see it.
  void end();

 private:
  std::shared_ptr<const serving::Board> board_;
  serving::Server server_;
};

}  // namespace fovea::cli
