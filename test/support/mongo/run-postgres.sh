#!/bin/sh
# Runs PostgreSQL on the cluster in <folder>, which begins as a copy, where its socket is too: run-postgres.sh <chroot> <folder>
# Runs in namespaces of its own: mounts, shared memory and every process of the server end with its first process.
set -eu
root=$1 folder=$2

mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
# It may be started again on what an earlier one has left there.
[ -e "$folder/cluster" ] || cp -a "$root/srv/cluster" "$folder/cluster"
chown --reference="$folder/cluster" "$folder"
mount --bind "$folder" "$root/srv/data"
# Inserts of one unique value at the same moment wait for each other until PostgreSQL looks for a deadlock, by default a second;
# MongoDB refuses all but one of them at once. Sooner than 30 ms is too soon for the engine: at 20 ms one batch in fifty that met
# another one in opposite order was broken, from 30 ms on none.
exec chroot --userspec=postgres:postgres "$root" /usr/lib/postgresql/18/bin/postgres -D /srv/data/cluster -c deadlock_timeout=100ms
