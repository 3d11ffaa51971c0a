#!/bin/sh
# Runs a server for as long as its own standard input is open, then kills it and removes its folder, however the process
# that held the other end has ended: guard.sh <folder> <command...>
# A line on standard input kills the server with -9 and starts it again on the same folder.
folder=$1
shift
# Ctrl-C reaches the whole group; the guard stays until the end of its input.
trap '' INT TERM HUP
end() {
	# Behind unshare, the one that counts is its child: the first process of the namespace.
	child=$(cat "/proc/$server/task/$server/children" 2>/dev/null)
	kill -9 ${child:-$server}
	wait "$server"
}
"$@" </dev/null &
server=$!
while read -r _; do
	end
	"$@" </dev/null &
	server=$!
done
end
rm -rf "$folder"
