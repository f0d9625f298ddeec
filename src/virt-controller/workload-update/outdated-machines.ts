/**
 * Which machines run in a launcher of another image than new ones get, and which of them do not say so by their label. Kept up with each change of a machine
 * or its Pod: nobody goes through all of them for it.
 */
import type { Pod } from '../../api/core/pod.ts';
import { type VirtualMachineInstance, VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_OUTDATED_LAUNCHER } from '../../api/kubevirt/names.ts';
import { currentLauncherNameOf } from '../../api/launcher/pod-name.ts';
import { keyOf } from '../../api/meta.ts';
import type { Cache } from '../../client/cache.ts';
import { BY_CONTROLLER, ownerKeysOf } from '../../reconcile/owner.ts';
import { type Source, WakeUps } from '../../reconcile/source.ts';
import { isOutdated } from './is-outdated.ts';

type Options = {
  readonly vmis: Cache<VirtualMachineInstance>;
  /** By their controllers. */
  readonly pods: Cache<Pod>;
  readonly launcherImage: string;
};

/** Whose label says something else than is so. */
export type Mislabelled = { readonly vmi: VirtualMachineInstance; readonly isOutdated: boolean };

export class OutdatedMachines {
  readonly #options: Options;
  readonly #outdated = new Set<string>();
  readonly #mislabelled = new Set<string>();
  readonly #wakeUps = new WakeUps();
  readonly #keysOf: () => readonly string[];

  /** `keysOf`: what is to be looked at when something here has changed. */
  constructor(options: Options, keysOf: () => readonly string[]) {
    this.#options = options;
    this.#keysOf = keysOf;
  }

  get count(): number {
    return this.#outdated.size;
  }

  /** So many of them. */
  mislabelled(most: number): readonly Mislabelled[] {
    return [...this.#mislabelled].slice(0, most).flatMap((key) => {
      const vmi = this.#options.vmis.get(key);
      return vmi ? [{ vmi, isOutdated: this.#outdated.has(key) }] : [];
    });
  }

  /** Follows both caches from its first subscription on. */
  get source(): Source {
    const { vmis, pods } = this.#options;
    const synced = Promise.all([vmis.synced, pods.synced]).then(() => {});
    synced.catch(() => {}); // whoever waits sees the rejection
    return {
      synced,
      subscribe: (wake) => {
        const stops = [
          this.#wakeUps.subscribe(wake),
          vmis.subscribe(({ object }) => this.#look(keyOf(object.metadata))),
          pods.subscribe(({ object }) => ownerKeysOf(VMIS.kind)(object).forEach((key) => this.#look(key))),
        ];
        return () => stops.forEach((stop) => stop());
      },
    };
  }

  #look(key: string): void {
    const { vmis, launcherImage } = this.#options;
    const vmi = vmis.get(key);
    const isOld = vmi !== undefined && isOutdated({ vmi, pod: this.#podOf(vmi) }, launcherImage);
    const isLabelled = vmi?.metadata.labels?.[LABEL_OUTDATED_LAUNCHER] !== undefined;
    const changes = [put(this.#outdated, key, isOld), put(this.#mislabelled, key, vmi !== undefined && isOld !== isLabelled)];
    if (changes.includes(true)) for (const each of this.#keysOf()) this.#wakeUps.wake(each);
  }

  #podOf(vmi: VirtualMachineInstance): Pod | undefined {
    const name = currentLauncherNameOf(vmi);
    return this.#options.pods.byIndex(BY_CONTROLLER, vmi.metadata.uid ?? '').find(({ metadata }) => metadata.name === name);
  }
}

/** Whether that has changed anything. */
function put(set: Set<string>, key: string, isIn: boolean): boolean {
  if (set.has(key) === isIn) return false;
  if (isIn) set.add(key);
  else set.delete(key);
  return true;
}
