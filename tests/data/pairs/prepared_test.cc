#include "fovea/data/pairs/prepared.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>

#include "fovea/tensor/safetensors.h"
#include "tests/data/blank_tokeniser.h"
#include "tests/data/testing.h"

namespace fovea::prepared_test {
namespace {

/// A small file with every array in it.
class PreparedFile : public ::testing::Test {
 protected:
  PreparedFile() {
    PairTokenisers tokenisers = blank_tokenisers({"a", "b", "ü"}, {"x", "y"});
    const SplitRows<TextPair> texts{
        {{"a ü", {"x y", "é"}, {{0, 1, 2, 4}}}, {"b", {"y"}, {{0, 1, 0, 1}}}},
        {{"a", {"y"}, {}}},
        {{"שלום a", {"x"}, {}}}};
    splits_ = tokenise_splits(texts, {}, tokenisers);
    write_prepared(path_, splits_, tokenisers, "translate", Json{{"tokens", "words"}});
    bytes_ = read_file(path_);
  }

  /// The file as the library reads it, to be changed and written back.
  SafetensorsFile copy() const {
    SafetensorsFile file = read_safetensors(path_);
    for (auto& [name, tensor] : file.tensors) tensor = tensor.clone();
    return file;
  }

  void refused(const SafetensorsFile& file, const std::vector<std::string>& words,
               ErrorKind kind = ErrorKind::BadData) const {
    const auto path = folder_ / "bad.safetensors";
    write_safetensors(path, file.tensors, file.metadata);
    expect_error(kind, words, [&] { read_prepared(path); });
  }

  /// With an Error, that is; what is accepted is used to the last byte.
  bool is_refused(const std::string& bytes) const {
    const auto path = folder_.write("hostile.safetensors", bytes);
    try {
      const Prepared prepared = read_prepared(path);
      for (const auto& data :
           {prepared.splits.train, prepared.splits.validation, prepared.splits.test}) {
        if (data == nullptr) continue;
        const auto& pairs = dynamic_cast<const PairDataset&>(*data);
        for (int64_t row = 0; row < pairs.size(); ++row) {
          pairs.batch(std::vector<int64_t>{row});
          const Example example = pairs.example(row);
          Json(example.axes[0].labels).dump();
          Json(pairs.references(row)).dump();
          pairs.truth(row);
        }
      }
      return false;
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::BadData || error.kind() == ErrorKind::Unsupported)
          << error.what();
      return true;
    }
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "data.safetensors";
  Splits splits_;
  std::string bytes_;
};

TEST_F(PreparedFile, ComesBackWhole) {
  const Prepared prepared = read_prepared(path_);
  EXPECT_EQ(prepared.task, "translate");
  EXPECT_EQ(prepared.options, (Json{{"tokens", "words"}}));
  EXPECT_EQ(prepared.splits.notes, splits_.notes);
  EXPECT_EQ(prepared.splits.hash, hash_of_file(path_));
  EXPECT_EQ(prepared.tokenisers.source->vocabulary().token(6), "ü");
  EXPECT_EQ(prepared.tokenisers.target->vocabulary().size(), 6);
  const auto compare = [](const std::shared_ptr<Dataset>& left,
                          const std::shared_ptr<Dataset>& right) {
    const auto& a = dynamic_cast<const PairDataset&>(*left).arrays();
    const auto& b = dynamic_cast<const PairDataset&>(*right).arrays();
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, array] : a) EXPECT_TRUE(at::equal(array, b.at(name))) << name;
  };
  compare(splits_.train, prepared.splits.train);
  compare(splits_.validation, prepared.splits.validation);
  compare(splits_.test, prepared.splits.test);
  EXPECT_EQ(prepared.splits.train->example(0).axis("source").labels,
            (std::vector<std::string>{"a", "ü"}));
}

TEST_F(PreparedFile, PartsThatAreNotThereStayAway) {
  PairTokenisers shared{std::make_shared<BlankTokeniser>(std::vector<std::string>{"a"}), nullptr};
  shared.target = shared.source;
  const Splits splits = tokenise_splits({{{"a", {"a"}, {}}}, {}, {}}, {}, shared);
  write_prepared(path_, splits, shared, "t", Json::object());
  const Prepared prepared = read_prepared(path_);
  EXPECT_EQ(prepared.splits.validation, nullptr);
  EXPECT_EQ(prepared.splits.test, nullptr);
  EXPECT_EQ(prepared.tokenisers.source, prepared.tokenisers.target);
}

TEST_F(PreparedFile, IsKnownByItsNameOrItsBytes) {
  EXPECT_TRUE(is_prepared(path_));
  EXPECT_TRUE(is_prepared(folder_.write("other", bytes_)));
  EXPECT_TRUE(is_prepared(folder_.write("cut.safetensors", "x")));
  EXPECT_FALSE(is_prepared(folder_.write("p.tsv", "a\tx\n")));
  EXPECT_FALSE(is_prepared(folder_.write("empty", "")));
  EXPECT_FALSE(is_prepared(folder_.path()));
  EXPECT_FALSE(is_prepared(folder_ / "nothing.safetensors"));
}

TEST_F(PreparedFile, OnlyPairsCanBePrepared) {
  struct Columns : ColumnDataset {
    using ColumnDataset::ColumnDataset;
    Example example(int64_t row) const override { return row_example(row); }
  };
  Splits splits;
  splits.train = std::make_shared<Columns>(NamedTensors{{"x", at::zeros({2})}});
  PairTokenisers tokenisers = blank_tokenisers({"a"}, {"x"});
  expect_error(ErrorKind::InvalidArgument, "only pairs",
               [&] { write_prepared(path_, splits, tokenisers, "t", Json::object()); });
}

TEST_F(PreparedFile, WrongMetadataIsRefused) {
  for (const char* key : {"version", "task", "options", "notes", "source_tokeniser"}) {
    SafetensorsFile file = copy();
    file.metadata.erase(key);
    refused(file, {"bad.safetensors", key});
  }
  const auto with = [&](const char* key, const char* value) {
    SafetensorsFile file = copy();
    file.metadata[key] = value;
    return file;
  };
  refused(with("version", "2"), {"fovea-prepared version 2", "reads 1"}, ErrorKind::Unsupported);
  refused(with("version", "99999999999999999999"), {"version"});
  refused(with("version", "0"), {"version"});
  refused(with("format", "pt"), {"holds no prepared pairs"});
  refused(with("options", "{"), {"options"});
  refused(with("notes", "{}"), {"notes"});
  refused(with("notes", "[1]"), {"note"});
  refused(with("source_tokeniser", "[]"), {"source_tokeniser"});
  refused(with("source_tokeniser", R"({"kind":"words","vocabulary":["a",1]})"),
          {"source_tokeniser"});
  refused(with("source_tokeniser", R"({"kind":"words","vocabulary":["a","a"]})"), {"twice"});
  refused(with("source_tokeniser", R"({"kind":"nothing","vocabulary":[]})"), {"nothing"});
  refused(with("source_tokeniser", R"({"kind":"words","vocabulary":[]})"),
          {"train.", "source.ids", "vocabulary has 4"});
  SafetensorsFile no_pairs = copy();
  no_pairs.tensors.clear();
  refused(no_pairs, {"no pairs"});
}

TEST_F(PreparedFile, WrongTensorsAreRefused) {
  for (const auto& [name, tensor] : copy().tensors) {
    SafetensorsFile file = copy();
    file.tensors.erase(name);
    refused(file, {"bad.safetensors", name.substr(name.find('.') + 1), "missing"});
    file.tensors[name] = at::zeros({1}, at::kFloat);
    refused(file, {"must be"});
  }
  SafetensorsFile more = copy();
  more.tensors["train.extra"] = at::zeros({1});
  refused(more, {"'train.extra'"});
  SafetensorsFile model = copy();
  model.tensors["source.model"] = at::zeros({1}, at::kFloat);
  refused(model, {"source.model", "bytes"});
}

TEST_F(PreparedFile, EveryNumberOfTheOffsetsIsChecked) {
  for (const auto& [name, tensor] : copy().tensors) {
    if (name.find("offsets") == std::string::npos) continue;
    for (int64_t i = 0; i < tensor.numel(); ++i)
      for (const int64_t wrong : {INT64_MIN, int64_t{1} << 40}) {
        SafetensorsFile file = copy();
        file.tensors.at(name).data_ptr<int64_t>()[i] = wrong;
        refused(file, {name.substr(name.find('.') + 1)});
      }
  }
}

TEST_F(PreparedFile, CutsAreRefused) {
  for (size_t size = 0; size < bytes_.size(); size += size + 50 < bytes_.size() ? 17 : 1)
    EXPECT_TRUE(is_refused(bytes_.substr(0, size))) << size;
  EXPECT_TRUE(is_refused(bytes_ + "x"));
}

TEST_F(PreparedFile, NoFlippedBitDoesHarm) {
  int64_t tried = 0, refused = 0;
  for (size_t at = 0; at < bytes_.size(); at += 11, ++tried) {
    std::string bytes = bytes_;
    bytes[at] = char(bytes[at] ^ (1 << tried % 8));
    refused += is_refused(bytes);
  }
  EXPECT_GT(2 * refused, tried);  // most flips make the file invalid
}

}  // namespace
}  // namespace fovea::prepared_test
