// The values that a search for better options may try, and those that a trial does.
#pragma once

#include <string>
#include <vector>

#include "fovea/tasks/setup.h"
#include "fovea/tensor/random.h"

namespace fovea {

/// What is worth varying: what the model's spec lists (ModelSpec::tunables), then learning rate,
/// weight decay, dropout and width, of those that the setup has, around their usual values.
std::vector<Tunable> usual_tunables(const Setup& setup);

/// "key=a,b,c" or "key=low..high", by logarithm where high is ten times low or more.
Tunable parse_tunable(const std::string& text);

/// Draws of a trial: a function of the search's seed and its number.
Random draws_of_trial(uint64_t seed, int64_t number);
/// Where in its range a trial lies: 0 … 1 of numbers, the place in the list of texts.
double drawn_place(const Tunable& tunable, const Random& draws);
/// The value there, as the setup's option takes it.
std::string drawn_value(const Setup& setup, const Tunable& tunable, const Random& draws);

/// Of an option that is a number; 0 for others.
double number_of_option(const Setup& setup, const std::string& key);

}  // namespace fovea
