#!/bin/sh
# Runs the tests where this machine is not: other architectures and older x86 processors under QEMU's user-mode emulation, and WebAssembly under Node. BLOCKED_WANT_KERNEL makes a
# run fail if it would test another kernel than its name says. QEMU emulates no AVX-512.
#
#	scripts/cross.sh [name ...]     all, or those named
set -eu
cd "$(dirname "$0")/.."
export CGO_ENABLED=0

wanted="${*:-purego nehalem haswell 386 arm64 arm64-purego s390x riscv64 ppc64le loong64 arm wasm}"

# run NAME KERNEL GOARCH EXEC [TAGS]
run() {
	name=$1 kernel=$2 arch=$3 runner=$4 tags=${5:-}
	echo "== $name: kernel $kernel"
	GOARCH=$arch BLOCKED_WANT_KERNEL=$kernel go test -short -vet=off -timeout 20m -tags "$tags" ${runner:+-exec "$runner"} .
}

for name in $wanted; do
	case $name in
	purego) run purego generic "$(go env GOARCH)" '' purego ;;
	nehalem) run nehalem generic amd64 'qemu-x86_64-static -cpu Nehalem' ;;
	haswell) run haswell avx2 amd64 'qemu-x86_64-static -cpu Haswell' ;;
	386) run 386 generic 386 "$([ "$(uname -m)" = x86_64 ] || echo qemu-i386-static)" ;;
	arm64) run arm64 neon arm64 qemu-aarch64-static ;;
	arm64-purego) run arm64-purego generic arm64 qemu-aarch64-static purego ;;
	s390x | riscv64 | ppc64le | loong64 | arm) run "$name" generic "$name" "qemu-$([ "$name" = loong64 ] && echo loongarch64 || echo "$name")-static" ;;
	wasm)
		echo '== wasm: kernel generic'
		PATH="$PATH:$(go env GOROOT)/lib/wasm" GOOS=js GOARCH=wasm BLOCKED_WANT_KERNEL=generic go test -short -vet=off -timeout 20m .
		;;
	*) echo "unknown name $name" >&2; exit 2 ;;
	esac
done
