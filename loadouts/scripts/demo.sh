#!/bin/sh
# Check, draw and run the shipped Full-Auto loadout with a scripted agent, in a scratch folder.
# Call: MATERIAC=path/to/materiac demo.sh FOLDER-OF-LOADOUTS
set -eu

loadouts=$1
scratch=$(mktemp -d "${TMPDIR:-/tmp}/materiac-demo.XXXXXX")
cd "$scratch"

if command -v git > /dev/null; then
    git init --quiet .
    git config user.name Demo
    git config user.email demo@example.invalid
fi
cp "$loadouts/full-auto.json" "$loadouts/scripts/full-auto.agent.json" .

say() { printf '\n\033[1m$ materiac %s\033[0m\n' "$*"; }

say check full-auto.json
"$MATERIAC" check full-auto.json

say render full-auto.json -o full-auto.svg
"$MATERIAC" render full-auto.json -o full-auto.svg
echo "the picture: $scratch/full-auto.svg"

say run full-auto.json --agent scripted:full-auto.agent.json --request '"greet everybody by name"'
"$MATERIAC" run full-auto.json --agent scripted:full-auto.agent.json --request "greet everybody by name"

echo
echo "everything lies in $scratch"
