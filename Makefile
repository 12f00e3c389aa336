# Two commands matter most: `make demo` shows the main job for real, `make test` proves what must hold.
GO        ?= go
LINT      := .bin/golangci-lint
LINT_AT   := v2.15.0
FUZZTIME  ?= 30s
SOURCES   := $(shell git ls-files -co --exclude-standard extension/src extension/static extension/manifest.json server/web/ui packager relay/cdp/methods.json 2>/dev/null)
VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.DEFAULT_GOAL := help
.PHONY: help setup clients bundle build run demo test lint bench soak fuzz vulncheck clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: node_modules/.package-lock.json ## check for Go, Node, a C compiler and Chrome; install what can be installed
	@scripts/setup

node_modules/.package-lock.json: package.json package-lock.json
	@scripts/setup tools
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

clients: e2e/clients/node_modules/.package-lock.json ## install the CDP clients that the tests drive

e2e/clients/node_modules/.package-lock.json: e2e/clients/package.json e2e/clients/package-lock.json
	@scripts/setup tools
	npm ci --prefix e2e/clients --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

packager/dist/chrome-extension.zip: node_modules/.package-lock.json $(SOURCES)
	$(GO) run ./packager/cmd/bundle

bundle: packager/dist/chrome-extension.zip ## bundle the extension, the page script and the dashboard

build: bundle ## write bin/chaperone
	$(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/chaperone ./cmd/chaperone

run: setup build ## the server in the foreground, for everyday use
	bin/chaperone serve

demo: setup build ## the main job for real: your browser's road and the managed one, a refused write, a verified ledger
	bin/chaperone demo

test: setup clients build ## everything that must hold, unit to real browser
	$(GO) vet ./...
	$(GO) test -race -count=1 -p 1 -timeout 60m ./... # -count=1: the cache does not see that e2e builds the binary

lint: bundle $(LINT) ## Go and TypeScript linters
	$(LINT) run
	npx biome ci .
	npx tsc -p extension
	npx tsc -p server/web/ui

$(LINT):
	GOBIN=$(CURDIR)/.bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_AT)

bench: setup clients build ## ratios against named references and peers, in one run
	$(GO) test -run '^$$' -bench . -benchtime 1x ./e2e
	$(GO) test -run '^$$' -bench . -benchtime 1x ./server/chrome
	$(GO) test -run '^$$' -bench . ./relay/... ./egress/...
	cd egress/bench && $(GO) test -run '^$$' -bench . -benchtime 1x .

soak: setup build ## the long runs with their full counts, which make test cuts short
	CHAPERONE_SOAK=full $(GO) test -run Soak -count=1 -timeout 60m ./server/chrome
	CHAPERONE_SOAK=full $(GO) test -run Soak -count=1 -timeout 180m ./e2e

fuzz: bundle ## every fuzz target for FUZZTIME (30s)
	@scripts/fuzz $(FUZZTIME)

vulncheck: ## known vulnerabilities in the dependencies (needs the network)
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

clean: ## remove what was built
	rm -rf bin node_modules extension/test-dist
	find packager/dist -mindepth 1 ! -name .keep -delete
