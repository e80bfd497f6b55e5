// Body of a single step of a cell, compiled once per instruction set.
#include "fovea/kernels/cell_step.h"
#include "fovea/kernels/recurrent_cells-inl.h"
#include "fovea/kernels/units-inl.h"

namespace {

using fovea::kernels::CellRows;
using fovea::kernels::RecurrentCell;

template <class Cell>
void step_rows(const CellRows& at) {
  const int64_t h = at.hidden;
  for (int64_t row = 0; row < at.rows; ++row) {
    const float *x = at.x + row * Cell::kGates * h, *u = at.u + row * Cell::kGates * h;
    float* state = at.state + row * h;
    float* memory = Cell::kHasCell ? at.memory + row * h : nullptr;
    for_units(h, [&](int64_t unit, auto part) {
      Lanes of_x[Cell::kGates], of_u[Cell::kGates], kept[Cell::kKept];
      for (int64_t gate = 0; gate < Cell::kGates; ++gate) {
        of_x[gate] = load(x + gate * h + unit, part);
        of_u[gate] = load(u + gate * h + unit, part);
      }
      Units units{load(state + unit, part), Cell::kHasCell ? load(memory + unit, part) : Lanes{}};
      Cell::forward(of_x, of_u, units, kept);
      store(state + unit, units.hidden, part);
      if constexpr (Cell::kHasCell) store(memory + unit, units.cell, part);
    });
  }
}

}  // namespace

namespace fovea::kernels::FOVEA_INSTRUCTION_SET {

void cell_step(RecurrentCell cell, const CellRows& at) {
  if (cell == RecurrentCell::Rnn) return step_rows<Rnn>(at);
  if (cell == RecurrentCell::Gru) return step_rows<Gru>(at);
  step_rows<Lstm>(at);
}

}  // namespace fovea::kernels::FOVEA_INSTRUCTION_SET
