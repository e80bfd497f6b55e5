#include "fovea/data/pairs/prepared.h"

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

const PreparedFormat kPairs{"fovea-prepared", "pairs"};
constexpr const char* kSourceTokeniser = "source_tokeniser";
constexpr const char* kTargetTokeniser = "target_tokeniser";
constexpr const char* kSourceModel = "source.model";
constexpr const char* kTargetModel = "target.model";

constexpr const char* kArrays[] = {"source.ids",          "source.spans",
                                   "source.offsets",      "source.text",
                                   "source.text_offsets", "target.ids",
                                   "target.spans",        "target.offsets",
                                   "references.text",     "references.text_offsets",
                                   "references.offsets",  "links",
                                   "links.offsets",       "links.possible"};

std::shared_ptr<Dataset> take_split(PreparedReader& reader, const std::string& prefix,
                                    const PairTokenisers& tokenisers) {
  NamedTensors arrays;
  for (const char* name : kArrays)
    if (const at::Tensor array = reader.take(prefix + name); array.defined()) arrays[name] = array;
  if (arrays.empty()) return nullptr;
  try {
    return std::make_shared<PairDataset>(std::move(arrays), tokenisers.source, tokenisers.target);
  } catch (const Error& error) {
    fail(error.kind(), reader.where(), ": ", prefix, " ", error.what());
  }
}

}  // namespace

void PairDataset::prepare(PreparedWriter& writer, int split) const {
  for (const auto& [name, array] : arrays())
    writer.add(concat(kSplitFileNames[split], ".", name), array);
}

void write_prepared(const fs::path& path, const Splits& splits, const PairTokenisers& tokenisers,
                    const std::string& task, const Json& options) {
  PreparedWriter writer(kPairs, options, splits.notes);
  writer.add("task", task);
  writer.add(kSourceTokeniser, kSourceModel, *tokenisers.source);
  if (tokenisers.source != tokenisers.target)
    writer.add(kTargetTokeniser, kTargetModel, *tokenisers.target);
  for (int split = 0; split < kSplitCount; ++split) {
    if (!splits[split]) continue;
    splits[split]->prepare(writer, split);
  }
  writer.write(path);
}

Prepared read_prepared(const fs::path& path) {
  PreparedReader reader(path, kPairs);
  Prepared prepared;
  prepared.task = reader.text("task");
  prepared.options = reader.json("options");
  auto& [source, target] = prepared.tokenisers;
  source = reader.tokeniser(kSourceTokeniser, kSourceModel);
  target =
      reader.has_text(kTargetTokeniser) ? reader.tokeniser(kTargetTokeniser, kTargetModel) : source;
  Splits& splits = prepared.splits;
  for (int split = 0; split < kSplitCount; ++split)
    splits[split] = take_split(reader, concat(kSplitFileNames[split], "."), prepared.tokenisers);
  reader.finish();
  require(splits.train || splits.validation || splits.test, ErrorKind::BadData, reader.where(),
          ": holds no pairs");
  splits.notes = reader.notes();
  splits.hash = hash_of_file(path);
  return prepared;
}

}  // namespace fovea
