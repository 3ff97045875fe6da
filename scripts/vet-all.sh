#!/bin/sh
# Builds and vets the root module for every GOOS/GOARCH that Go knows, each with and without purego. With -short only for those with assembly, one of each word size and byte order, and one of each other family of systems: cross.sh compiles and
# tests the other architectures.
set -eu
cd "$(dirname "$0")/.."
if [ "${1:-}" = -short ]; then
	pairs="linux/amd64 linux/arm64 linux/mips linux/mips64le linux/ppc64 darwin/arm64 windows/amd64"
else
	pairs=$(go tool dist list)
fi
for pair in $pairs; do
	GOOS=${pair%/*} GOARCH=${pair#*/}
	export GOOS GOARCH
	# Some systems link with cgo only. The package has none of it, so that no C compiler is needed to build and vet it there either.
	case $pair in
	android/386 | android/amd64 | android/arm | ios/*) export CGO_ENABLED=1 ;;
	*) export CGO_ENABLED=0 ;;
	esac
	for tags in '' purego; do
		if ! { go build -tags "$tags" . && go vet -tags "$tags" .; }; then
			echo "FAIL $pair ${tags:-without tags}"
			exit 1
		fi
	done
	echo "ok $pair"
done
