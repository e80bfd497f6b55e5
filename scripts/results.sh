#!/usr/bin/env bash
# Trains what docs/results.md reports and prints its tables. usage: results.sh [features|yours|sweep|cuts|texts|names|pairs|context|why|adult|breast|dates|scores|alignments|locales|phrases|reversal|multi30k|tatoeba|forecast|series|faithfulness|transformer|imdb|wnut17|squad|stsb|emotions|emotionsbert|nanogpt|shakespeare|llama|pretraining|han|verdicts|eraser|instruments|glimpse|scenes|emoji|cora|communities|diabetes|causes|traces|digits|connected|copy|ntmtasks|images|flickr8k]…
# What each printed is kept in docs/results/NAME.json (record). The real data sets are looked for in $FOVEA_DATA (default: ../shared/data), in folders named as below. FOVEA_DEVICE=cuda trains the
# long ones on a GPU; FOVEA_PROGRAM names another program than that of ./dev build.
set -euo pipefail
cd "$(dirname "$0")/.."
fovea=${FOVEA_PROGRAM:-build/release/fovea}
data=${FOVEA_DATA:-../shared/data}
device=(--device "${FOVEA_DEVICE:-cpu}")  # of the long ones
jobs=${FOVEA_JOBS:-1}                     # trainings at once, of some

heading() { echo && echo "== $*"; }
needs() { [[ -d $data/$1 ]] || { echo "not found: $data/$1 (set FOVEA_DATA)" >&2; return 1; }; }

# usage: record NAME: runs it and writes what it printed to docs/results/NAME.json.
record() {
  local printed begin=$SECONDS
  printed=$(mktemp)
  "$1" | tee "$printed"
  /usr/bin/python3 scripts/record_result.py "$1" $((SECONDS - begin)) $fovea <"$printed"
  rm -f "$printed"
}
# usage: published WHAT FIGURES: of others, for comparison.
published() { echo "published, $1: ${*:2}"; }

features() {
  heading "features, built-in data, 10 seeds"
  $fovea compare features --config tutorial --vary model.name=tutorial --seeds 10 --seed 1 --quiet --json | medians
  published "the tutorial's one run" "accuracy .9238, loss .1974"
}
context() {
  heading "context, built-in data, 10 seeds: loss is the MSE of the whole fourth epoch"
  for model in free softmax; do
    for seed in $(seq 1 10); do
      out=$(mktemp -d)/run
      $fovea train context --config tutorial --seed "$seed" --set model.name=$model --out "$out" --quiet --json |
        tr -d '\n ' | sed -E 's/.*"epoch":4,"steps":40000,"loss":([^,]+),.*"positions_found":([^,}]+).*/\1 \2/'
      echo
      rm -rf "$(dirname "$out")"
    done | sort -g | awk -v model=$model '{loss[NR]=$1; found+=$2} END {printf "%s: MSE of epoch 4: median %.2e (%.2e to %.2e), positions found %.0f %%\n",
      model, (loss[5]+loss[6])/2, loss[1], loss[NR], 100*found/NR}'
  done
}
# Medians and ranges out of compare's JSON, without another tool.
medians() {
  tr -d '\n ' | sed -E 's/"(loss|accuracy|auc|attention_truth|rmse|r2)":\{/\n\1 /g' |
    sed -nE 's/^([a-z_0-9]+) "mean":([^,]+),"median":([^,]+),"minimum":([^,]+),"maximum":([^,]+),.*/\1 \2 \3 \4 \5/p' |
    awk '{printf "%-16s mean %.4f  median %.4f  (%.4f to %.4f)\n", $1, $2, $3, $4, $5}'
}
why() {
  heading "why not a plain network? two informative columns, ever more noise columns"
  for rows in 100000 10000; do
    echo "rows: $rows"
    $fovea compare features --config tutorial --set data.rows=$rows --vary data.noise=8,18,48,98 --vary model.name=tutorial,tutorial-plain,tutorial-linear --seeds 5 --quiet
  done
  heading "the same with a label that no linear model can learn (the sign of x1 x2)"
  $fovea compare features --config tutorial --set data.label=product --vary data.noise=8,18,48,98 --vary model.name=tutorial,tutorial-plain,tutorial-linear --seeds 5 --quiet
  heading "as many informative columns as noise columns, D grows"
  for half in 5 10 25; do
    $fovea compare features --config tutorial --set data.informative=$half --set data.noise=$half --vary data.noise=$half \
      --vary model.name=tutorial,tutorial-plain,tutorial-linear --seeds 5 --quiet
  done
}
yours() {
  heading "the default command on tables, beside XGBoost and linear models"
  /usr/bin/python3 scripts/results_tables.py yours $fovea "$data"
}
sweep() {
  heading "the default command on generated tables, beside linear models"
  /usr/bin/python3 scripts/results_tables.py sweep $fovea runs/sweep "$(nproc)"
}
cuts() {
  heading "the default command on real tables cut to few rows, and small ones of scikit-learn, beside linear models"
  /usr/bin/python3 scripts/results_tables.py cuts $fovea runs/cuts "$data" "$(nproc)"
}
texts() {
  needs imdb && needs goemotions || return 0
  heading "the default command on texts, beside fastText and TF-IDF with logistic regression"
  /usr/bin/python3 scripts/results_texts.py texts $fovea "$data"
}
names() {
  needs ner_wnut17 || return 0
  heading "WNUT17 without pretrained weights, the default command, 3 seeds"
  /usr/bin/python3 scripts/results_texts.py names $fovea "$data"
}
pairs() {
  needs multi30k || return 0
  heading "12,000 pairs of Multi30k, the default command, beside the nearest training sentence"
  /usr/bin/python3 scripts/results_texts.py pairs $fovea "$data"
}
adult() {
  needs tabular_adult || return 0
  heading "UCI Adult, official test split, 10 seeds"
  $fovea compare features "$data/tabular_adult" --target income --config configs/feature-attention-adult.json \
    --vary model.name=tutorial,tutorial-plain --seeds 10 --seed 1 --quiet
  $fovea compare features "$data/tabular_adult" --target income --config configs/feature-attention-adult.json --set 'model.hidden=[]' \
    --vary model.name=tutorial-linear --seeds 10 --seed 1 --quiet
}
breast() {
  needs tabular_breast_cancer || return 0
  heading "breast cancer, 113 test rows, 10 seeds"
  for name in tutorial tutorial-linear; do
    hidden=32
    [[ $name == tutorial-linear ]] && hidden=[]
    echo "$name"
    $fovea compare features "$data/tabular_breast_cancer" --config configs/feature-attention-breast-cancer.json --set "model.hidden=$hidden" \
      --vary model.name=$name --seeds 10 --seed 1 --quiet --json | medians
  done
}

dates() {
  heading "dates, English, 3 seeds: exact match on 4,000 texts of unseen days"
  $fovea compare dates --config tutorial --vary model.score=general --seeds 3 --quiet
}
scores() {
  heading "dates, every score function, 3 seeds, half of the usual epochs"
  $fovea compare dates --config tutorial --vary model.score=content,additive,location-base,general,dot,scaled-dot,location-aware --epochs 2 --seeds 3 --quiet
}
alignments() {
  heading "dates, every alignment and no attention, 3 seeds, half of the usual epochs"
  $fovea compare dates --config tutorial --vary model.alignment=global,local-m,local-p --also model.attention=none --epochs 2 --seeds 3 --quiet
}
locales() {
  heading "dates in all locales of ICU (about an hour on 2 cores; add --device cuda)"
  $fovea train dates --locales all --config configs/seq2seq-dates-all.json --out runs/dates-all "${device[@]}"
  $fovea evaluate runs/dates-all "${device[@]}"
}
phrases() {
  heading "translate, built-in sentences, 3 seeds"
  $fovea compare translate --config tutorial --vary model.attention=soft,none --seeds 3 --quiet
}
reversal() {
  heading "translate, built-in sentences, Sutskever's network at 2 x 64: the source read from its end or not, 3 seeds"
  $fovea compare translate --config configs/seq2seq-sutskever.json --set model.layers=2 --set model.hidden=64 --set model.embedding=32 --set decoding.method=greedy \
    --set training.optimiser=adam --set training.learning_rate=0.005 --set training.schedule=cosine --set training.batch_size=64 --set training.clip_norm=1 \
    --set data.rows=4000 --set data.test_rows=500 --epochs 8 --vary model.reverse_source=yes,no --seeds 3 --quiet
  published "Sutskever et al. 2014, WMT14" "perplexity 5.8 forward, 4.7 reversed; BLEU 25.9 and 30.6"
}
multi30k() {
  needs multi30k || return 0
  heading "Multi30k English to German, test 2016"
  $fovea train translate "$data/multi30k" --config configs/seq2seq-multi30k.json --out runs/multi30k "${device[@]}"
  $fovea evaluate runs/multi30k "${device[@]}"
  heading "the same with and without attention, 3 seeds, 22 epochs"
  $fovea compare translate "$data/multi30k" --config configs/seq2seq-multi30k.json --epochs 22 --set decoding.length_penalty=1 \
    --vary model.attention=soft,none --seeds 3 --quiet --out runs/multi30k-length "${device[@]}"
}
tatoeba() {
  needs tatoeba || return 0
  heading "Tatoeba German to English"
  $fovea train translate "$data/tatoeba" --config configs/seq2seq-tatoeba.json --out runs/tatoeba "${device[@]}"
  $fovea evaluate runs/tatoeba "${device[@]}"
}
transformer() {
  heading "dates with a Transformer, 3 seeds: exact match on 4,000 texts of unseen days"
  $fovea compare dates --config tutorial --vary model.name=transformer --seeds 3 --quiet
  needs multi30k || return 0
  heading "Multi30k English to German, test 2016, Transformer, 3 seeds (about four minutes each with FOVEA_DEVICE=cuda)"
  for seed in 0 1 2; do
    out=runs/transformer-multi30k-$seed
    $fovea train translate "$data/multi30k" --config configs/transformer-multi30k.json --set decoding.method=greedy --seed $seed --out $out "${device[@]}"
    for method in beam greedy; do $fovea evaluate $out --set decoding.method=$method "${device[@]}"; done
  done
}
minilm=$data/bert/all-MiniLM-L6-v2
imdb() {
  needs imdb && needs bert || return 0
  heading "IMDB, 25,000 test reviews of up to 512 tokens, MiniLM fine-tuned"
  for pooling in cls mean; do
    $fovea train documents "$data/imdb" --config tutorial --from "$minilm" --set model.pooling=$pooling --out runs/imdb-$pooling --quiet "${device[@]}"
    echo "pooling $pooling" && $fovea evaluate runs/imdb-$pooling "${device[@]}"
  done
}
wnut17() {
  needs ner_wnut17 && needs bert || return 0
  heading "WNUT17, entities of the test part: MiniLM fine-tuned, 3 seeds; BiLSTM with self-attention, 3 seeds"
  for seed in 0 1 2; do
    $fovea train tag "$data/ner_wnut17" --config tutorial --set model.name=bert --from "$minilm" --seed $seed --out runs/wnut17-bert-$seed --quiet "${device[@]}"
    $fovea evaluate runs/wnut17-bert-$seed "${device[@]}"
  done
  for seed in 0 1 2; do
    $fovea train tag "$data/ner_wnut17" --config configs/lstm-wnut17.json --seed $seed --out runs/wnut17-lstm-$seed --quiet "${device[@]}"
    $fovea evaluate runs/wnut17-lstm-$seed "${device[@]}"
  done
}
squad() {
  needs squad && needs bert || return 0
  heading "SQuAD 1.1 by article: 34 articles of the development set and 4,000 training questions to learn from, 7 articles to test; MiniLM fine-tuned, 3 seeds"
  /usr/bin/python3 scripts/results_squad.py "$data/squad" runs/squad
  for seed in 0 1 2; do
    $fovea train questions runs/squad --config tutorial --from "$minilm" --seed $seed --out runs/squad-bert-$seed --quiet "${device[@]}"
    $fovea evaluate runs/squad-bert-$seed --split test "${device[@]}"
  done
  /usr/bin/python3 -c "import transformers, tokenizers" 2>/dev/null || { echo "PyTorch beside it needs transformers and tokenizers" && return 0; }
  for seed in 0 1 2; do /usr/bin/python3 bench/peers/questions.py runs/squad "$minilm" --seed $seed "${device[@]}"; done
}
stsb() {
  needs stsb && needs bert || return 0
  heading "STS-B, 1,379 test pairs: MiniLM fine-tuned, the default command, 3 seeds"
  for seed in 0 1 2; do
    $fovea train documents "$data/stsb" --from "$minilm" --seed $seed --out runs/stsb-$seed --quiet "${device[@]}"
    $fovea evaluate runs/stsb-$seed --split test "${device[@]}"
  done
}
emotions() {
  needs goemotions || return 0
  heading "GoEmotions, 28 labels, 5,427 test comments, from scratch: the default command, 3 seeds"
  for seed in 0 1 2; do
    $fovea train documents "$data/goemotions" --seed $seed --out runs/emotions-$seed --quiet
    $fovea evaluate runs/emotions-$seed --split test | head -11
  done
  published "BERT base, Demszky et al. 2020" "macro F1 .46"
}
emotionsbert() {
  needs goemotions && needs bert || return 0
  heading "GoEmotions, 28 labels, 5,427 test comments: MiniLM fine-tuned, the default command, 3 seeds"
  for seed in 0 1 2; do
    $fovea train documents "$data/goemotions" --from "$minilm" --seed $seed --out runs/emotions-bert-$seed --quiet "${device[@]}"
    $fovea evaluate runs/emotions-bert-$seed --split test "${device[@]}" | head -11
  done
  published "BERT base, Demszky et al. 2020" "macro F1 .46"
}
# The whole held-out tenth; nanoGPT's own figure is an estimate from 20 of its batches.
nanogpt() {
  needs shakespeare || return 0
  heading "Shakespeare by characters, nanoGPT's recipe for a CPU: validation loss and seconds, ours and the same network in PyTorch from the same weights, 2 seeds"
  mkdir -p runs/nanogpt && cp "$data/shakespeare/input.txt" runs/nanogpt/text.txt
  for seed in 0 1; do
    rm -rf runs/nanogpt/{start,ours}-$seed
    language=("$fovea" train language runs/nanogpt/text.txt --config configs/nanogpt-shakespeare-cpu.json --seed $seed --quiet)
    "${language[@]}" --out runs/nanogpt/ours-$seed --json | tr -d '\n ' | sed -E 's/.*"seconds":([0-9.]+),"epochs".*"metrics":\{"loss":([0-9.]+).*/fovea loss \2 seconds \1/' && echo
    "${language[@]}" --epochs 0 --out runs/nanogpt/start-$seed >/dev/null
    echo "PyTorch $(/usr/bin/python3 bench/peers/language.py train runs/nanogpt runs/nanogpt/start-$seed/model.safetensors --threads 2 | tr -d '{}",:')"
  done
  published "nanoGPT" "1.88"
}
shakespeare() {
  needs shakespeare || return 0
  heading "Shakespeare by characters, nanoGPT's recipe for a GPU, bf16: loss of the held-out tenth, 3 seeds (minutes with FOVEA_DEVICE=cuda)"
  mkdir -p runs/nanogpt && cp "$data/shakespeare/input.txt" runs/nanogpt/text.txt
  for seed in 0 1 2; do
    $fovea train language runs/nanogpt/text.txt --config configs/nanogpt-shakespeare.json --precision bf16 --seed $seed --out runs/shakespeare-$seed --overwrite --quiet \
      "${device[@]}" --json | tr -d '\n ' | sed -E 's/.*"seconds":([0-9.]+),"epochs".*"metrics":\{"loss":([0-9.]+).*/loss \2 seconds \1/' && echo
  done
  published "nanoGPT" "1.4697"
}
# Of 1.1 billion random weights: tokens a second, ours and plain PyTorch's, by turns.
llama() {
  heading "a Llama of 1.1 billion random weights in bf16: tokens a second while it writes, and peak memory over the file"
  mkdir -p runs/llama && [[ -e runs/llama/model.safetensors ]] || /usr/bin/python3 bench/peers/llama.py write runs/llama
  local tokens=32 size where
  size=$(stat -c %s runs/llama/model.safetensors)
  for where in cpu ${FOVEA_DEVICE:-}; do
    for turn in 1 2 3; do
      $fovea generate runs/llama "Once upon a time" --tokens $tokens --temperature 0 --device "$where" --json | tr -d '\n' |
        sed -E "s/.*\"tokens\":([0-9]+),\"seconds\":([0-9.]+).*/\1 \2/" | awk -v where="$where" '{printf "%s fovea tokens_per_second %.2f\n", where, $1 / $2}'
      /usr/bin/python3 bench/peers/llama.py generate runs/llama --tokens $tokens --device "$where" --threads "$(nproc)" |
        sed -E "s/.*\"precision\": \"([a-z0-9]+)\", \"tokens_per_second\": ([0-9.]+).*/$where PyTorch \1 tokens_per_second \2/"
    done
  done
  /usr/bin/time -f "%M" $fovea generate runs/llama "Once upon a time" --tokens 4 --temperature 0 2>&1 >/dev/null | tail -1 |
    awk -v size="$size" '{printf "cpu fovea peak memory over the file %.3f\n", $1 * 1024 / size}'
}
pretraining() {
  needs imdb || return 0
  heading "a tiny BERT pretrained on the IMDB training texts, then 1,000 reviews, from it and from scratch, 5 seeds"
  $fovea train pretrain "$data/imdb/train.tsv.gz" --config configs/bert-tiny-imdb.json --out runs/bert-tiny-imdb --quiet "${device[@]}"
  few=runs/imdb-1000
  mkdir -p $few
  # Reviews are ordered by label: every 25th gives 500 of each.
  zcat "$data/imdb/train.tsv.gz" | awk 'NR == 1 || NR % 25 == 2' >$few/train.tsv
  cp "$data/imdb/test.tsv.gz" $few/
  for seed in 0 1 2 3 4; do
    for start in "bert-tiny-1000.json --from runs/bert-tiny-imdb" bert-tiny-1000-scratch.json; do
      out=$(mktemp -d)/run
      # shellcheck disable=SC2086
      $fovea train documents $few --config configs/$start --seed $seed --out "$out" --quiet "${device[@]}" >/dev/null
      echo "seed $seed, $start" && $fovea evaluate "$out" "${device[@]}"
      rm -rf "$(dirname "$out")"
    done
  done
}
han() {
  needs imdb || return 0
  for classes in "two label=label" "eight label=rating"; do
    heading "IMDB in ${classes% *} classes: hierarchical attention beside the average and the largest of the states, official test part, 3 seeds"
    $fovea compare documents "$data/imdb" --columns "${classes#* }" --config configs/han-imdb.json --vary model.pooling=attention,average,max \
      --seeds 3 --jobs "$jobs" --quiet "${device[@]}"
  done
}
verdicts() {
  heading "built-in documents with known sentences and words that decide, 3 seeds; with context: words that mean the opposite elsewhere"
  $fovea compare documents --config tutorial --set model.name=han --vary data.context=no,yes --seeds 3 --quiet
}
eraser() {
  needs eraser_movies || return 0
  heading "ERASER movies: hierarchical attention against what people marked; trained on the movies, and (accuracy too) on IMDB"
  $fovea compare documents "$data/eraser_movies" --config configs/han-movies.json --vary model.pooling=attention --seeds 3 --quiet
  $fovea train documents "$data/eraser_movies" --config configs/han-movies.json --out runs/han-movies --quiet
  $fovea explain runs/han-movies --faithfulness --rows 199 --quiet
  $fovea train documents "$data/imdb/train.tsv.gz" --config configs/han-imdb.json --out runs/han-imdb --quiet "${device[@]}"
  $fovea evaluate runs/han-imdb "$data/eraser_movies/test.jsonl.gz"
  $fovea explain runs/han-imdb "$data/eraser_movies/test.jsonl.gz" --faithfulness --rows 199 --quiet
}
instruments() {
  needs amazon_musical_instruments || return 0
  heading "ratings of musical instruments, each user's last review, 3 seeds"
  for model in mean biases mf dattn mpcn; do
    config=(--config configs/$model-instruments.json)
    [[ $model == mean ]] && config=(--config tutorial --set model.name=mean)
    $fovea compare ratings "$data/amazon_musical_instruments/reviews.tsv.gz" "${config[@]}" --vary model.name=$model --seeds 3 --quiet
  done
}
glimpse() {
  needs mnist || return 0
  heading "MNIST by glimpses (minutes on a GPU: FOVEA_DEVICE=cuda): one episode is 100 (1 - reward), error_percent the mean of 10"
  local runs=(mnist-learned mnist-random translated-learned translated-random cluttered-learned cluttered-random)
  for run in "${runs[@]}"; do
    while (($(jobs -r | wc -l) >= jobs)); do wait -n; done
    $fovea train images "$data/mnist" --config configs/glimpse-${run%-*}.json --set model.places=${run#*-} --out runs/glimpse-$run --quiet "${device[@]}" >/dev/null &
  done
  wait
  for run in "${runs[@]}"; do echo "${run%-*}, places ${run#*-}" && $fovea evaluate runs/glimpse-$run --split test; done
  heading "the same pictures whole"
  for model in plain cnn; do
    $fovea train images "$data/mnist" --config tutorial --set model.name=$model --epochs 40 --set training.batch_size=256 --set data.validation_fraction=0.05 \
      --out runs/glimpse-$model --quiet "${device[@]}"
    echo "$model" && $fovea evaluate runs/glimpse-$model --split test
  done
  heading "a few minutes on two cores"
  $fovea train images "$data/mnist" --config configs/glimpse-small.json --out runs/glimpse-small --quiet
  $fovea evaluate runs/glimpse-small --split test
}
scenes() {
  heading "captions of built-in scenes with unseen combinations, 3 seeds"
  $fovea compare caption --config configs/caption-scenes.json --vary model.attention=soft,hard,none --seeds 3 --quiet "${device[@]}"
  heading "with more dropout for the two that do not find the shapes"
  $fovea compare caption --config configs/caption-scenes.json --set model.dropout=0.5 --vary model.attention=hard,none --seeds 3 --quiet "${device[@]}"
}
emoji() {
  needs emoji_captions || return 0
  heading "English names of unseen emoji, 3 seeds"
  $fovea compare caption "$data/emoji_captions/captions.tsv" --columns image=hexcode,caption=caption_en --config configs/caption-emoji.json \
    --vary model.attention=soft,hard,none --seeds 3 --quiet "${device[@]}"
}
flickr8k() {
  needs flickr8k_96 || return 0
  heading "Flickr8k, pictures of 96 pixels, encoder from scratch, 3 seeds (hours on two cores: FOVEA_DEVICE=cuda)"
  $fovea compare caption "$data/flickr8k_96/captions.tsv.gz" --config configs/caption-flickr8k.json --vary model.attention=soft,hard,none --seeds 3 --jobs 3 --quiet "${device[@]}"
  published "Xu et al. 2015, BLEU-1 to BLEU-4" "soft 67 44.8 29.9 19.5, hard 67 45.7 31.4 21.3"
}
images() {
  needs mnist || return 0
  heading "1,000 MNIST digits to learn from, 10,000 to test on, default command of each network, 3 seeds"
  cut_mnist 1000 runs/mnist-1000
  $fovea compare images runs/mnist-1000 --vary model.name=vit,cnn,ram,plain --seeds 3 --quiet "${device[@]}"
}
# usage: cut_mnist ROWS FOLDER: the first ROWS training pictures, and the whole test.
cut_mnist() {
  mkdir -p "$2"
  cp "$data"/mnist/t10k-* "$2"
  cut_idx "$data/mnist/train-images-idx3-ubyte.gz" "$1" 784 16 >"$2/train-images-idx3-ubyte"
  cut_idx "$data/mnist/train-labels-idx1-ubyte.gz" "$1" 1 8 >"$2/train-labels-idx1-ubyte"
}
# usage: cut_idx FILE.gz ROWS BYTES HEADER: the first rows of an idx file of one byte a number.
cut_idx() {
  local rows
  rows=$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($2 >> 24 & 255)) $(($2 >> 16 & 255)) $(($2 >> 8 & 255)) $(($2 & 255)))
  zcat "$1" | head -c 4 || true  # what is left is not written
  printf "$rows"
  zcat "$1" | head -c "$4" | tail -c +9 || true
  zcat "$1" | tail -c +$(($4 + 1)) | head -c $(($2 * $3)) || true
}
cora() {
  needs graph_cora || return 0
  heading "Cora, Planetoid split, 20 seeds: GAT, GATv2 and all neighbours alike"
  $fovea compare graph "$data/graph_cora" --config configs/gat-cora.json --vary model.score=gat,gatv2 --also model.attention=uniform \
    --seeds 20 --seed 1 --quiet
  $fovea train graph "$data/graph_cora" --config configs/gat-cora.json --seed 1 --out runs/cora --quiet
  $fovea explain runs/cora --faithfulness --rows 100 --quiet
}
communities() {
  heading "built-in communities, whose voices alone tell the class, 5 seeds"
  $fovea compare graph --config tutorial --vary model.score=gat,gatv2 --also model.attention=uniform --seeds 5 --quiet
}
diabetes() {
  needs ehr_diabetes130 || return 0
  heading "readmission of diabetic patients, 3 seeds; doctor: contributions and bias against the answer (paths)"
  columns=(--columns "label=readmitted,code=age,code=gender,code=time_in_hospital")
  for model in retain gru logistic; do
    $fovea compare visits "$data/ehr_diabetes130" "${columns[@]}" --config configs/$model-diabetes.json --vary model.name=$model --seeds 3 --quiet
  done
  $fovea train visits "$data/ehr_diabetes130" "${columns[@]}" --config configs/retain-diabetes.json --out runs/retain-diabetes --quiet
  $fovea doctor runs/retain-diabetes
}
causes() {
  heading "built-in patients with planted causes, 3 seeds"
  $fovea compare visits --config tutorial --vary model.name=retain,gru,logistic --seeds 3 --quiet
}
traces() {
  needs memtrace || return 0
  heading "memory traces, last 20 %: Voyager (minutes on a GPU: FOVEA_DEVICE=cuda) beside prefetchers without a network"
  for trace in sqlite_join list_chase; do
    for model in voyager last_successor next_line stride; do
      options=(--config tutorial --set "model.name=$model")
      [[ $model == voyager ]] && options=(--config "configs/voyager-${trace%_*}.json" "${device[@]}")
      out=runs/$model-$trace
      $fovea train prefetch "$data/memtrace/$trace.trace.gz" "${options[@]}" --out $out --quiet
      echo "$trace, $model" && $fovea evaluate $out
    done
  done
}
digits() {
  needs fsdd || return 0
  heading "spoken digits: the test split, then each speaker left out in turn"
  for speaker in "" jackson lucas george nicolas theo yweweler; do
    out=runs/digits${speaker:+-$speaker}
    $fovea train speech "$data/fsdd/transcripts.tsv" --config configs/speech-digits.json --set "data.left_out=$speaker" --out "$out" --quiet "${device[@]}"
    echo "${speaker:-test split}" && $fovea evaluate "$out"
  done
  heading "seconds of sound in a second: 129 s of sound, one thread"
  time $fovea predict runs/digits "$data"/fsdd/wav/*_[0-4].wav --threads 1 >/dev/null
}
connected() {
  needs fsdd || return 0
  heading "connected digits: content against location-aware attention, said 1 to 8 times in a row (minutes on a GPU: FOVEA_DEVICE=cuda)"
  for score in additive location-aware; do
    out=runs/connected-$score
    $fovea train speech "$data/fsdd/connected.tsv" --config configs/speech-connected.json --set model.score=$score --out $out --quiet "${device[@]}"
    for times in 1 2 3 5 8; do
      echo "$score, $times x"
      $fovea evaluate $out --set decoding.method=beam --set decoding.length_penalty=0 --set decoding.repeat=$times "${device[@]}"
    done
  done
}
copy() {
  heading "copy: trained on up to 20 symbols, tested on 20, 30, 50 and 120"
  for run in "ntm 0" "ntm 1" "ntm 2" "lstm 0"; do
    model=${run% *} seed=${run#* }
    $fovea train copy --config configs/$model-copy.json --seed "$seed" --out "runs/copy-$model-$seed" --quiet
    echo "$model, seed $seed" && $fovea evaluate "runs/copy-$model-$seed"
  done
}
# The other four tasks of Graves et al. 2014, each beside an LSTM of the paper's size that is trained on as many sequences.
ntmtasks() {
  local kinds=(repeat-copy:30:512 associative-recall:30:256 ngrams:6:128 priority-sort:10:128) # epochs of 10,000 sequences, units of the LSTM
  local threads=() kind epochs hidden model
  ((jobs > 1)) && threads=(--threads 1)
  for row in "${kinds[@]}"; do
    IFS=: read -r kind epochs hidden <<<"$row"
    while (($(jobs -r | wc -l) >= jobs)); do wait -n; done
    $fovea train copy --config configs/ntm-$kind.json --epochs $epochs --out runs/$kind-ntm --quiet "${threads[@]}" >/dev/null &
    while (($(jobs -r | wc -l) >= jobs)); do wait -n; done
    mkdir -p runs && grep -v '"model":' configs/ntm-$kind.json >runs/$kind-lstm.json # the same data
    $fovea train copy --config runs/$kind-lstm.json --set model.name=lstm --set model.hidden=$hidden --set model.layers=3 --set training.clip_norm=5 \
      --epochs $epochs --out runs/$kind-lstm --quiet "${threads[@]}" >/dev/null &
  done
  wait
  for row in "${kinds[@]}"; do
    for model in ntm lstm; do heading "${row%%:*}: $model" && $fovea evaluate runs/${row%%:*}-$model; done
  done
}
forecast() {
  heading "forecast, planted lag, with and without attention, 3 seeds"
  $fovea compare forecast --config tutorial --vary model.attention=soft,none --seeds 3 --quiet
}
# ETT in the protocol of the papers: 12 months for training, 4 for validation, 4 for the test; windows of 336 steps, all seven series,
# standardised by the training steps. Published: DLinear (Zeng et al. 2023). SERIES_MODELS and SERIES_HORIZONS choose a part of it.
series() {
  needs ett || return 0
  heading "ETTh1 and ETTm1: MSE and MAE, standardised, over all windows of the test, seed 0; published: DLinear's MSE"
  printf '%-6s %8s  %-8s %7s %7s  %14s %9s %10s  %s\n' data horizon model MSE MAE "seasonal naive" published "1.02 of it" seconds
  local set steps horizon model published
  for set in ETTh1 ETTm1; do
    steps=2880 published=(0.375 0.405 0.439 0.472)
    [[ $set == ETTm1 ]] && steps=11520 published=(0.299 0.335 0.369 0.425)
    local place=0
    for horizon in 96 192 336 720; do
      if [[ " ${SERIES_HORIZONS:-96 192 336 720} " == *" $horizon "* ]]; then
        for model in ${SERIES_MODELS:-linear patches}; do
          local out begin
          out=$(mktemp -d)/run begin=$SECONDS
          $fovea train forecast "$data/ett/$set.csv.gz" --out "$out" --quiet "${device[@]}" --set model.name="$model" \
            --set data.window=336 --set data.horizon=$horizon --set data.calendar=no \
            --set data.train_steps=$((3 * steps)) --set data.validation_steps=$steps --set data.test_steps=$steps >/dev/null
          local seconds=$((SECONDS - begin))
          $fovea evaluate "$out" --split test --json | tr -d '\n ' |
            sed -E 's/.*"metrics":[{][^}]*"mse_standardised":([^,}]+),"mae_standardised":([^,}]+).*"seasonalnaive":[{][^}]*"mse_standardised":([^,}]+).*/\1 \2 \3/' |
            awk -v set=$set -v horizon=$horizon -v model="$model" -v published="${published[$place]}" -v seconds=$seconds \
              '{printf "%-6s %8d  %-8s %7.4f %7.4f  %14.4f %9.3f %10.4f  %d\n", set, horizon, model, $1, $2, $3, published, 1.02 * published, seconds}'
          rm -rf "$(dirname "$out")"
        done
      fi
      place=$((place + 1))
    done
  done
}
faithfulness() {
  for task in features context dates translate forecast; do
    heading "$task: does the picture show what the network used? 200 rows of the test (or validation) part; mean of 3 seeds (lowest to highest)"
    epochs=()
    [[ $task == translate ]] && epochs=(--epochs 2)
    [[ $task == forecast ]] && epochs=(--set model.name=seq2seq)
    for seed in 0 1 2; do
      out=$(mktemp -d)/run
      $fovea train "$task" --config tutorial --seed "$seed" "${epochs[@]}" --out "$out" --quiet >/dev/null
      $fovea explain "$out" --faithfulness --rows 200 --quiet
      rm -rf "$(dirname "$out")"
    done | mean_of_tables
  done
}
# The tables of "Does this picture show what the model used?" from several runs as one: columns stand two blanks apart.
mean_of_tables() {
  awk -F'  +' '
    /^Does this picture show what the model used\?/ {map = $0; sub(/^Does this picture show what the model used\? /, "", map); trust = map; sub(/:.*/, "", map); sub(/.*: /, "", trust)
                             verdict[map] = verdict[map] " " trust; next}
    /^output: / {map = ""; next}
    map == "" || $1 == "measure" || $2 !~ /^-?[0-9.e-]+$/ {next}
    {key = map "\t" $1; if (!(key in n)) order[++count] = key
     n[key]++; sum[key] += $2; if (n[key] == 1 || $2 < low[key]) low[key] = $2; if (n[key] == 1 || $2 > high[key]) high[key] = $2
     random = $3 ~ /^\[/ ? $4 : $3; if (random ~ /^-?[0-9.e-]+$/) {base[key] += random; has[key] = 1}}
    END {for (map in verdict) printf "%s:%s\n", map, verdict[map]
         for (i = 1; i <= count; ++i) {key = order[i]; split(key, part, "\t")
           printf "%-10s %-27s %7.3f (%.3f to %.3f)", part[1], part[2], sum[key] / n[key], low[key], high[key]
           printf has[key] ? sprintf("  random %.3f\n", base[key] / n[key]) : "\n"}}'
}

for part in "${@:-features context why adult breast dates scores alignments phrases reversal forecast series faithfulness locales multi30k tatoeba transformer imdb wnut17 squad stsb emotions emotionsbert nanogpt shakespeare llama pretraining han verdicts eraser instruments glimpse scenes emoji cora communities diabetes causes traces digits connected copy images flickr8k}"; do
  for name in $part; do
    declare -F "$name" >/dev/null || { echo "there is no result '$name'" >&2; exit 2; }
    record "$name"
  done
done
