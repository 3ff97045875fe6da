# Everything that a contributor runs. Needs Go and a shell; the cross targets need QEMU's user-mode emulators as well.

GO ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT = github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
FUZZTIME ?= 10m

.PHONY: test
test: ## The tests of this machine's architecture, about a minute.
	$(GO) vet ./...
	$(GO) test ./...

.PHONY: race
race: ## The same, a little shortened, under the race detector (needs cgo).
	$(GO) test -race -short ./...

STRESS ?= 30s

.PHONY: stress
stress: ## Adds, lookups, growth, rotations and rebuilds all at once, for STRESS each, under the race detector.
	BLOCKED_STRESS=$(STRESS) $(GO) test -race -count=1 -timeout 60m -v -run '^TestStress' .

.PHONY: stress-cross
stress-cross: ## The stress test of Concurrent on emulated arm64 and s390x.
	CGO_ENABLED=0 BLOCKED_STRESS=$(STRESS) GOARCH=arm64 $(GO) test -vet=off -count=1 -timeout 60m -exec qemu-aarch64-static -run '^TestStressConcurrent$$' .
	CGO_ENABLED=0 BLOCKED_STRESS=$(STRESS) GOARCH=s390x $(GO) test -vet=off -count=1 -timeout 60m -exec qemu-s390x-static -run '^TestStressConcurrent$$' .

# The modules beside the root's, which need more than it does.
ENGINES = adapters/pebble adapters/goleveldb examples/lsm bench/engines

.PHONY: engines
engines: engines-test ## The adapters' tests in real databases, and the demo and the benchmark in small: a minute. The first time Pebble is downloaded and compiled, twice: some minutes more.
	cd adapters/goleveldb && $(GO) test -race -run 'Concurrent|AreFound' .
	cd adapters/pebble && $(GO) test -race -run Concurrent .
	cd examples/lsm && $(GO) run . -smoke
	cd bench/engines && $(GO) run . -smoke

.PHONY: engines-test
engines-test: ## Of that, what needs neither cgo nor much time.
	for module in $(ENGINES); do (cd $$module && $(GO) vet ./... && $(GO) test ./...) || exit 1; done

.PHONY: engines-race engines-cross
engines-race: ## All tests of the adapters under the race detector: minutes.
	for module in adapters/pebble adapters/goleveldb; do (cd $$module && $(GO) test -race -timeout 20m ./...) || exit 1; done
engines-cross: ## The adapters, databases and all, on an x86 of 32 bits, on arm64, and on a big-endian processor: some ten minutes.
	for module in adapters/pebble adapters/goleveldb; do (cd $$module && export CGO_ENABLED=0 && \
		GOARCH=386 $(GO) test -vet=off ./... && \
		GOARCH=arm64 $(GO) test -vet=off -timeout 20m -exec qemu-aarch64-static ./... && \
		GOARCH=s390x $(GO) test -vet=off -timeout 20m -exec qemu-s390x-static ./...) || exit 1; done

.PHONY: demo
demo: ## What a filter spares in a Pebble database, in about a minute; the first time Pebble is downloaded and compiled, some minutes more.
	cd examples/lsm && $(GO) run .

.PHONY: long
long: ## With up to 425 million keys: minutes and a gigabyte.
	BLOCKED_LONG=1 $(GO) test -timeout 60m -run 'Rates' -v .

.PHONY: lint
lint: ## Formatting, static checks, and that every go.mod is tidy, for which modules may be downloaded.
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'not formatted with gofmt'; exit 1; }
	$(GO) run $(STATICCHECK) ./...
	$(GO) run $(STATICCHECK) -tags purego ./...
	for module in $(ENGINES); do (cd $$module && $(GO) run $(STATICCHECK) ./...) || exit 1; done
	for module in . bench $(ENGINES); do (cd $$module && $(GO) mod tidy -diff) || exit 1; done
	$(GO) run $(ACTIONLINT)

.PHONY: cross
cross: ## Runs the tests on emulated processors: see the script.
	sh scripts/cross.sh

.PHONY: vet-all
vet-all: ## Builds and vets every GOOS/GOARCH, with and without purego.
	sh scripts/vet-all.sh

.PHONY: bench bench-quick bench-ratios bench-concurrent bench-growing bench-engines bench-smoke
bench: ## Everything against every peer, under 30 minutes; writes bench/README.md and its pictures.
	cd bench && $(GO) run .
bench-quick: ## A selection, about two minutes, to bench/results/quick.
	cd bench && $(GO) run . -quick
bench-ratios: ## Our operations over the least that they can cost; writes bench/RATIOS.md.
	cd bench && $(GO) run . -ratios
bench-concurrent: ## Many goroutines, two minutes; writes bench/CONCURRENT.md.
	cd bench && $(GO) run ./concurrent
bench-growing: ## A filter that grows from a thousand keys to ten million; writes bench/GROWING.md.
	cd bench && $(GO) run ./growing
bench-engines: ## The adapters against the engines' own filters, about a minute; writes bench/ENGINES.md.
	cd bench/engines && $(GO) run .
bench-smoke: ## Tiny sizes, only to see that the benchmarks work.
	cd bench && $(GO) vet ./... && $(GO) test ./... && $(GO) run . -smoke
	cd bench && $(GO) run ./concurrent -smoke -o - && $(GO) run ./growing -keys 100000 -fills 1 -rounds 1 -o -

.PHONY: fuzz
fuzz: ## Each fuzz target for FUZZTIME.
	for target in $$($(GO) test -list '^Fuzz' . | grep ^Fuzz); do \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x . || exit 1; \
	done
