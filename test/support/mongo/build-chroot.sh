#!/bin/sh
# Builds a Debian system with PostgreSQL and the DocumentDB engine in a folder: build-chroot.sh <folder>
# Does nothing when the folder is there: it appears at the very end. Of several calls at a time, one builds.
set -eu
folder=$1
part=$folder.part
here=$(dirname "$(readlink -f "$0")")

# The mirror that apt has in its sources for this system, with or without package lists.
mirror() {
  . /etc/os-release
  apt-get indextargets --no-release-info --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' |
    awk -v release="${VERSION_CODENAME:-}" '$1 == release && $2 == "main" { print $3; exit }'
}

mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9
if [ -d "$folder" ]; then exit; fi
mirror=$(mirror)
if [ -z "$mirror" ]; then
  echo 'The sources of apt name no Debian mirror.' >&2
  exit 1
fi
proxy=
eval "$(apt-config shell proxy Acquire::http::Proxy)"
if [ -n "$proxy" ]; then export http_proxy="$proxy"; fi
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

# testing moves less than sid, but a package can drop out of it for a while.
for suite in testing sid; do
  # What a killed build left holds no mounts: those died with their namespace.
  rm -rf --one-file-system "$part"
  if unshare --mount --pid --ipc --fork --kill-child sh "$here/fill-chroot.sh" "$part" "$suite" "$mirror"; then
    mv "$part" "$folder"
    exit
  fi
done
exit 1
