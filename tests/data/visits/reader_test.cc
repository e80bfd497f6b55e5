#include "fovea/data/visits/reader.h"

#include "fovea/data/formats/cells.h"
#include "tests/data/testing.h"

namespace fovea::visits::reader_test {
namespace {

using Texts = std::vector<std::string>;

FileRows<PatientRecord> read(const std::string& name, const std::string& content,
                             VisitsOptions options = {}) {
  const TemporaryFolder folder;
  return read_visits(folder.write(name, content), options);
}

void refused(ErrorKind kind, const Texts& words, const std::string& name,
             const std::string& content, const VisitsOptions& options = {}) {
  expect_error(kind, words, [&] { read(name, content, options); });
}

VisitsOptions with_roles(const Roles& roles) {
  VisitsOptions options;
  options.roles = roles;
  return options;
}

TEST(Visits, TablesAndJsonLinesSayTheSame) {
  const auto csv = read("a.csv", "patient,time,codes,label\np1,3,D_401 M_x,no\np1,9,D_250,yes\n");
  const auto tsv =
      read("a.tsv", "label\tcodes\ttime\tpatient\nno\tD_401  M_x\t3\tp1\nyes\tD_250\t9\tp1\n");
  const auto lines = read("a.jsonl",
                          "{\"patient\": \"p1\", \"time\": 3, \"codes\": [\"D_401\", \"M_x\"], "
                          "\"label\": \"no\"}\n{\"patient\": \"p1\", \"time\": 9, \"codes\": "
                          "\"D_250\", \"label\": \"yes\"}\n");
  for (const auto* rows : {&csv, &tsv, &lines}) {
    ASSERT_EQ(rows->rows.size(), 1u);
    const PatientRecord& patient = rows->rows[0];
    EXPECT_EQ(patient.name, "p1");
    ASSERT_EQ(patient.visits.size(), 2u);
    EXPECT_EQ(patient.visits[0].codes, (Texts{"D_401", "M_x"}));
    EXPECT_EQ(patient.visits[1].codes, (Texts{"D_250"}));
    EXPECT_EQ(patient.visits[1].time, 9);
    EXPECT_EQ(patient.label, "yes") << "that of the last visit";
    EXPECT_TRUE(rows->splits.empty());
  }
}

TEST(Visits, LinesOfAPatientNeedNotStandTogetherOrInOrder) {
  const auto rows =
      read("a.csv", "patient,time,codes,label\nb,5,x,1\na,9,late,1\nb,2,w,0\na,1,early,0\n");
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(rows.rows[0].name, "b") << "the first one seen";
  EXPECT_EQ(rows.rows[0].visits[0].codes, (Texts{"w"}));
  EXPECT_EQ(rows.rows[0].label, "1") << "of the last visit in time, not of the last line";
  EXPECT_EQ(rows.rows[1].visits[0].codes, (Texts{"early"}));
  EXPECT_TRUE(has_note(rows.notes, "2 patients have visits that were not in the order of time"));
  const auto unordered = read("a.csv", "patient,codes,label\na,x,1\na,w,0\n");
  EXPECT_EQ(unordered.rows[0].visits[0].codes, (Texts{"x"})) << "without times the lines' order";
  EXPECT_FALSE(unordered.rows[0].visits[0].time);
}

TEST(Visits, DuplicateVisitsAreOne) {
  const auto rows =
      read("a.csv", "patient,time,codes,label\na,1,x y,1\na,1,x y,1\na,1,y z,1\na,2,x,1\n");
  ASSERT_EQ(rows.rows[0].visits.size(), 2u);
  EXPECT_EQ(rows.rows[0].visits[0].codes, (Texts{"x", "y", "z"}));
  EXPECT_TRUE(has_note(rows.notes, "2 lines have the patient and the time of another one"));
  EXPECT_EQ(read("a.csv", "patient,codes,label\na,x x  x,1\n").rows[0].visits[0].codes,
            (Texts{"x"}));
}

TEST(Visits, LabelsThatDisagree) {
  const std::string content = "patient,time,codes,label\na,1,x,no\na,2,y,yes\nb,1,x,no\nb,2,x,\n";
  const auto rows = read("a.csv", content);
  EXPECT_EQ(rows.rows[0].label, "yes");
  EXPECT_EQ(rows.rows[1].label, "no") << "an empty cell says nothing";
  EXPECT_TRUE(has_note(rows.notes, "1 patients have visits with different labels"));
  VisitsOptions same;
  same.labels = "same";
  refused(ErrorKind::BadData, {"a.csv:3", "'a'", "'yes' here and 'no' before", "data.labels=last"},
          "a.csv", content, same);
}

TEST(Visits, WhatCannotBeUsedIsLeftOutAndCounted) {
  const auto rows =
      read("a.csv", "patient,codes,label\n,x,1\nnobody,,1\nunknown,x,\na,x,1\na,,1\n");
  ASSERT_EQ(rows.rows.size(), 1u);
  EXPECT_EQ(rows.rows[0].visits.size(), 2u) << "a visit without codes is one";
  EXPECT_TRUE(has_note(rows.notes, "1 lines without a patient"));
  EXPECT_TRUE(has_note(rows.notes, "1 patients without a code"));
  EXPECT_TRUE(has_note(rows.notes, "1 patients without a label"));
  refused(ErrorKind::BadData, {"holds no patient with codes and a label"}, "a.csv",
          "patient,codes,label\na,,1\n");
  VisitsOptions unlabelled;
  unlabelled.needs_label = false;
  EXPECT_EQ(read("a.csv", "patient,codes\na,x\nb,\n", unlabelled).rows.size(), 2u)
      << "who asks for an answer gets one";
}

TEST(Visits, ColumnsMayBeCodesThemselves) {
  const auto options = with_roles({{"code", {"age", "sex"}}, {"label", {"readmitted"}}});
  const auto rows =
      read("a.tsv", "patient\tage\tsex\tcodes\treadmitted\np\t[50-60)\t\tD_1\tNO\n", options);
  EXPECT_EQ(rows.rows[0].visits[0].codes, (Texts{"D_1", "age=[50-60)"}));
  const auto lines = read("a.jsonl",
                          "{\"patient\": 7, \"age\": 51, \"sex\": \"f\", \"codes\": [], "
                          "\"readmitted\": false}\n",
                          options);
  EXPECT_EQ(lines.rows[0].name, "7");
  EXPECT_EQ(lines.rows[0].visits[0].codes, (Texts{"age=51", "sex=f"}));
  EXPECT_EQ(lines.rows[0].label, "false");
  refused(ErrorKind::NotFound, {"'agee'", "did you mean 'age'"}, "a.csv",
          "patient,age,codes,label\na,1,b,1\n", with_roles({{"code", {"agee"}}}));
}

TEST(Visits, OtherSeparators) {
  VisitsOptions options;
  options.separator = "|";
  EXPECT_EQ(read("a.csv", "patient,codes,label\na,heart failure| |x|x,1\n", options)
                .rows[0]
                .visits[0]
                .codes,
            (Texts{"heart failure", "x"}));
  options.separator = "||";
  refused(ErrorKind::InvalidArgument, {"data.separator", "one character"}, "a.csv",
          "patient,codes,label\na,b,1\n", options);
}

TEST(Visits, TimesAreNumbersOrDates) {
  EXPECT_EQ(parse_time(" 2.5 "), 2.5);
  EXPECT_EQ(parse_time("1970-01-02"), 1);
  EXPECT_EQ(parse_time("1970-01-02 12:00"), 1.5);
  EXPECT_EQ(parse_time("2000-03-01").value() - *parse_time("2000-02-28T00:00:00"), 2)
      << "a leap year";
  for (const char* wrong :
       {"", "soon", "inf", "nan", "2001-02-29", "2001-13-01", "2001-01-01 25:00", "2001/01/01"})
    EXPECT_FALSE(parse_time(wrong)) << wrong;
  refused(ErrorKind::BadData, {"a.csv:3", "'soon'", "neither a number nor a date"}, "a.csv",
          "patient,time,codes,label\na,1,x,1\na,soon,x,1\n");
  refused(ErrorKind::BadData, {"a.csv:3", "the time ''"}, "a.csv",
          "patient,time,codes,label\na,1,x,1\na,,x,1\n");
}

TEST(Visits, PatientsAreNeverSplit) {
  const auto rows =
      read("a.csv", "patient,split,codes,label\na,train,x,1\nb,test,y,0\na,Training,z,1\n");
  EXPECT_EQ(rows.splits, (std::vector<Split>{kTrain, kTest}));
  refused(ErrorKind::BadData, {"a.csv:3", "'a'", "test here and training before"}, "a.csv",
          "patient,split,codes,label\na,train,x,1\na,test,z,1\n");
  const auto other = read("a.csv", "patient,split,codes,label\na,left,x,1\n");
  EXPECT_TRUE(other.splits.empty()) << "it says something else";
  refused(ErrorKind::BadData, {"a.csv:2", "'left'", "expected train"}, "a.csv",
          "patient,split,codes,label\na,left,x,1\n", with_roles({{"split", {"split"}}}));
}

TEST(Visits, FilesAndFolders) {
  const TemporaryFolder folder;
  const SplitOptions split{.task = "visits", .fraction = 0.5, .seed = 1};
  std::string content = "patient,codes,label\n";
  for (int patient = 0; patient < 10; ++patient)
    content += concat("p", patient, ",x y,1\np", patient, ",z,0\n");
  folder.write("visits.csv", content);
  auto splits = open_visits({folder.path(), {}}, split, {});
  EXPECT_EQ(splits.train.size(), 5);
  EXPECT_EQ(splits.validation.size(), 5);
  for (const PatientRecord& patient : splits.train) EXPECT_EQ(patient.visits.size(), 2u);
  folder.write("visits.tsv", content);
  expect_error(ErrorKind::BadData, {"both visits.csv and visits.tsv"}, [&] {
    open_visits({folder.path(), {}}, split, {});
  });
  folder.write("train.csv", "patient,codes,label\na,x,1\nb,y,0\n");
  folder.write("test.csv", "patient,codes,label\na,x,1\n");
  expect_error(ErrorKind::BadData, {"'a'", "and in the test split"}, [&] {
    open_visits({folder.path(), {}}, split, {});
  });
  expect_error(ErrorKind::InvalidArgument, {"doctor"}, [&] {
    open_visits({folder.path() / "train.csv", {{"doctor", {"x"}}}}, split, {});
  });
}

TEST(Visits, RefusesDamagedFiles) {
  refused(ErrorKind::NotFound, {"no column 'codes'", "--columns codes=NAME"}, "a.csv",
          "patient,label\na,1\n");
  refused(ErrorKind::NotFound, {"'labl'", "did you mean 'label'"}, "a.csv",
          "patient,codes,label\na,x,1\n", with_roles({{"label", {"labl"}}}));
  refused(ErrorKind::BadData, {"a.jsonl:1", "no 'label'"}, "a.jsonl",
          "{\"patient\": 1, \"codes\": []}\n");
  refused(ErrorKind::BadData, {"a.jsonl:1", "'codes' is object"}, "a.jsonl",
          "{\"patient\": 1, \"codes\": {\"a\": 1}, \"label\": 1}\n");
  refused(ErrorKind::BadData, {"a.jsonl:1", "found array"}, "a.jsonl", "[1]\n");
  refused(ErrorKind::BadData, {"a.jsonl:2", "not valid JSON"}, "a.jsonl",
          "{\"patient\": 1, \"codes\": [\"x\"], \"label\": 1}\n{\"patient\": 1, \"co\n");
  refused(ErrorKind::BadData, {"a.jsonl:2", "has no 'time'"}, "a.jsonl",
          "{\"patient\": 1, \"time\": 1, \"codes\": [\"x\"], \"label\": 1}\n"
          "{\"patient\": 1, \"codes\": [\"x\"], \"label\": 1}\n");
}

}  // namespace
}  // namespace fovea::visits::reader_test
