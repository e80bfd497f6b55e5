add_row fovea/tasks/catalogue.cc FOVEA_TASKS
echo "$name-pooling $name data.rows=100 training.epochs=2" >>tests/fingerprint/cases.txt
echo "  row   tests/fingerprint/cases.txt"
echo "  then  ./dev build && ./dev fingerprint --write --only $name-pooling"
