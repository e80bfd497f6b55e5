// What travels between files and models. A reader makes Examples, a loader collates them into a
// Batch, a model answers with one Prediction per example.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "fovea/tensor/attention_map.h"

namespace fovea {

using NamedTensors = std::map<std::string, at::Tensor>;

/// A picture or a sound that axes refer to, as the bytes of its file.
struct Medium {
  std::string name, type;  // type: "image/png", "audio/wav", …
  std::string bytes;
  int64_t width = 0, height = 0;  // pictures
  std::string alt;                // what it shows, for those who cannot see it
};

/// What of an input the model did not see: it read 512 of 2,290 tokens.
struct Cut {
  std::string unit;  // "tokens"
  int64_t read = 0, of = 0;
};

/// One input with everything that is known about it.
struct Example {
  NamedTensors tensors;    // "inputs", "target", …, without a batch dimension
  std::vector<Axis> axes;  // labels for the pictures
  NamedTensors truth;  // map name -> keep mask [Q, K] of what really matters, where it is planted
  std::vector<Medium> media = {};
  std::string given = "";  // the input as the user gave it, where it was one line
  std::vector<Cut> cuts = {};
  const Axis& axis(const std::string& name) const;
  /// Says that besides the units that are read so many were left out, where there are any.
  void add_cut(const std::string& unit, int64_t read, int64_t left_out);
};

/// Examples side by side: each tensor [B, …], padded, with "<name>.keep" masks where padding is
/// possible.
struct Batch {
  NamedTensors tensors;
  int64_t size = 0;
  const at::Tensor& at(const std::string& name) const;
  bool has(const std::string& name) const { return tensors.count(name) > 0; }
  Batch to(const at::Device& device) const;
};

/// One decoded output and how likely the model holds it to be.
struct Decoded {
  std::vector<int64_t> tokens;
  double log_probability = 0;  // sum over the tokens
  std::string text;            // the tokens for people, filled in by the task
};

/// One answer; each model fills what it has.
struct Prediction {
  at::Tensor scores;             // class probabilities [C]
  at::Tensor values;             // numbers [V]
  std::vector<Decoded> outputs;  // decoded outputs, the chosen one first
  at::Tensor
      actions;  // sampled choices (hard attention, glimpses), kept so that a replay can repeat them
};

}  // namespace fovea
