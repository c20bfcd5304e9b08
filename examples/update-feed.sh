#!/bin/sh
# Replaces a file by a feed, and runs a command if that has changed it:
#
#   update-feed.sh ADDRESS FILE COMMAND
#   update-feed.sh https://tipline.example/api/v1/feeds/deny /etc/nginx/tipline.conf 'nginx -t && nginx -s reload'
#
# The API key is the password in the netrc file, which only its owner may read:
#
#   machine tipline.example login tipline password tip_...
#
# If the feed cannot be read completely, or the address redirects to another, nothing changes. If the command fails, the
# file is what it was before. The exit status is not 0 in both cases. If this script is killed before the command has ended,
# its next run runs the command again.
set -eu
address=$1 file=$2 command=$3
new=$(mktemp "$file.XXXXXX")
trap 'rm -f "$new"' EXIT
# Not every shell does this at its end by a signal.
trap 'exit 1' HUP INT TERM
# --fail for responses that are errors; curl itself fails if a transfer ends early. A redirect is neither, and its body is
# not the feed. It is not followed: the administrator should know that the address is to be changed.
status=$(curl --fail --silent --show-error --max-time 300 --compressed --write-out '%{http_code}' \
  --netrc-file "${TIPLINE_NETRC:-/etc/tipline/netrc}" --output "$new" "$address")
if [ "$status" != 200 ]; then
  echo "update-feed.sh: $address answered $status, not 200: $file stays as it is" >&2
  exit 1
fi
if [ -e "$file" ]; then
  # A file that is still marked may not have been loaded.
  if [ ! -e "$file.unloaded" ] && cmp -s "$new" "$file"; then exit 0; fi
  [ -e "$file.unloaded" ] || cp -p "$file" "$file.old"
elif [ ! -e "$file.unloaded" ]; then
  rm -f "$file.old"
fi
chmod 644 "$new"
: >"$file.unloaded"
mv "$new" "$file"
if ! sh -c "$command"; then
  if [ -e "$file.old" ]; then mv "$file.old" "$file"; else rm "$file"; fi
  rm -f "$file.unloaded"
  exit 1
fi
rm -f "$file.unloaded"
