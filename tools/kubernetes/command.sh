# Sourced by build, up, down and kubeconfig, which differ in their names alone.
PATH=$PATH:/usr/sbin:/sbin # not everybody who becomes root gets these
export PATH
exec "$PROJECT/script/node" "$PROJECT/tools/kubernetes/command.ts" "$(basename "$0")" "$@"
