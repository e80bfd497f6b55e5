// Health records as models take them in: the codes of all visits one after the other, the oldest
// visit first, and to which visit each belongs. A code that training never saw, and one that was
// taken away, is Vocabulary::kUnknown: it adds nothing to its visit.
//   "codes"     int64 [K]   "codes.keep"   bool [B, K] in batches
//   "visit_of"  int64 [K]   place of each code's visit, 0 at padding
//   "gaps"      float [V]   log(1 + time since the visit before), 0 without times;
//                           "visits.keep"  bool [B, V] in batches
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/data/tokenisers/vocabulary.h"
#include "fovea/data/visits/reader.h"
#include "fovea/data/visits/synthetic.h"

namespace fovea {

/// What is to be known once so many visits are over.
struct VisitTarget {
  int64_t visits = 0;
  int64_t label = -1;               // 1: the outcome; -1: unknown
  std::vector<float> targets = {};  // of several labels 0 or 1 of each [C]
};

struct LabelledPatient {
  PatientRecord record;
  int64_t label = -1;  // at the end of the record
  std::vector<float> targets = {};
  std::vector<VisitTarget> every = {};  // instead, a row at each of these visits
};

/// How records become numbers.
struct VisitEncoder {
  std::shared_ptr<const Vocabulary> codes;
  std::string outcome = "outcome";       // what is predicted, for people
  std::vector<std::string> labels = {};  // in its place, where there are several
  std::string time_unit = {};
  int64_t maximum_visits = 200;  // of a longer record the last ones
  PlantedCodes planted = {};

  struct Encoded {
    std::vector<int32_t> codes, visit_of;
    std::vector<float> gaps;
    int64_t cut = 0;  // visits that were cut off
  };
  Encoded encode(const PatientRecord& record) const;
  /// Axes "outcome", "visits" and "codes" in them. With planted codes the truth of map
  /// "contributions" [O, K] marks those that decide each outcome, that of map "visits" [1, V] the
  /// visits that hold one; "raising" and "lowering" [1, K] are the planted codes wherever they
  /// stand.
  Example example(const PatientRecord& record) const;
};

Batch collate_visits(std::span<const Example> examples);

/// Without these codes, or without all codes of these visits. Unsupported for another axis.
Example erase_codes(const Example& example, const std::string& axis,
                    std::span<const int64_t> units);

class VisitDataset : public Dataset {
 public:
  VisitDataset(std::vector<LabelledPatient> patients, VisitEncoder encoder);

  int64_t size() const override { return static_cast<int64_t>(rows_.size()); }
  int64_t length(int64_t row) const override;  // in codes
  Example example(int64_t row) const override { return encoder_.example(record(row)); }
  /// With "target" int64 [B], of several labels float32 [B, C].
  Batch batch(std::span<const int64_t> rows) const override;

  /// {"visits": [{"time": 17, "codes": ["…", …]}, …]}
  Json input(int64_t row) const override;
  bool has_truth() const override { return !encoder_.planted.empty(); }

  int64_t cut_patients() const { return cut_patients_; }  // that lost visits
  double unknown_share() const {                          // of all codes
    return codes_ > 0 ? double(unknown_) / double(codes_) : 0;
  }
  int64_t visits() const { return visits_; }

 private:
  /// A patient's record up to a visit.
  struct Row {
    size_t patient = 0;
    int64_t visits = 0;
    const std::vector<float>* targets = nullptr;
    int64_t label = -1;
  };
  struct Known {                        // of a whole record
    std::vector<int32_t> codes, begin;  // [K], [V + 1]: the first code of each visit
    std::vector<float> gaps;
  };
  void add_row(const Row& row);
  const Row& at(int64_t row) const { return rows_.at(size_t(row)); }
  int64_t first_visit(const Row& row) const;
  PatientRecord record(int64_t row) const;
  VisitEncoder::Encoded encoded(int64_t row) const;

  std::vector<LabelledPatient> patients_;
  VisitEncoder encoder_;
  std::vector<Known> known_;  // by patient
  std::vector<Row> rows_;
  int64_t codes_ = 0, unknown_ = 0;
  int64_t cut_patients_ = 0, visits_ = 0;
};

}  // namespace fovea
