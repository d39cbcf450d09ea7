#!/usr/bin/env bash
# Runs everything: build, types and style, and all tests with the real client. The tests install
# what they need (tmux, chromium, shellcheck) by themselves.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -d node_modules ] || npm ci
node scripts/build.mjs
npm run --silent check
exec npx --no-install vitest run "$@"
