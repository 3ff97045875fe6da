#!/bin/sh
# Builds and vets the root module for every GOOS/GOARCH that Go knows, or one pair an architecture with -short, each with and without purego.
set -eu
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
if [ "${1:-}" = -short ]; then
	pairs="linux/386 linux/amd64 linux/arm linux/arm64 linux/loong64 linux/mips linux/mips64le linux/ppc64 linux/ppc64le linux/riscv64 linux/s390x js/wasm darwin/arm64 windows/amd64"
else
	pairs=$(go tool dist list)
fi
for pair in $pairs; do
	for tags in '' purego; do
		case $pair in
		# These need cgo to link a program; a package builds and vets without.
		*) GOOS=${pair%/*} GOARCH=${pair#*/} go build -tags "$tags" ./... && GOOS=${pair%/*} GOARCH=${pair#*/} go vet -tags "$tags" ./... ;;
		esac || { echo "FAIL $pair ${tags:-without tags}"; exit 1; }
	done
	echo "ok $pair"
done
