/**
 * Keeps the keys and passwords of a guest as the Secrets of its Pod say: set when the agent comes (a guest may have forgotten them) and
 * whenever a Secret changes. The kubelet brings the Secrets; we read them where it put them, with no right of our own to read any.
 */
import { join } from 'node:path';
import { podVolumePath } from '../../api/core/pod-folder-layout.ts';
import type { CredentialSource } from '../../api/kubevirt/access-credentials.ts';
import { credentialMount } from '../../api/launcher/mounts.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { deepEqual } from '../../base/json.ts';
import type { Logger } from '../../base/log.ts';
import type { AgentSession } from './agent-session.ts';
import type { Question } from './channel.ts';
import { credentialQuestions, type SecretValues } from './credentials.ts';
import { readSecretFolder } from './read-secret-folder.ts';

export type KeeperOptions = {
  readonly agent: AgentSession;
  readonly sources: readonly CredentialSource[];
  /** The folder of the Pod. */
  readonly podFolder: string;
  readonly clock: Clock;
  readonly log: Logger;
};

const LOOK_MS = 5_000;
const RETRY_MS = 30_000;

/** Runs until the signal aborts; does nothing for guests that have no credentials by agent. */
export async function keepCredentials({ agent, sources, podFolder, clock, log }: KeeperOptions, signal: AbortSignal): Promise<void> {
  const byAgent = sources.filter(({ way }) => way !== 'cloud-init');
  if (byAgent.length === 0) return;
  let done: { readonly opened: number; readonly questions: readonly Question[] } | undefined;
  while (!signal.aborted) {
    const { opened } = agent;
    let pauseMs = LOOK_MS;
    if (agent.facts.state === 'connected') {
      try {
        const questions = credentialQuestions(byAgent, await readSecrets(byAgent, podFolder));
        if (questions.length > 0 && !deepEqual({ opened, questions }, done)) {
          for (const question of questions) await agent.ask(question);
          done = { opened, questions };
          agent.showCredentials({ isSynced: true });
          log.info('credentials', { because: 'the guest has been given its keys and passwords' });
        }
      } catch (error) {
        done = undefined;
        agent.showCredentials({ isSynced: false, message: messageOf(error) });
        pauseMs = RETRY_MS;
      }
    }
    await agent.changed(clock.sleep(pauseMs, signal));
  }
}

async function readSecrets(sources: readonly CredentialSource[], podFolder: string): Promise<Map<string, SecretValues>> {
  const found = new Map<string, SecretValues>();
  for (const { secretName } of sources) {
    const folder = join(podFolder, podVolumePath('secret', credentialMount(secretName).name));
    const values = await readSecretFolder(folder);
    if (values) found.set(secretName, values);
  }
  return found;
}
