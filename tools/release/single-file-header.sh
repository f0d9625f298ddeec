#!/bin/sh
# kubevirt-ts in one file. Called for the first time, it unpacks what follows this script into the cache folder; then it runs virtctl from there.
# Called by another name, such as that of a link vmctl or kubectl-virt, it runs that program.
set -eu
fail() { printf 'error[%s]: %s\nwhy: %s\nfix: %s\n' "$1" "$2" "$3" "$4" >&2; exit 7; }
[ "$(uname -s) $(uname -m)" = 'Linux @ARCHITECTURE@' ] ||
  fail HOST_UNSUPPORTED "this file is for Linux on @ARCHITECTURE@, not for $(uname -s) on $(uname -m)" 'the programs in it are for that' 'take the file for this machine'
releases=${KUBEVIRT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/kubevirt-ts}/releases
folder=$releases/@NAME@
if [ ! -d "$folder" ]; then
  mkdir -p "$releases" || fail CACHE_NOT_WRITABLE "$releases cannot be made" 'the programs are unpacked there' 'export KUBEVIRT_CACHE=FOLDER'
  work=$(mktemp -d "$releases/unpacking-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  chmod 755 "$work"
  tail -n +@FIRST_LINE@ -- "$0" | tar -xzf - -C "$work" || fail UNPACK_FAILED "$0 cannot be unpacked" 'the file is damaged, or the disk is full' 'sha256sum --check SHA256SUMS'
  # Whoever was quicker has unpacked the same.
  mv -T "$work" "$folder" 2>/dev/null || [ -d "$folder" ]
  rm -rf "$work"
  trap - EXIT
fi
# What people call it by, and what starts it at boot, is this file: the cache may go.
case "$0" in /*) VIRTCTL_FILE=$0 ;; *) VIRTCTL_FILE=$PWD/$0 ;; esac
export VIRTCTL_FILE
case "${0##*/}" in vmctl | kubectl-virt) program=${0##*/} ;; *) program=virtctl ;; esac
exec "$folder/bin/$program" "$@"
