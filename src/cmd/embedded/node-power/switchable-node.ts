/** A node that can be stopped, killed and started again while the cluster runs. */
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import type { NodePower } from '../../../api/kubevirt/node-power.ts';
import { ApiError } from '../../../base/errors.ts';
import { livingPods } from '../../../base/node/living-pods.ts';
import { killProcess } from '../../../base/node/process-identity.ts';
import type { Kubelet } from '../../../control-plane/kubelet/start.ts';
import { folderOf, type NodeOptions, nodeNameOf, type RunningNode, startNode } from '../start-node.ts';

export class SwitchableNode {
  readonly name: string;
  readonly #options: NodeOptions;
  #power: NodePower = 'stopped';
  #running: (RunningNode & { readonly off: AbortController }) | undefined;

  constructor(options: NodeOptions) {
    this.name = nodeNameOf(options.number);
    this.#options = options;
  }

  get power(): NodePower {
    return this.#power;
  }

  /** Whoever asks for something of a node that does not run is told so. */
  get kubelet(): Kubelet {
    if (!this.#running) throw new ApiError('ServiceUnavailable', `node ${this.name} is ${this.#power}`);
    return this.#running.kubelet;
  }

  /** Resolves when guests can be placed there. */
  async start(): Promise<void> {
    if (this.#running) return;
    const off = new AbortController();
    const as: NodeOptions['as'] = (...who) => {
      const given = this.#options.as(...who);
      return { ...given, signal: AbortSignal.any([given.signal, off.signal]) };
    };
    try {
      this.#running = { ...(await startNode({ ...this.#options, as })), off };
    } catch (error) {
      off.abort(); // no half of a node stays
      throw error;
    }
    this.#power = 'running';
  }

  /** Its kubelet and virt-handler end; guests and containers run on. */
  async stop(): Promise<void> {
    this.#running?.off.abort();
    await this.ended();
    this.#running = undefined;
    this.#power = 'stopped';
  }

  /** As when the power goes: nobody is left who could tell of it, then everything that ran there ends at once. */
  async kill(): Promise<void> {
    await this.stop();
    const root = `${realpathSync(folderOf(this.#options.home, this.#options.number))}${sep}`;
    for (const pod of livingPods(this.#options.home))
      if (pod.dir.startsWith(root)) for (const { process } of pod.containers) killProcess(process);
    this.#power = 'killed';
  }

  /** Resolves when nothing of it works any more, after somebody has told it to end. */
  async ended(): Promise<void> {
    await this.#running?.stopped;
  }
}
