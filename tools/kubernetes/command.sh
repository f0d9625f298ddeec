# Sourced by build, up, down and kubeconfig, which differ in their names alone.
. "$PROJECT/script/node.sh"
if [ -z "$NODE" ]; then
  printf 'error[NODE_MISSING]: there is no Node 24 yet\nwhy: this clone has not been set up\nfix: %s/script/bootstrap\n' "$PROJECT" >&2
  exit 7
fi
PATH=$PATH:/usr/sbin:/sbin # not everybody who becomes root gets these
export PATH
exec "$NODE" --disable-warning=ExperimentalWarning "$PROJECT/tools/kubernetes/command.ts" "$(basename "$0")" "$@"
