# Sourced by our scripts: sets NODE to a Node.js of version 24 or newer, the machine's own or the project's.
# The caller sets PROJECT. Prints nothing; NODE is empty when there is none yet, for the reason NODE_WHY. npm keeps to our CACHE, not to ~/.npm.
CACHE=${KUBEVIRT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/kubevirt-ts}
export npm_config_cache="$CACHE/npm"
NODE=
NODE_WHY='this clone has not been set up'
NODE_FIX=$PROJECT/script/bootstrap
for candidate in "$PROJECT"/.tools/node/node_modules/node-linux-*/bin/node; do
  if [ -x "$candidate" ]; then NODE=$candidate; fi
done
if [ -z "$NODE" ] && command -v node >/dev/null 2>&1; then
  case "$(node --version)" in
    v2[4-9].* | v[3-9][0-9].*) NODE=$(command -v node) ;;
  esac
fi
