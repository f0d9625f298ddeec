/** Which Pod we are. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PODS, type Pod } from '../api/core/pod.ts';
import { UserError } from '../base/errors.ts';
import { sandboxPath } from '../base/node/sandbox-path.ts';
import type { Client } from '../client/client.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Surroundings = { readonly env: Environment; readonly hostname: string };

/** Where the examples mount the downward API. */
const PODINFO = '/etc/podinfo';

/** The Pod's name: from the downward API's file, from its variable, else the host name, which in a Pod is the same unless somebody changed it. */
export function podNameOf({ env, hostname }: Surroundings): string {
  // An embedded Pod shares the host's name; its own is in HOSTNAME.
  return podinfo('name', env) || env['POD_NAME'] || env['HOSTNAME'] || hostname;
}

/** Our own Pod, as the API shows it. */
export async function findOwnPod(client: Client, namespace: string, surroundings: Surroundings): Promise<Pod> {
  const name = podNameOf(surroundings);
  const pod = await client.get(PODS, { namespace, name });
  if (pod) return pod;
  throw new UserError('POD_UNKNOWN', `there is no Pod ${namespace}/${name}, which this program takes itself for`, {
    why: 'neither the downward API nor the host name says which Pod this is',
    fix: 'give the container a variable POD_NAME with valueFrom.fieldRef.fieldPath metadata.name',
    exitCode: 3,
  });
}

function podinfo(file: string, env: Environment): string | undefined {
  try {
    return readFileSync(join(sandboxPath(PODINFO, env), file), 'utf8').trim();
  } catch {
    return undefined; // not mounted: there are other ways to know
  }
}
