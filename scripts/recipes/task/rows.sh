add_row fovea/tasks/catalogue.cc FOVEA_TASKS
add_line tests/support/small_trainings.h '// ./dev new task adds rows above' '    {"__name__", {"data.rows=60", "training.epochs=1"}, "letters"},'
add_line docs/formats/dataset.md '| `prefetch` | traces' '| `__name__` | letters with a class, a row a line: TSV | [__name__.md](__name__.md) |'
echo "$name-pooling $name data.rows=100 training.epochs=2" >>tests/fingerprint/cases.txt
echo "  row   tests/fingerprint/cases.txt"
echo "  then  ./dev fingerprint --write --only $name-pooling"
