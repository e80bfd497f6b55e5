#include "fovea/program.h"

int main(int argc, char** argv) {
  return fovea::run_program(argc, argv);
}
