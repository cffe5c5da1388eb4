# `make test` proves the project: everything CI runs, in the order in which a
# mistake is cheapest to find. Each part is a target of its own (`make help`).
#
# Needed: Go, git, make. Fetched when they are not there, and said so: the
# linters (Go modules, at the versions in .ci/tools.mod); for the tests under e2e/
# buildah from Debian where no Docker engine runs, node and npm (the reference
# implementation of JsonLogic, axe, GitHub's description of its API, the generator of
# the site), and Chromium.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.NOTPARALLEL:

# Absolute, because the same tools check the module under e2e/.
TOOL := go tool -modfile=$(CURDIR)/.ci/tools.mod

# The race detector needs a C compiler. Go sets CGO_ENABLED to 0 where it finds
# none, and then the tests run without it rather than not at all.
RACE := $(filter 1,$(shell go env CGO_ENABLED))

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: test
test: lint unit check-docs e2e e2e-sigstore ## everything that proves the project, e2e included
	@echo "== all of it passed"

.PHONY: lint
lint: fmt vet staticcheck actionlint ## gofmt, go vet, staticcheck, actionlint

.PHONY: fmt
fmt: ## every Go file is in gofmt's form
	@echo "== gofmt"
	@files=$$(gofmt -l .) || exit 1; \
	if [ -n "$$files" ]; then echo "not formatted; run gofmt -w on:"; echo "$$files"; exit 1; fi

.PHONY: vet
vet: ## go vet, of the product and of e2e
	@echo "== go vet"
	go vet ./...
	GOOS=js GOARCH=wasm go vet ./playground/wasm
	cd e2e && go vet ./...
	cd e2e/sigstore && go vet ./...
	cd e2e/release && go vet ./...

.PHONY: staticcheck
staticcheck: ## staticcheck, of the product and of e2e
	@echo "== staticcheck (built on first use, about half a minute)"
	$(TOOL) staticcheck ./...
	cd e2e && $(TOOL) staticcheck ./...
	cd e2e/sigstore && $(TOOL) staticcheck ./...
	cd e2e/release && $(TOOL) staticcheck ./...

# actionlint 1.7.12 does not know `queue`, which GitHub has had since May 2026 (https://github.com/rhysd/actionlint/issues/657).
# shellcheck and pyflakes are switched off so that the result does not depend
# on what else a machine has.
ACTIONLINT := $(TOOL) actionlint -shellcheck= -pyflakes= -ignore '^unexpected key "queue" for "concurrency" section'
.PHONY: actionlint
actionlint: ## the workflows, and action.yml through the workflow that uses it
	@echo "== actionlint"
	$(ACTIONLINT)
	@echo "== actionlint, of the example and of what packgate init writes"
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	go run . init "$$dir/one" > "$$dir/said" && go run . init "$$dir/many" --matrix > "$$dir/said" && \
	mkdir "$$dir/.git" && go run . init "$$dir/a folder" --matrix > "$$dir/said" && \
	$(ACTIONLINT) examples/*/.github/workflows/*.yml "$$dir"/*/.github/workflows/*.yml "$$dir"/.github/workflows/*.yml

# A test that hangs ends with the stacks of its goroutines. `make vet` vets the tests too.
LIMIT := -vet=off -timeout 20m

.PHONY: unit
unit: ## go test of the product
	@echo "== go test"
	go test $(LIMIT) ./...
	@echo "== $(if $(RACE),go test with the race detector where goroutines are started,no C compiler is here so without the race detector)"
	$(if $(RACE),.ci/race $(LIMIT))

.PHONY: check-docs
check-docs: ## docs/ is what the code says
	@echo "== generated documentation"
	go run ./internal/docgen -check

.PHONY: site
site: ## docs/site/dist, the documentation as a site, and no link of it is dead
	@echo "== the documentation as a site"
	@e2e/node.sh
	@docs/site/build.sh

# -count=1: the result depends on the Dockerfile and on what is installed, which
# Go's test cache does not see.
.PHONY: e2e
e2e: site ## the image built and run as GitHub does, the HTML report and the site in a browser, and others' implementations against ours
	@engine=$$(e2e/image/engine.sh) && echo "== e2e, the image with $$engine"
	cd e2e && go test -count=1 -timeout 10m ./...

# Each signature waits a second for Rekor, which looks that often whether an entry is in its
# log: several tests wait at a time, whatever the number of cores is.
WAITING := -parallel 8

# A module of its own: the services are heavy, and the product has nothing of them.
.PHONY: e2e-sigstore
e2e-sigstore: ## publishing with real Sigstore services and registries, read by others' clients
	@e2e/sigstore/needs.sh
	@echo "== e2e, publishing (the services are built on first use, about four minutes)"
	cd e2e/sigstore && go test -count=1 -timeout 20m $(WAITING) -skip '^TestCosign' ./...

# Not part of `make test`, since cosign takes long to build the first time: a job of
# its own in CI, whose build cache keeps it.
.PHONY: e2e-cosign
e2e-cosign: ## what is published, verified by cosign
	@e2e/sigstore/needs.sh
	@echo "== e2e, cosign (built on first use, six minutes and more)"
	cd e2e/sigstore && go test -count=1 -timeout 30m -run '^TestCosign' .

# A job of its own in CI for the same reason.
.PHONY: e2e-release
e2e-release: ## the archives of a release, built twice, in two places
	@echo "== e2e, release (goreleaser is built on first use, some minutes)"
	cd e2e/release && go test -count=1 -timeout 30m ./...

# What the release workflow builds, without its tag: nothing is signed or published.
.PHONY: release-try
release-try: ## dist/, the archives of a release
	go tool -modfile=e2e/release/go.mod goreleaser release --config .github/goreleaser.yaml --snapshot --clean --skip=publish,announce

# How long each target of `make fuzz` runs.
FUZZTIME ?= 20s

# Go fuzzes one target at a time, so the targets are listed first: a new one is run
# because it is there. A target that fails leaves its input under testdata/fuzz of
# its package and the others still run. An input is made smaller five times and no
# more, since a failure is wanted sooner than a short one.
.PHONY: fuzz
fuzz: ## every fuzz target, for FUZZTIME each (20s)
	@listed=$$(go test -list '^Fuzz' ./...) || { echo "$$listed"; exit 1; }; \
	targets=$$(echo "$$listed" | awk '/^Fuzz/ { names[++n] = $$1 } $$1 == "ok" { while (n) print $$2 "=" names[n--] }' | sort); \
	[ -n "$$targets" ] || { echo "no fuzz target is there"; exit 1; }; \
	failed=; \
	for t in $$targets; do \
		echo "== $${t#*=} in $${t%%=*}"; \
		go test -run '^$$' -fuzz "^$${t#*=}\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x "$${t%%=*}" || failed="$$failed $$t"; \
	done; \
	if [ -n "$$failed" ]; then echo "these failed:"; printf '  %s\n' $$failed; exit 1; fi

.PHONY: docs
docs: ## write the generated documentation anew
	go generate ./...

.PHONY: pictures
pictures: ## docs/pictures/review-*.png, of the pages as packgate writes them now
	@e2e/node.sh
	cd e2e && PICTURES=1 go test -count=1 -run '^TestPictures$$' .

.PHONY: bench
bench: ## benchmarks
	go test -run '^$$' -bench . -benchmem ./bench/...

# The compiler as WebAssembly, for the HTML report to hold. It is not in the
# repository: about 5.7 MB, 1.6 MB compressed, the same bytes from the same Go.
.PHONY: playground
playground: ## playground/dist/, what a packgate with its playground embeds
	go run ./playground/build

.PHONY: build
build: playground ## bin/packgate, with its playground
	CGO_ENABLED=0 go build -trimpath -tags playground,grpcnotrace -o bin/packgate .
