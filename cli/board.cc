#include "cli/board.h"

#include <iostream>
#include <thread>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/tasks/watch_history.h"

namespace fovea::cli {

namespace {

struct BoardFlags {
  std::vector<std::string> runs;
  std::string out;
  int port = 8080;
};

constexpr std::chrono::milliseconds kLastLook{2500};  // pages ask about once a second

/// On this machine alone, without a log.
serving::ServerOptions board_options(std::shared_ptr<const serving::Board> board, int port) {
  serving::ServerOptions options;
  options.transport.port = port;
  options.log = "none";
  options.board = std::move(board);
  return options;
}

void run_board(const BoardFlags& flags) {
  const std::vector<std::filesystem::path> runs(flags.runs.begin(), flags.runs.end());
  if (!flags.out.empty()) {
    check_output_file(flags.out);
    write_file(flags.out, serving::board_file(runs));
    put_line(flags.out);
    return;
  }
  for (size_t i = 0; i < runs.size(); ++i) training_history(RunFolder(runs[i]), flags.runs[i]);
  const HeldSignals signals;
  const auto board = std::make_shared<const serving::Board>(runs, /*live=*/false);
  serving::Server server(board_options(board, flags.port), {});
  std::cout << "listening on " << server.address() << "\n" << std::flush;
  while (!signals.wait(1000)) {
  }
  server.drain(std::chrono::seconds(2));
}

}  // namespace

LivePage::LivePage(const std::filesystem::path& run, int port)
    : board_(std::make_shared<const serving::Board>(std::vector{run}, /*live=*/true)),
      server_(board_options(board_, port), {}) {
  tell(concat("page: ", server_.address()));
}

void LivePage::end() {
  const auto until = serving::Clock::now() + kLastLook;
  while (board_->is_watched() && serving::Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void add_board(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "board", "shows trainings, finished ones and those under way: curves, options, attention");
  auto flags = std::make_shared<BoardFlags>();
  command->add_option("runs", flags->runs, "folders made by fovea train")->required();
  command->add_option("--port", flags->port, "of the page on this machine; 0: any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command->add_option("--out", flags->out,
                      "write the page as one HTML file instead, which needs no server");
  command->footer(
      "Examples:\n"
      "  fovea board runs/first --out board.html\n"
      "  fovea board runs/first --port 8084\n"
      "  fovea board runs/first runs/tag --port 8083\n"
      "Then open http://127.0.0.1:8083 in a browser; Ctrl-C ends it.");
  command->callback([flags] { run_board(*flags); });
}

}  // namespace fovea::cli
