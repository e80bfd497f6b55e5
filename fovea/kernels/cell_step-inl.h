// Body of a single step of a cell, compiled once per instruction set.
#include "fovea/kernels/cell_step.h"
#include "fovea/kernels/columns-inl.h"
#include "fovea/kernels/recurrent_cells-inl.h"

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
    const auto some = [&](int64_t c, auto read, auto write) {
      Lanes of_x[Cell::kGates], of_u[Cell::kGates], kept[Cell::kKept];
      for (int64_t gate = 0; gate < Cell::kGates; ++gate)
        of_x[gate] = read(x + gate * h + c), of_u[gate] = read(u + gate * h + c);
      Units units{read(state + c), Cell::kHasCell ? read(memory + c) : Lanes{}};
      Cell::forward(of_x, of_u, units, kept);
      write(state + c, units.hidden);
      if (Cell::kHasCell) write(memory + c, units.cell);
    };
    for_columns(
        h,
        [&](int64_t c, int64_t) {
          some(
              c, [](const float* from) { return load(from); },
              [](float* to, Lanes lanes) { store(to, lanes); });
        },
        [&](int64_t c, int64_t count) {
          some(
              c, [&](const float* from) { return load(from, count); },
              [&](float* to, Lanes lanes) { store(to, lanes, count); });
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
