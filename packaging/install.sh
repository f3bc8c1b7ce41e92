#!/bin/sh
# Installs the crabtalk archive that lies beside this script, or takes it away again.
#
#   sh install.sh [--prefix DIR] [ARCHIVE]
#   sh install.sh --uninstall [--prefix DIR]
#
# The archive is held against SHA256SUMS beside it, and its program is tried before anything is switched. Files go below
# ~/.local unless --prefix says otherwise; the program before stays as bin/crabtalk.old.
set -eu

main() {
  prefix=${HOME:?}/.local
  archive=
  uninstall=
  while [ $# -gt 0 ]; do
    case $1 in
      --prefix) [ $# -gt 1 ] || fail 2 '--prefix needs a directory'; prefix=$2; shift ;;
      --prefix=*) prefix=${1#--prefix=} ;;
      --uninstall) uninstall=1 ;;
      -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
      -*) fail 2 "there is no option $1; see --help" ;;
      *) archive=$1 ;;
    esac
    shift
  done
  case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
  manifest=$prefix/share/crabtalk/installed
  if [ -n "$uninstall" ]; then remove; else install_archive; fi
}

install_archive() {
  target=$(target_of_this_machine)
  [ -n "$archive" ] || archive=$(find_archive)
  [ -f "$archive" ] || fail 66 "there is no file $archive"
  case ${archive##*/} in
    *-"$target".tar.gz) ;;
    *) fail 69 "${archive##*/} is not for this machine, which is $target" ;;
  esac
  verify
  if ! mkdir -p "$prefix/bin" 2>/dev/null || [ ! -w "$prefix/bin" ]; then
    fail 77 "$prefix/bin is not yours to write: give --prefix DIR"
  fi
  work=$(mktemp -d "$prefix/.crabtalk.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  said=$(LC_ALL=C tar -xzf "$archive" -C "$work" 2>&1) || cannot_unpack
  new=$(echo "$work"/crabtalk-*)
  version=$("$new/bin/crabtalk" --version 2>"$work/said") || cannot_start
  try_program
  put_files
  echo "Installed $version: $prefix/bin/crabtalk"
  [ ! -e "$prefix/bin/crabtalk.old" ] || echo "The one before is bin/crabtalk.old; what runs goes on with it until: crabup daemon restart"
  case :${PATH-}: in
    *:"$prefix/bin":*) ;;
    *) echo "Add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
  [ "$prefix" = "$HOME/.local" ] && where= || where=" --prefix $(quoted "$prefix")"
  [ -f "$0" ] && self=$(quoted "$0") || self=install.sh
  echo "To remove it: sh $self --uninstall$where"
}

target_of_this_machine() {
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) fail 69 "there is no archive for $(uname -s); on Windows unpack the zip" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) cpu=x64 ;;
    aarch64 | arm64) cpu=arm64 ;;
    *) fail 69 "there is no archive for $(uname -m)" ;;
  esac
  [ "$os-$cpu" != darwin-x64 ] || fail 69 'there is no archive for Macs with Intel processors'
  if [ "$os" = linux ] && is_musl; then fail 69 'crabtalk needs glibc, and this system has musl'; fi
  echo "$os-$cpu"
}

is_musl() {
  for loader in /lib/ld-linux-*.so.* /lib64/ld-linux-*.so.*; do
    [ ! -e "$loader" ] || return 1
  done
  for loader in /lib/ld-musl-*.so.1; do
    [ ! -e "$loader" ] || return 0
  done
  return 1
}

# The one beside this script; of several, which one is for the person to say.
find_archive() {
  folder=$(dirname "$0")
  set -- "$folder"/crabtalk-*-"$target".tar.gz
  [ -e "$1" ] || fail 66 "there is no crabtalk-VERSION-$target.tar.gz beside $0"
  [ $# -eq 1 ] || fail 2 "several archives lie beside $0: name one"
  echo "$1"
}

verify() {
  name=${archive##*/}
  sums=$(dirname "$archive")/SHA256SUMS
  [ -f "$sums" ] || fail 65 "there is no $sums to hold $name against"
  wanted=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }' "$sums")
  [ -n "$wanted" ] || fail 65 "SHA256SUMS does not name $name"
  [ "$(sha256 "$archive")" = "$wanted" ] || fail 65 "$name is not the file that SHA256SUMS means; fetch it again"
}

sha256() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum <"$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then shasum -a 256 <"$1" | cut -d ' ' -f 1
  else openssl dgst -sha256 -r <"$1" | cut -d ' ' -f 1; fi
}

cannot_unpack() {
  case $said in
    *'No space left'* | *'Wrote only'*) fail 1 "the disk of $prefix is full; nothing was changed" ;;
    *) fail 65 "${archive##*/} cannot be unpacked: $(echo "$said" | head -n 1)" ;;
  esac
}

cannot_start() {
  said=$(head -n 1 "$work/said")
  case $said in
    *libatomic* | *libstdc++*) fail 69 "crabtalk needs two libraries: apt install libatomic1 libstdc++6" ;;
    *) fail 69 "the program does not start here: $said" ;;
  esac
}

# The version is answered before the program reads anything else, so a command of crabtalk and one of crabup must work too.
try_program() {
  for command in 'config check --json' '--as-crabup list --json'; do
    # shellcheck disable=SC2086 # the command is several words
    said=$(CRABTALK_HOME="$work/home" CRABTALK_NO_DAEMON=1 CRABTALK_SERVICE_MANAGER=supervisor \
      "$new/bin/crabtalk" $command 2>"$work/said" </dev/null) || cannot_run
    case $command$said in
      config*'['*']' | --as*'"daemon"'*) ;;
      *) echo 'it prints no list in JSON' >"$work/said"; cannot_run ;;
    esac
  done
}

cannot_run() {
  fail 69 "the program is damaged: \`crabtalk $command\` fails: $(grep -v '^ *$' "$work/said" | head -n 1)"
}

# The program comes last, by renaming: at every moment there is one, and what runs keeps its file.
put_files() {
  (cd "$new" && find . ! -type d) | sed 's|^\./||' | sort >"$work/files"
  mkdir -p "${manifest%/*}"
  if [ -f "$manifest" ]; then cp "$manifest" "$work/before"; else : >"$work/before"; fi
  sort -u "$work/before" "$work/files" >"$work/all" # nothing is there that no list names, should this be killed
  mv -f "$work/all" "$manifest"
  while IFS= read -r file; do
    [ "$file" != bin/crabtalk ] || continue
    mkdir -p "$prefix/$(dirname "$file")"
    mv -f "$new/$file" "$prefix/$file"
  done <"$work/files"
  if [ -e "$prefix/bin/crabtalk" ]; then
    ln "$prefix/bin/crabtalk" "$work/old" 2>/dev/null || cp -p "$prefix/bin/crabtalk" "$work/old"
    mv -f "$work/old" "$prefix/bin/crabtalk.old"
  fi
  mv -f "$new/bin/crabtalk" "$prefix/bin/crabtalk"
  while IFS= read -r file; do
    case $file in /* | *..*) continue ;; esac
    grep -Fqx -- "$file" "$work/files" || rm -f "$prefix/$file"
  done <"$work/before"
  mv -f "$work/files" "$manifest"
}

remove() {
  [ -f "$manifest" ] || fail 66 "nothing of this script is below $prefix; give --prefix DIR"
  while IFS= read -r file; do
    case $file in /* | *..*) continue ;; esac
    rm -f "$prefix/$file"
  done <"$manifest"
  files=$(cat "$manifest")
  rm -f "$prefix/bin/crabtalk.old" "$manifest"
  for file in $files share/crabtalk/installed; do
    (cd "$prefix" && rmdir -p "$(dirname "$file")" 2>/dev/null) || true
  done
  echo "Removed crabtalk from $prefix; what you said stays in ~/.crabtalk"
}

# As the shell reads it again.
quoted() {
  case $1 in
    *[!A-Za-z0-9_@%+:,./=-]*) printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf %s "$1" ;;
  esac
}

fail() {
  code=$1
  shift
  echo "install.sh: error: $*" >&2
  exit "$code"
}

main "$@"
