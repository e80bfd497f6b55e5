// How one source becomes several kernels: the build compiles each <op>/<op>.cc once per instruction
// set, with FOVEA_ISA its name. Each copy leaves a table of functions in the namespace of that
// name, and the baseline's copy, the one with FOVEA_ENTRY_POINTS, also holds what others call.
//
//   struct XTable {
//     decltype(&x_forward) forward;
//   };
//   FOVEA_TABLE(XTable, forward)         defines FOVEA_ISA::kXTable
//   #ifdef FOVEA_ENTRY_POINTS
//   void x_forward(…) {
//     table().forward(…);                the instruction set in use
//   }
//   #endif
//
// FOVEA_TABLE_WITH_BF16 is for sources that are compiled for AVX-512 BF16 too: table(true) is that
// one, and exists only where multiplies_bf16().
#pragma once

#include "fovea/kernels/instruction_set.h"

#ifndef FOVEA_ISA
#define FOVEA_ISA baseline
#define FOVEA_ENTRY_POINTS
#endif

#define FOVEA_DEFINE_TABLE(Table, ...)  \
  namespace FOVEA_ISA {                 \
  extern const Table k##Table;          \
  const Table k##Table = {__VA_ARGS__}; \
  }

#if !defined(FOVEA_ENTRY_POINTS)
#define FOVEA_TABLE FOVEA_DEFINE_TABLE
#define FOVEA_TABLE_WITH_BF16 FOVEA_DEFINE_TABLE
#elif defined(__x86_64__)
#define FOVEA_TABLE(Table, ...)                                \
  FOVEA_DEFINE_TABLE(Table, __VA_ARGS__)                       \
  namespace avx2 {                                             \
  extern const Table k##Table;                                 \
  }                                                            \
  namespace avx512 {                                           \
  extern const Table k##Table;                                 \
  }                                                            \
  static const Table& table() {                                \
    const InstructionSet set = instruction_set();              \
    return set == InstructionSet::Avx512 ? avx512::k##Table    \
           : set == InstructionSet::Avx2 ? avx2::k##Table      \
                                         : baseline::k##Table; \
  }
#define FOVEA_TABLE_WITH_BF16(Table, ...)          \
  FOVEA_TABLE(Table, __VA_ARGS__)                  \
  namespace avx512_bf16 {                          \
  extern const Table k##Table;                     \
  }                                                \
  static const Table& table(bool bf16) {           \
    return bf16 ? avx512_bf16::k##Table : table(); \
  }
#else
#define FOVEA_TABLE(Table, ...)          \
  FOVEA_DEFINE_TABLE(Table, __VA_ARGS__) \
  static const Table& table() {          \
    return baseline::k##Table;           \
  }
#define FOVEA_TABLE_WITH_BF16(Table, ...) \
  FOVEA_TABLE(Table, __VA_ARGS__)         \
  static const Table& table(bool) {       \
    return table();                       \
  }
#endif
