#!/bin/sh
# Run a small loadout with a tiny model on this machine, in a scratch folder: no key, no network.
# Call: MATERIAC=path/to/materiac demo-local.sh FOLDER-OF-LOADOUTS
set -eu

scratch=$(mktemp -d "${TMPDIR:-/tmp}/materiac-demo.XXXXXX")
cd "$scratch"
cp "$1/scripts/local.json" tiny.json

cat << 'WORDS'
This shows the plumbing, not quality: the model has 135 million parameters and does not know what it
says. Its verdicts and plans are real answers, held to the contract of each socket by a schema.
WORDS

say() { printf '\n\033[1m$ materiac %s\033[0m\n' "$*"; }

say run tiny.json --request '"a garden shed"'
"$MATERIAC" run tiny.json --request "a garden shed"

for file in casts/*/sockets/*/*.md; do
    printf '\n\033[1m%s\033[0m\n' "${file#casts/*/}"
    cat "$file"
    echo
done

echo
echo "everything lies in $scratch"
