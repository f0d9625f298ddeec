/**
 * Takes an installation away whose KubeVirt object is being deleted. The rules, the first that fits:
 *
 *   there are machines, and they are to stay     nothing is removed; the status names some
 *   there are machines                           delete them, while everything that shuts them down still runs
 *   objects of ours are stored                   delete the last kind of them (the opposite of the order in which they came), wait until it is gone
 *   nodes carry our labels                       take them off
 *   nothing of us is left                        let the KubeVirt object go
 */
import { isDeleting, type KubeObject, keyOf, refOf } from '../../api/meta.ts';
import type { Action, Decision } from '../../reconcile/decision.ts';
import { decideKubeVirtStatus } from '../status/decide.ts';
import type { Problem } from '../status/status.ts';
import type { InstallationObserved } from './observed.ts';

const LOOK_AGAIN_MS = 2_000;
const SHOWN = 5;
const OUR_KEY = /(^|\.)kubevirt\.io\//;

export function decideRemoval(observed: InstallationObserved, letGo: Action): Decision {
  const { kubeVirt, virtualMachines, stored, markedNodes } = observed;
  if (virtualMachines.length > 0 && kubeVirt.spec.uninstallStrategy !== 'RemoveWorkloads')
    return writeStatus(observed, blockedBy(virtualMachines));
  if (virtualMachines.length > 0)
    return withStatus(
      observed,
      virtualMachines
        .filter((each) => !isDeleting(each))
        .map((each) => remove(each, 'the installation goes, and uninstallStrategy is RemoveWorkloads')),
    );
  const last = stored.at(-1);
  if (last) {
    const sameKind = stored.filter((each) => each.kind === last.kind && !isDeleting(each));
    return withStatus(
      observed,
      sameKind.map((each) => remove(each, 'the installation goes')),
    );
  }
  if (markedNodes.length > 0) return withStatus(observed, markedNodes.map(unmark));
  return { actions: [letGo] };
}

/** The labels and annotations of ours on a node. */
export function ourMarks({ metadata: { labels = {}, annotations = {} } }: KubeObject) {
  const ours = (map: Readonly<Record<string, string>>) => Object.keys(map).filter((key) => OUR_KEY.test(key));
  return { labels: ours(labels), annotations: ours(annotations) };
}

function unmark(node: KubeObject): Action {
  const { labels, annotations } = ourMarks(node);
  const none = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, null]));
  return {
    do: 'patch',
    target: refOf(node),
    patch: { metadata: { labels: none(labels), annotations: none(annotations) } },
    because: 'no machine runs there any more',
  };
}

function remove(object: KubeObject, because: string): Action {
  return { do: 'delete', target: refOf(object), propagationPolicy: 'Foreground', because };
}

function blockedBy(virtualMachines: readonly KubeObject[]): Problem {
  const names = virtualMachines.slice(0, SHOWN).map(({ kind, metadata }) => `${kind} ${keyOf(metadata)}`);
  const more = virtualMachines.length > SHOWN ? ` and ${virtualMachines.length - SHOWN} more` : '';
  return {
    reason: 'WorkloadsExist',
    message: `Nothing is removed while there are machines: ${names.join(', ')}${more}. Delete them, or set spec.uninstallStrategy to RemoveWorkloads.`,
  };
}

function withStatus(observed: InstallationObserved, actions: readonly Action[]): Decision {
  const written = writeStatus(observed, undefined);
  return { ...written, actions: [...actions, ...written.actions] };
}

function writeStatus({ kubeVirt, installation }: InstallationObserved, problem: Problem | undefined): Decision {
  const { actions } = decideKubeVirtStatus({ kubeVirt, installation: { ...installation, stage: 'deleting', problem } });
  return { actions, lookAgainAfterMs: LOOK_AGAIN_MS };
}
