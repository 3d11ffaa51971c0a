#!/bin/sh
# Installs Debian, PostgreSQL and the engine into a new folder: fill-chroot.sh <folder> <suite> <mirror>
# Runs in a mount namespace of its own, so that nothing has to be unmounted.
set -eu
root=$1 suite=$2 mirror=$3

mkdir -p "$root/etc/dpkg/dpkg.cfg.d" "$root/etc/postgresql-common"
printf 'force-unsafe-io\npath-exclude=/usr/share/doc/*\npath-exclude=/usr/share/locale/*\n' >"$root/etc/dpkg/dpkg.cfg.d/small"
echo 'create_main_cluster = false' >"$root/etc/postgresql-common/createcluster.conf"

echo "Debian $suite from $mirror"
debootstrap --variant=minbase "$suite" "$root" "$mirror"
# The packages' scripts read /proc.
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
if [ -d /etc/ssl/certs ]; then
  mkdir -p "$root/etc/ssl/certs"
  mount --bind /etc/ssl/certs "$root/etc/ssl/certs"
fi
# No service starts when its package is installed.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"

echo 'PostgreSQL and the engine'
chroot "$root" apt-get install -y --no-install-recommends postgresql-18 postgresql-18-documentdb
chroot "$root" apt-get clean
rm -rf "$root/var/lib/apt/lists"

echo 'A database cluster for servers to start from'
mkdir "$root/srv/data"
chroot "$root" chown postgres:postgres /srv/data
chroot --userspec=postgres:postgres "$root" sh -eu <<'SCRIPT'
cd /srv/data
PATH=/usr/lib/postgresql/18/bin:$PATH
initdb -D cluster -U twinline -A trust -E UTF8 --locale=C.UTF-8 --wal-segsize=1 --no-sync --no-instructions
cat >>cluster/postgresql.conf <<'CONF'
listen_addresses = ''
unix_socket_directories = '/srv/data'
shared_preload_libraries = 'pg_cron,pg_documentdb_core,pg_documentdb'
documentdb.localhost_connection_string = 'host=/srv/data'
cron.database_name = 'postgres'
cron.use_background_workers = on
cron.log_run = off
cron.log_statement = off
max_worker_processes = 16
max_connections = 250
shared_buffers = 64MB
min_wal_size = 8MB
max_wal_size = 256MB
wal_level = minimal
max_wal_senders = 0
jit = off
deadlock_timeout = 200ms
# As long as MongoDB lets a transaction live.
idle_in_transaction_session_timeout = 60s
# The data die with the server: tests on it are not about durability.
fsync = off
full_page_writes = off
CONF
pg_ctl -D cluster -w -s -l /tmp/cluster.log start
psql -q -h /srv/data -U twinline postgres <<'SQL'
SET client_min_messages = warning;
CREATE EXTENSION documentdb CASCADE;
-- Index builds are not queued here, so nothing needs to look for them every two seconds.
SELECT cron.unschedule(jobname) FROM cron.job WHERE jobname LIKE 'documentdb_index_build_task%';
SQL
pg_ctl -D cluster -w -s -m fast stop
SCRIPT
mv "$root/srv/data/cluster" "$root/srv/cluster"
