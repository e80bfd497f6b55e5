#include "fovea/explain/record/beside.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/expect_error.h"

namespace fovea::beside_test {
namespace {

using testing::expect_error;
using Places = std::vector<int64_t>;

RowsRecord record_of(const std::string& run, const std::vector<std::string>& names,
                     const Places& answers, const Places& truths) {
  RowsRecord record;
  record.task = "features";
  record.kind = "class";
  record.run = run;
  record.rows = int64_t(answers.size());
  RowColumn answer{"answer", "answer"}, truth{"truth", "truth"}, right{"right", "result"};
  answer.names = truth.names = names;
  answer.places = answers;
  truth.places = truths;
  right.names = {"wrong", "right"};
  for (size_t i = 0; i < answers.size(); ++i)
    right.places.push_back(truths[i] < 0 ? -1 : answers[i] == truths[i] ? 1 : 0);
  RowColumn probability{"probability", "probability"};
  probability.numbers.assign(answers.size(), 0.75);
  record.columns = {{"input", "input", "", std::vector<std::string>(answers.size(), "x")},
                    answer,
                    truth,
                    right,
                    probability};
  return record;
}

const RowColumn& column(const RowsRecord& record, const std::string& role) {
  for (const RowColumn& one : record.columns)
    if (one.role == role) return one;
  throw std::runtime_error("no column " + role);
}

TEST(Beside, SaysWhoIsRight) {
  // right, wrong, right, wrong, not known; the other counts its classes in another order
  RowsRecord first = record_of("a", {"no", "yes"}, {1, 1, 0, 0, 1}, {1, 0, 0, 1, -1});
  const RowsRecord second = record_of("b", {"yes", "no"}, {0, 1, 0, 1, 1}, {0, 1, 1, 0, -1});
  const BesideCounts counts = put_beside(first, second);
  EXPECT_EQ(counts.both, 1);
  EXPECT_EQ(counts.only_second, 1);
  EXPECT_EQ(counts.only_first, 1);
  EXPECT_EQ(counts.neither, 1);
  EXPECT_EQ(counts.differ, 3);
  EXPECT_EQ(counts.p, 1);
  const RowColumn& answer = column(first, "beside_answer");
  EXPECT_EQ(answer.names, (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(answer.places, (Places{1, 0, 1, 0, 0}));
  EXPECT_EQ(answer.name, "answer of b");
  EXPECT_EQ(column(first, "beside_right").places, (Places{1, 1, 0, 0, -1}));
  EXPECT_EQ(column(first, "agreement").places, (Places{0, 2, 1, 3, -1}));
  EXPECT_EQ(column(first, "agreement").names,
            (std::vector<std::string>{"both right", "only a", "only b", "both wrong"}));
  EXPECT_EQ(first.columns[4].role, "beside_answer") << "beside what it is compared with";
  EXPECT_EQ(first.beside, "b");
  EXPECT_EQ(rows_to_json(first)["beside"], "b");
  EXPECT_EQ(counts.to_json()["only_second"], 1);
}

TEST(Beside, PrintsTheTable) {
  RowsRecord first = record_of("a", {"no", "yes"}, {1, 1, 1, 1}, {1, 1, 1, 0});
  const RowsRecord second = record_of("longer", {"no", "yes"}, {0, 0, 1, 0}, {1, 1, 1, 0});
  EXPECT_EQ(put_beside(first, second).text(),
            "3 rows with two different answers\n"
            "         longer right  longer wrong\n"
            "a right             1             2\n"
            "a wrong             1             0\n"
            "McNemar's exact test: p = 1\n");
}

TEST(Beside, OfNumbersSaysWhichIsNearer) {
  const auto numbers = [](const std::string& run, const std::vector<double>& answers) {
    RowsRecord record;
    record.kind = "number";
    record.run = run;
    record.rows = int64_t(answers.size());
    RowColumn answer{"answer", "answer"}, truth{"truth", "truth"};
    answer.numbers = answers;
    truth.numbers.assign(answers.size(), 10);
    record.columns = {answer, truth};
    return record;
  };
  RowsRecord first = numbers("a", {9, 8, 12, std::numeric_limits<double>::quiet_NaN()});
  const BesideCounts counts = put_beside(first, numbers("a", {12, 10, 8, 1}));
  EXPECT_EQ(column(first, "agreement").places, (Places{1, 2, 0, -1}));
  EXPECT_EQ(column(first, "agreement").names,
            (std::vector<std::string>{"as near", "a is nearer", "a (second) is nearer"}));
  EXPECT_EQ(counts.to_json()["first_nearer"], 1);
  EXPECT_NE(counts.text().find("sign test: p = 1"), std::string::npos) << counts.text();
}

TEST(Beside, RefusesWhatCannotBeCompared) {
  const RowsRecord whole = record_of("a", {"no", "yes"}, {1, 0}, {1, 0});
  const auto refused = [&](const RowsRecord& other, const std::vector<std::string>& words) {
    RowsRecord record = whole;
    expect_error(ErrorKind::InvalidArgument, words, [&] { put_beside(record, other); });
    EXPECT_EQ(record.columns.size(), whole.columns.size()) << "nothing was added";
  };
  RowsRecord other = record_of("b", {"no", "yes"}, {1, 0}, {1, 0});
  other.task = "documents";
  refused(other, {"b is a run of the task documents", "a one of features"});
  refused(record_of("b", {"no", "yes"}, {1}, {1}), {"b reads 1 rows", "a reads 2"});
  refused(record_of("b", {"no", "perhaps"}, {1, 0}, {1, 0}),
          {"b answers no, perhaps", "a answers no, yes"});
  refused(record_of("b", {"no", "yes"}, {1, 0}, {1, 1}),
          {"row 2", "'yes' for b", "'no' for a", "not read the same rows"});
}

}  // namespace
}  // namespace fovea::beside_test
