#!/usr/bin/env bash
# Builds the fuzz targets under the address and undefined-behaviour sanitizers, by hand, since only what reads strangers' bytes is to be
# watched for new code, and runs each. usage: run.sh RELEASE_BUILD [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/../.."
release=$1 seconds=${2:-60}
out=build/fuzz
mkdir -p $out

flags=(-std=c++20 -O1 -g -fPIC -I. -isystem /usr/include/torch/csrc/api/include -DFOVEA_WITH_ZLIB=1
       -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
libraries=(-ltorch -Wl,--no-as-needed -ltorch_cpu -Wl,--as-needed -lc10 -lglog -lz)

# Objects older than any header are made anew.
[[ -e $out/headers && -z $(find fovea -name '*.h' -newer $out/headers) ]] || { rm -f $out/*.o && touch $out/headers; }

# compile NAME SOURCE…
compile() {
  for source in "${@:2}"; do
    object=$out/$1-$(tr / - <<<"${source%.cc}").o
    objects+=("$object")
    [[ $object -nt $source ]] && continue
    coverage=-fsanitize-coverage=trace-pc
    [[ $source == */driver.cc ]] && coverage=
    echo "$source" >&2
    g++ "${flags[@]}" $coverage -c "$source" -o "$object"
  done
}

objects=()
compile request tests/fuzz/driver.cc tests/fuzz/request_fuzz.cc fovea/serving/{codec,http_error,connection,http_message,request_reader,socket}.cc fovea/base/{text,error,json,file,data_url,base64}.cc
g++ "${flags[@]}" "${objects[@]}" "${libraries[@]}" -o $out/request_fuzz
objects=()
compile readers tests/fuzz/driver.cc tests/fuzz/readers_fuzz.cc fovea/tensor/safetensors.cc fovea/base/{json,file,base64,text,error}.cc fovea/explain/record/{json,json_read,matrix_codec}.cc
# The libraries have the files above once more, several in one object: the first of two, watched, is the one to take.
g++ "${flags[@]}" "${objects[@]}" -Wl,--allow-multiple-definition -Wl,--start-group "$release"/libfovea_{explain,metrics,tensor,base,kernels}.a -Wl,--end-group "${libraries[@]}" -lcairo -o $out/readers_fuzz

# LibTorch's own start-up leaks, and Debian's build of it allocates with another new than it frees with.
export ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0:detect_odr_violation=0
$out/request_fuzz "$seconds" tests/fuzz/corpus/request
$out/readers_fuzz "$seconds" tests/fuzz/corpus/readers tests/fixtures/explanations
