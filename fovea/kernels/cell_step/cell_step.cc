#include "fovea/kernels/cell_step/cell_step.h"

#include "fovea/kernels/dispatch.h"
#include "fovea/kernels/recurrent/cells-inl.h"

namespace fovea::kernels {
namespace {

template <class Cell>
void step_rows(const CellRows& at) {
  const int64_t h = at.hidden;
  for (int64_t row = 0; row < at.rows; ++row) {
    const float *x = at.x + row * Cell::kGates * h, *u = at.u + row * Cell::kGates * h;
    float* state = at.state + row * h;
    float* memory = Cell::kHasCell ? at.memory + row * h : nullptr;
    for_vectors(h, [&](int64_t unit, auto lanes) {
      Lanes of_x[Cell::kGates], of_u[Cell::kGates], saved[Cell::kSaved];
      for (int64_t gate = 0; gate < Cell::kGates; ++gate) {
        of_x[gate] = load(x + gate * h + unit, lanes);
        of_u[gate] = load(u + gate * h + unit, lanes);
      }
      Units units{load(state + unit, lanes), Cell::kHasCell ? load(memory + unit, lanes) : Lanes{}};
      Cell::forward(of_x, of_u, units, saved);
      store(state + unit, units.hidden, lanes);
      if constexpr (Cell::kHasCell) store(memory + unit, units.cell, lanes);
    });
  }
}

void step_cells(RecurrentCell cell, const CellRows& at) {
  with_cell(cell, [&]<class Cell>() { step_rows<Cell>(at); });
}

}  // namespace

struct CellStepTable {
  decltype(&cell_step) step_cells;
};
FOVEA_TABLE(CellStepTable, step_cells)

#ifdef FOVEA_ENTRY_POINTS

void cell_step(RecurrentCell cell, const CellRows& at) {
  table().step_cells(cell, at);
}

#endif

}  // namespace fovea::kernels
