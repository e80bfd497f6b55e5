add_line fovea/tasks/features.cc '#include "fovea/models/feature_attention.h"' '#include "fovea/models/__name__.h"'
add_line fovea/tasks/features.cc '// ./dev new model adds rows above' '  specs.push_back(table_model<__Name__, __Name__Options>({"__name__"}, {}, data, tutorial_training()));'
echo "features-$name features data.rows=400 training.epochs=2 model.name=$name" >>tests/fingerprint/cases.txt
echo "  row   tests/fingerprint/cases.txt"
echo "  then  ./dev fingerprint --write --only features-$name"
