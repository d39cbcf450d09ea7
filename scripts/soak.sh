#!/usr/bin/env bash
# Runs the heavy proofs: each has a time limit, and together they take fifty minutes. Arguments
# select some of them by name; without arguments all of them run.
set -u
cd "$(dirname "$0")/.."
[ -f dist/baton.mjs ] || node scripts/build.mjs || exit 1

# name, seconds at most
proofs="kill-storm 300
crowd 90
long-transcript 120
load 120
page-load 180
full-disk 120
archive 180
messages 420
client-runs 400
jobs 900
jobs-without-briefs 600
job-crowd 400
jobs-climb 400
proof 1800"

failed=
while read -r name seconds; do
  if [ $# -gt 0 ]; then case " $* " in *" $name "*) ;; *) continue ;; esac; fi
  began=$SECONDS
  if timeout "$seconds" env -u NODE_EXTRA_CA_CERTS node "test/soak/$name.mjs" </dev/null; then
    echo "  $name: $((SECONDS - began)) s"
  else
    echo "  $name FAILED after $((SECONDS - began)) s"
    failed="$failed $name"
  fi
done <<<"$proofs"

if [ -n "$failed" ]; then echo "FAILED:$failed"; exit 1; fi
echo "All proofs hold."
