#!/bin/sh
# The one entry: ./build.sh [site|test|check|bench|probe|serve|fuzz|truth|wheel|install|clean]
#   site     install what is missing, compile, write site/ and check it (this is what no verb means); --base-url URL says where
#            it will be published: canonical addresses, hreflang, a sitemap
#   test     run every test; FILTER=name runs some, UPDATE=1 rewrites wanted outputs
#   check    sanitizers, tiny buffers, shuffled order: the tests again, and the same site byte by byte
#   bench    measure vramdoc beside hugo and a floor program; BENCH=quick for small corpora; bench TREE... on real trees
#            bench accuracy [FILE.tsv]: the estimator's errors beside public measurements, by source and kind of run
#   probe    measure on the GPU that is here, and show which figures changed; call it again until it is done
#   serve    build, then serve the site with live reload
#   fuzz     libFuzzer on every target for FUZZ_SECONDS (600) each
#   truth    run the frameworks without a GPU and write their allocations again (Python, PyPI, 6 GB a version of torch)
#   wheel    the Python package, build/wheel/*.whl: pip install it, then `import vram`
#   install  into prefix (/usr/local), below DESTDIR; ./build.sh clean removes what was compiled and built
set -eu
cd "$(dirname "$0")"
BUILD=${BUILD:-build}
JOBS=${JOBS:-2}
export BUILD

# Debian packages and why each is wanted. Ubuntu has them under the same names.
to_build='gcc:compiler make:incremental_compiling pkg-config:compiler_flags_of_libraries
libcmark-gfm-dev:Markdown libcmark-gfm-extensions-dev:tables_footnotes_task_lists
liblua5.4-dev:templates_and_figures libyaml-dev:settings_and_front_matter libjansson-dev:catalogs_and_records
libicu-dev:numbers_dates_plurals libstemmer-dev:word_forms_for_search libmicrohttpd-dev:vramdoc_serve libxxhash-dev:hashes_of_content
zlib1g-dev:size_budgets blahtexml:formulas_to_MathML git:date_of_the_last_change
clang:page_calculator lld:page_calculator libclang-rt-dev-wasm32:page_calculator binaryen:smaller_page_calculator'
to_test='libcmocka-dev:unit_tests cmark-gfm:text_of_the_GFM_specification nodejs:browser_and_wasm_tests
npm:browser_tests chromium:browser_tests universal-ctags:length_of_functions
g++:the_public_header_as_C++ clang-format:layout_of_the_sources curl:tests_of_vramdoc_serve procps:fault_tests default-jre-headless:the_Nu_HTML_checker
gettext:PO_files_checked_by_msgfmt
python3-cffi:tests_of_the_Python_package python3-pytest:tests_of_the_Python_package'
# Its test runs the probe, so it is wanted only where that can be built.
if command -v nvcc >/dev/null; then to_test="$to_test slurm-wlm:many_probes_at_once"; fi
to_fuzz='libclang-rt-dev:libFuzzer'
to_wheel='python3:writing_the_wheel'
to_bench='hugo:what_we_are_compared_with'

# install_missing LIST: installs what is not there; prints the one command and ends with 3 where it may not.
install_missing() {
    command -v dpkg-query >/dev/null || { echo "no dpkg here: see README for what must be installed"; return 0; }
    missing='' names=''
    for entry in $1; do
        # A program that came in another way (npm, hugo) is as good as its package.
        dpkg-query -W -f='${db:Status-Status}\n' "${entry%%:*}" 2>/dev/null | grep -qx installed && continue
        ! command -v "${entry%%:*}" >/dev/null || continue
        missing="$missing $entry" names="$names ${entry%%:*}"
    done
    [ -n "$missing" ] || return 0
    echo "missing:"
    for entry in $missing; do echo "    ${entry%%:*} (for $(echo "${entry#*:}" | tr _ ' '))"; done
    root=''
    if [ "$(id -u)" -ne 0 ]; then
        root=sudo
        if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
            echo "no root here; please run: apt-get install --no-install-recommends -y$names"
            exit 3
        fi
    fi
    $root apt-get update -q
    # shellcheck disable=SC2086
    $root env DEBIAN_FRONTEND=noninteractive apt-get install --no-install-recommends -y -q $names
}

compile() {
    install_missing "$to_build"
    make -s -j"$JOBS" BUILD="$BUILD" all
}

site() {
    compile
    "$BUILD/vramdoc" build -c content/site.yaml -s content -o site "$@"
    "$BUILD/vramdoc" check site
}

fuzz() {
    install_missing "$to_build $to_fuzz"
    make -s -j"$JOBS" BUILD="$BUILD/fuzz" MODE=fuzz fuzzers
    sh tests/fuzz/run.sh "$BUILD/fuzz" "${FUZZ_SECONDS:-600}"
}

verb=${1:-site}
[ $# -eq 0 ] || shift
case $verb in
site) site "$@" ;;
test)
    install_missing "$to_build $to_test"
    make -s -j"$JOBS" BUILD="$BUILD" all
    exec sh tests/run.sh "$@" ;;
check)
    install_missing "$to_build $to_test"
    exec sh tests/check.sh "$@" ;;
bench)
    if [ "${1:-}" = accuracy ]; then
        install_missing "$to_build"
        shift
        exec sh tests/bench/accuracy.sh "$@"
    fi
    install_missing "$to_build $to_bench"
    make -s -j"$JOBS" BUILD="$BUILD" all
    exec sh tests/bench/run.sh "$@" ;;
probe)
    # A GPU machine often has no network: nvcc and a C compiler are enough, the site is for where the rest is there too.
    (compile) || make -s -j"$JOBS" BUILD="$BUILD" "$BUILD/vramprobe"
    [ -x "$BUILD/vramprobe" ] || { echo "the probe needs nvcc (CUDA Toolkit)"; exit 3; }
    exec sh kernels/measure.sh "$@" ;;
serve)
    compile
    exec "$BUILD/vramdoc" serve -c content/site.yaml -s content -o site "$@" ;;
fuzz) fuzz ;;
truth) exec sh tests/oracle/make.sh "$@" ;;
wheel)
    install_missing "$to_build $to_wheel"
    make -s -j"$JOBS" BUILD="$BUILD" wheel ;;
install)
    compile
    make -s BUILD="$BUILD" prefix="${prefix:-/usr/local}" DESTDIR="${DESTDIR:-}" install ;;
clean)
    make -s BUILD="$BUILD" clean
    rm -rf templates/vram.js templates/vram.wasm.js .site.vramdoc-cache
    find site -mindepth 1 ! -name .gitignore -delete ;;
*)
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0"
    exit 2 ;;
esac
