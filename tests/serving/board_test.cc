#include "fovea/serving/board.h"

#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "fovea/tasks/train.h"
#include "tests/serving/expect_refusal.h"
#include "tests/serving/test_server.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_run.h"

namespace fovea::board_test {
namespace {

using namespace testing;
using serving::Board;

class BoardServer : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    RunFolder folder(*folder_ / "first");
    auto setup =
        setup_of("features", {"model.name=attention", "data.rows=300", "training.epochs=2"});
    TrainRequest request;
    request.folder = &folder;
    request.watch = 1;
    train(setup, request);
    train_run(setup_of("features", {"model.name=attention", "data.rows=300", "training.epochs=1"}),
              *folder_ / "second");
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::filesystem::path path(const std::string& name) { return *folder_ / name; }
  static serving::ServerOptions options(const std::vector<std::filesystem::path>& runs, bool live) {
    serving::ServerOptions options = test_options();
    options.board = std::make_shared<const Board>(runs, live);
    return options;
  }
  static std::unique_ptr<TemporaryFolder> folder_;
};

std::unique_ptr<TemporaryFolder> BoardServer::folder_;

TEST_F(BoardServer, AnswersWithTheTrainings) {
  const serving::Server server(options({path("first"), path("second")}, false), {});
  const auto ask = [&](const std::string& at, const std::string& headers = "") {
    return get(server.port(), at, headers);
  };
  const Json list = ask("/v1/runs").json();
  EXPECT_EQ(list["live"], false);
  EXPECT_EQ(list["runs"][1]["name"], "second");
  const Answer first = ask("/v1/runs/0");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.json()["state"], "finished");
  EXPECT_EQ(first.json()["epochs"].size(), 2u);
  EXPECT_EQ(first.json()["attention"].size(), 3u);
  const std::string tag = first.headers.at("etag");
  const Answer again = ask("/v1/runs/0", "If-None-Match: " + tag + "\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_TRUE(again.body.empty());
  const Answer look = ask("/v1/runs/0/attention/2");
  EXPECT_EQ(look.json()["format"], "fovea-explanation");
  EXPECT_EQ(get(server.port(), "/health").status, 200);
}

TEST_F(BoardServer, ServesItsPage) {
  const serving::Server server(options({path("first")}, false), {});
  const Answer page = get(server.port(), "/");
  EXPECT_NE(page.body.find("board/start.js"), std::string::npos);
  const std::string policy = page.headers.at("content-security-policy");
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(policy.find("script-src 'unsafe-inline'"), std::string::npos);
  EXPECT_EQ(get(server.port(), "/web/board/start.js").status, 200);
  EXPECT_EQ(post(server.port(), "/v1/predict", R"({"input": "1"})").status, 404) << "no models";
  EXPECT_EQ(post(server.port(), "/v1/runs", "{}").status, 405);
}

TEST_F(BoardServer, RefusesWhatIsNotThere) {
  const serving::Server server(options({path("first")}, false), {});
  for (const char* at : {"/v1/runs/", "/v1/runs/1", "/v1/runs/-1", "/v1/runs/00",
                         "/v1/runs/0/attention", "/v1/runs/0/attention/3", "/v1/runs/x",
                         "/v1/runs/../0", "/v1/runs/0/attention/1/2", "/v1/runs/0/config.json"}) {
    const Answer answer = get(server.port(), at);
    EXPECT_EQ(answer.status, 404) << at;
    EXPECT_EQ(answer.kind(), "not_found") << at;
  }
  EXPECT_EQ(get(server.port(), "/v1/runs", "Host: elsewhere.example\r\n").status, 421);
  TestServer of_models;
  const Answer without = of_models.get("/v1/runs");
  EXPECT_EQ(without.status, 404);
  EXPECT_NE(without.body.find("fovea board"), std::string::npos);
}

TEST_F(BoardServer, WaitsForATrainingThatBegins) {
  TemporaryFolder folder;
  const auto run = folder / "run";
  const serving::ServerOptions live = options({run}, true);
  EXPECT_FALSE(live.board->is_watched());
  const serving::Server server(live, {});
  EXPECT_EQ(get(server.port(), "/v1/runs").json()["live"], true);
  EXPECT_TRUE(live.board->is_watched());
  EXPECT_EQ(get(server.port(), "/v1/runs/0").json()["state"], "beginning");
  std::filesystem::copy(path("first"), run, std::filesystem::copy_options::recursive);
  EXPECT_EQ(get(server.port(), "/v1/runs/0").json()["state"], "finished");
  // One that is replaced does not count before the new one has begun.
  const serving::Server second(options({run}, true), {});
  EXPECT_EQ(get(second.port(), "/v1/runs/0").json()["state"], "beginning");
}

TEST_F(BoardServer, TellsWhatCannotBeRead) {
  TemporaryFolder folder;
  std::filesystem::copy(path("first"), folder / "run", std::filesystem::copy_options::recursive);
  const serving::Server server(options({folder / "run"}, false), {});
  write_file(folder / "run/metrics.jsonl", "nonsense\n");
  const Json told = get(server.port(), "/v1/runs/0").json();
  EXPECT_EQ(told["state"], "unreadable");
  EXPECT_NE(told["error"].get<std::string>().find("metrics.jsonl:1"), std::string::npos);
}

TEST_F(BoardServer, IsOneFileToo) {
  const std::string html = serving::board_file({path("first"), path("second")});
  for (const char* part :
       {"id=\"runs\"", "id=\"attention-0-0\"", "id=\"attention-0-2\"", "fovea/board/start.js",
        "default-src 'none'", "connect-src 'none'", ".board-charts"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  EXPECT_EQ(html.find("id=\"attention-1-0\""), std::string::npos);
  EXPECT_EQ(html.find("<!--"), std::string::npos) << "every mark is filled";
  EXPECT_EQ(html.find("http://"), std::string::npos);
  EXPECT_EQ(html.find(folder_->path().string()), std::string::npos) << "no path of this machine";
  expect_error(ErrorKind::NotFound, "no such run",
               [] { serving::board_file({"/nowhere/at/all"}); });
}

TEST(Board, CallsRunsByWhatTellsThemApart) {
  EXPECT_EQ(serving::names_of_runs({"runs/a", "runs/b/"}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(serving::names_of_runs({"x/run", "y/run", "other"}),
            (std::vector<std::string>{"x/run", "y/run", "other"}));
}

}  // namespace
}  // namespace fovea::board_test
