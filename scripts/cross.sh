#!/bin/sh
# Runs the tests where this machine is not: other architectures and older x86 processors under QEMU's user-mode emulation, and WebAssembly under Node. BLOCKED_WANT_KERNEL makes a
# run fail if it would test another kernel than its name says. QEMU emulates no AVX-512.
#
#	scripts/cross.sh [name ...]     all, or those named
set -eu
cd "$(dirname "$0")/.."
export CGO_ENABLED=0

wanted="${*:-purego nehalem haswell noxsave 386 arm64 arm64-purego s390x riscv64 ppc64le loong64 arm wasm}"

# run NAME KERNEL GOARCH EXEC [TAGS [TESTS]]
run() {
	name=$1 kernel=$2 arch=$3 runner=$4 tags=${5:-} tests=${6:-.}
	echo "== $name: kernel $kernel"
	GOARCH=$arch BLOCKED_WANT_KERNEL=$kernel go test -short -vet=off -timeout 20m -tags "$tags" -run "$tests" ${runner:+-exec "$runner"} .
}

# one NAME
one() {
	case $1 in
	purego) run purego generic "$(go env GOARCH)" '' purego ;;
	nehalem) run nehalem generic amd64 'qemu-x86_64-static -cpu Nehalem' ;;
	haswell) run haswell avx2 amd64 'qemu-x86_64-static -cpu Haswell' ;;
	noxsave) run noxsave generic amd64 'qemu-x86_64-static -cpu Haswell,-xsave' '' 'Kernel|Golden|Concurrent' ;; # an operating system that keeps no wide registers: then all is as on nehalem
	386) run 386 generic 386 "$([ "$(uname -m)" = x86_64 ] || echo qemu-i386-static)" ;;
	arm64) run arm64 neon arm64 qemu-aarch64-static ;;
	arm64-purego) run arm64-purego generic arm64 qemu-aarch64-static purego ;;
	loong64) run loong64 generic loong64 qemu-loongarch64-static ;;
	s390x | riscv64 | ppc64le | arm) run "$1" generic "$1" "qemu-$1-static" ;;
	wasm)
		export PATH="$PATH:$(go env GOROOT)/lib/wasm" GOOS=js
		run wasm generic wasm ''
		;;
	*)
		echo "unknown name $1" >&2
		exit 2
		;;
	esac
}

if [ $# = 1 ]; then
	one "$1"
	exit
fi

# Two at a time: go test takes one processor for the most part.
# shellcheck disable=SC2086
printf '%s\n' $wanted | xargs -n 1 -P 2 sh scripts/cross.sh
