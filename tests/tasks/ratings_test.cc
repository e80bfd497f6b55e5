// The task `ratings` from files to answers, with all its models.
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/task_run.h"

namespace fovea::ratings_test {
namespace {

using namespace testing;

const Assignments kPointer = {"model.name=mpcn", "model.embedding=8", "model.pointers=2"};
const Assignments kDual = {"model.name=dattn", "model.embedding=8", "model.local_filters=4",
                           "model.global_filters=4", "model.hidden=8"};

Pipeline trained(const TemporaryFolder& folder, const Assignments& assignments,
                 const std::filesystem::path& data = {}) {
  const Assignments small{"data.users=30", "data.items=10", "data.ratings_each=5",
                          "training.epochs=1"};
  return trained_pipeline(setup_of("ratings", assignments, small), folder, data);
}

TEST(Ratings, EveryModelTrainsAndAnswersWithinTheScale) {
  for (const Assignments& options :
       {kPointer, kDual, Assignments{"model.name=mf"}, Assignments{"model.name=biases"},
        Assignments{"model.name=mean"}}) {
    SCOPED_TRACE(options[0]);
    const TemporaryFolder folder;
    Pipeline pipeline = trained(folder, options);
    const Splits splits = pipeline.load_data("");
    const Metrics metrics = pipeline.measure(*splits.test);
    EXPECT_GT(metric(metrics, "mse_of_mean"), 0);
    EXPECT_NEAR(metric(metrics, "rmse"), std::sqrt(metric(metrics, "mse")), 1e-6);
    if (options[0] == "model.name=mean") {
      EXPECT_NEAR(metric(metrics, "mse"), metric(metrics, "mse_of_mean"), 0.05);
    }
    const Json known = answer(pipeline, R"({"user": "user-1", "item": "item-2"})");
    EXPECT_GE(known["rating"].get<double>(), 1);
    EXPECT_LE(known["rating"].get<double>(), 5);
    EXPECT_TRUE(known["user"]["known"].get<bool>());
    EXPECT_EQ(answer(pipeline, "user-1\titem-2"), known);
    EXPECT_EQ(answer(pipeline, "user-1,item-2"), known);
    const Json stranger = answer(pipeline, R"({"user": "nobody", "item": 7})");
    EXPECT_FALSE(stranger["user"]["known"].get<bool>());
    EXPECT_TRUE(std::isfinite(stranger["rating"].get<double>()));
  }
}

TEST(Ratings, ReviewsOfOnesOwnAreRead) {
  for (const Assignments& options : {kPointer, kDual}) {
    const TemporaryFolder folder;
    const Pipeline pipeline = trained(folder, options);
    const std::string line =
        R"({"user_reviews": ["What matters to me is the battery, and here it is superb.",
            {"text": "The box was blue.", "rating": 4}], "item": "item-3"})";
    const Example example = pipeline.parse(line);
    EXPECT_EQ(example.axis("user reviews").labels,
              (std::vector<std::string>{"review 1", "review 2"}));
    EXPECT_EQ(example.axis("user reviews").values, (std::vector<std::string>{"", "4"}));
    const Json json = answer(pipeline, line);
    EXPECT_EQ(json["user"]["reviews"], 2);
    EXPECT_FALSE(json["user"]["known"].get<bool>());
    EXPECT_GT(json["item"]["reviews"].get<int64_t>(), 0);
    EXPECT_TRUE(
        std::isfinite(answer(pipeline, R"({"user_reviews": [], "item_reviews": [" "]})")["rating"]
                          .get<double>()));
    for (const char* bad :
         {R"({"user": "a"})", R"({"item": "a", "user_reviews": "text"})",
          R"({"item": "a", "user_reviews": [1]})", R"({"user": [], "item": "a"})",
          R"({"item": "a", "user_reviews": [{"text": "x", "rating": "y"}]})", "a", "a,b,c", ""})
      expect_error(ErrorKind::BadData, "input", [&] { pipeline.parse(bad); });
  }
}

TEST(Ratings, ExplanationsShowBothSides) {
  const TemporaryFolder folder;
  const Pipeline pipeline = trained(folder, kPointer);
  const Explanation explanation =
      pipeline.explain(pipeline.parse(R"({"user": "user-1", "item": "item-2"})"));
  std::map<std::string, Axis> axes;
  for (const Axis& axis : explanation.axes) axes[axis.name] = axis;
  for (const std::string side : {"user", "item"}) {
    EXPECT_EQ(axes.at(side + " reviews").kind, "review");
    EXPECT_EQ(axes.at(side + " words").parent, side + " reviews");
    EXPECT_FALSE(axes.at(side + " words").spans.empty());
  }
  EXPECT_EQ(explanation.maps.size(), 4u);
  EXPECT_TRUE(explanation.notes.empty());
  EXPECT_NE(explanation.prediction.find("rating"), std::string::npos);
  // Nobody is known: there is nothing to show, and that is no error.
  EXPECT_TRUE(pipeline.explain(pipeline.parse("x,y")).maps.empty());
}

TEST(Ratings, BaselinesHaveNothingToShow) {
  const TemporaryFolder folder;
  Pipeline pipeline = trained(folder, {"model.name=mf"});
  const Splits splits = pipeline.load_data("");
  expect_error(ErrorKind::Unsupported, "model.name=mpcn", [&] { pipeline.overview(*splits.test); });
  EXPECT_TRUE(pipeline.explain(pipeline.parse("user-1,item-1")).maps.empty());
}

TEST(Ratings, ARunOutlivesItsData) {
  const TemporaryFolder folder;
  write_file(folder / "reviews.csv",
             "user,item,rating,text\na,1,5,very good\na,2,1,bad\nb,1,4,good one\nb,2,2,so "
             "bad\nc,1,5,good\nc,2,1,bad thing\nd,1,5,nice\nd,2,2,poor\ne,1,4,fine\ne,2,1,awful\n");
  Assignments options = kPointer;
  options.push_back("data.minimum_count=1");
  Pipeline pipeline = trained(folder, options, folder / "reviews.csv");
  const Json before = answer(pipeline, "a,1");
  std::filesystem::remove(folder / "reviews.csv");
  EXPECT_EQ(answer(Pipeline::load(folder / "run"), "a,1"), before);
  write_file(folder / "new.csv", "user,item,rating,text\nz,1,3,whatever\na,9,5,more\n");
  const Splits other = pipeline.load_data((folder / "new.csv").string());
  EXPECT_EQ(other.test->size(), 2);
  EXPECT_TRUE(std::isfinite(metric(pipeline.measure(*other.test), "mse")));
  write_file(folder / "new.csv", "user,item,rating,text\nz,1,30,whatever\n");
  expect_error(ErrorKind::BadData, {"new.csv:2", "rating 30"},
               [&] { pipeline.load_data((folder / "new.csv").string()); });
}

/// Reviews in which every user and every item has words of its own. The user likes the loud or the
/// quiet, an item is one of both, and the rating is high where they agree: 3 + 2 u q. A file of
/// vectors says u and q of each word, and nothing else does: nobody can guess them from the few
/// ratings that there are.
void write_tastes(const std::filesystem::path& folder) {
  constexpr int64_t kEach = 40, kRatings = 4, kTest = 3, kWords = 4;
  const Random random(5);
  uint64_t draw = 0;
  const auto sign = [&] { return random.below(draw++, 2) == 0 ? -1 : 1; };
  std::vector<int> user(kEach), item(kEach);
  for (int& one : user) one = sign();
  for (int& one : item) one = sign();
  const auto word = [&](const char* side, int64_t of) {
    return concat(side, of, "w", random.below(draw++, kWords));
  };
  std::string rows = "user,item,rating,text,split\n";
  for (int64_t u = 0; u < kEach; ++u)
    for (int64_t i = 0; i < kRatings + kTest; ++i) {
      const int64_t rated = (u + i * 7) % kEach;
      rows += concat("u", u, ",i", rated, ",", 3 + 2 * user[u] * item[rated], ",");
      for (int64_t w = 0; w < 3; ++w) rows += word("u", u) + " " + word("i", rated) + " ";
      rows += i < kRatings ? ",train\n" : i == kRatings ? ",val\n" : ",test\n";
    }
  write_file(folder / "tastes.csv", rows);
  std::string vectors = concat(2 * kEach * kWords - kWords, " 4\n");  // all but those of one item
  for (int64_t of = 0; of < kEach; ++of)
    for (int64_t w = 0; w < kWords; ++w) {
      vectors += concat("u", of, "w", w, " ", user[of], " 0 1 0\n");
      if (of > 0) vectors += concat("i", of, "w", w, " 0 ", item[of], " 0 1\n");
    }
  write_file(folder / "tastes.vec", vectors);
}

TEST(Ratings, WordVectorsThatKnowMoreBeatLearningFromScratch) {
  const TemporaryFolder folder;
  write_tastes(folder.path());
  const std::string vectors = "data.vectors=" + (folder / "tastes.vec").string();
  for (const Assignments& model :
       {Assignments{"model.name=dattn", "model.local_filters=8", "model.global_filters=8",
                    "model.hidden=16", "model.factors=8", "training.learning_rate=0.005"},
        Assignments{"model.name=mpcn", "model.pointers=1", "training.learning_rate=0.02"}}) {
    SCOPED_TRACE(model[0]);
    const auto error = [&](const Assignments& more) {
      Assignments options{"data.minimum_count=1", "training.epochs=25", "training.batch_size=16",
                          "training.patience=0"};
      options.insert(options.end(), model.begin(), model.end());
      options.insert(options.end(), more.begin(), more.end());
      const TemporaryFolder own;
      Pipeline pipeline =
          trained_pipeline(setup_of("ratings", options, {}), own, folder / "tastes.csv");
      const Splits splits = pipeline.load_data((folder / "tastes.csv").string());
      return metric(pipeline.measure(*splits.test), "mse");
    };
    const double scratch = error({"model.embedding=4"});
    const double given = error({vectors});
    EXPECT_LT(given, 1);
    EXPECT_GT(scratch, 3) << "of 4, the variance";
  }
}

TEST(Ratings, WordVectorsAreCountedAndMustFit) {
  const TemporaryFolder folder;
  write_tastes(folder.path());
  const std::string vectors = "data.vectors=" + (folder / "tastes.vec").string();
  expect_error(ErrorKind::InvalidArgument, {"tastes.vec", "4 numbers", "model.embedding=8"}, [&] {
    Assignments options = kDual;
    options.insert(options.end(), {vectors, "data.minimum_count=1"});
    trained(folder, options, folder / "tastes.csv");
  });
  for (const char* name : {"dattn", "mpcn"}) {
    const TemporaryFolder own;
    const Pipeline pipeline = trained(own,
                                      {concat("model.name=", name), vectors, "data.minimum_count=1",
                                       "training.learning_rate=1e-9"},
                                      folder / "tastes.csv");
    const at::Tensor words = pipeline.model().named_parameters()["words.weight"];
    EXPECT_EQ(words.size(1), 4) << "the vectors set it";
    const Example example =
        pipeline.parse(R"({"user_reviews": ["u3w1"], "item_reviews": ["i0w1"]})");
    const at::Tensor known = words[example.tensors.at("user_words")[0].item<int64_t>()];
    EXPECT_NEAR(known[2].item<double>(), 1, 1e-4);
    EXPECT_NEAR(known[3].item<double>(), 0, 1e-4);
    const at::Tensor missing = words[example.tensors.at("item_words")[0].item<int64_t>()];
    EXPECT_GT(missing[0].abs().item<double>(), 1e-3) << "begins at random";
    const Pipeline again = Pipeline::load(own / "run");  // without the file
    EXPECT_EQ(answer(again, "u3,i0"), answer(pipeline, "u3,i0"));
  }
  fovea::Setup setup("ratings");
  expect_error(ErrorKind::InvalidArgument, "data.vectors",
               [&] { setup.task().load_pretrained(folder.path()); });
}

}  // namespace
}  // namespace fovea::ratings_test
