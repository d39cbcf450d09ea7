#!/usr/bin/env bash
# Everything: build, types and style, all tests with the real client. Installs what it needs (tmux, chromium, shellcheck) by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -d node_modules ] || npm ci
node scripts/build.mjs
npm run --silent check
exec npx --no-install vitest run "$@"
