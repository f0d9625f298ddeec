/** Asks an importer how far it is, at the address of its Pod. What it does not say is not known: nothing waits for it. */
import type { Pod } from '../../api/core/pod.ts';
import { IMPORT_PORT, type ImportProgress } from '../../api/importer/importer-pod.ts';
import { isObject } from '../../base/json.ts';
import { readBytes } from '../../base/read-bytes.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';

export type AskProgress = (pod: Pod) => Promise<ImportProgress | undefined>;

const PATIENCE_MS = 1_000;
const MOST_BYTES = 1_000;

/** Undefined when there is no answer, or none that could be one. */
export async function askImporter({ status }: Pod): Promise<ImportProgress | undefined> {
  const { podIP } = status ?? {};
  if (!podIP) return undefined;
  try {
    const host = podIP.includes(':') ? `[${podIP}]` : podIP;
    const response = await fetch(`http://${host}:${IMPORT_PORT}/`, { redirect: 'error', signal: timeoutSignal(PATIENCE_MS) });
    return progressIn(JSON.parse(new TextDecoder().decode(await readBytes(response.body, MOST_BYTES, 'the progress'))));
  } catch {
    return undefined; // it has ended, or nobody can reach it
  }
}

/** What of it has the right shape; a Pod says what it likes. */
export function progressIn(json: unknown): ImportProgress | undefined {
  if (!isObject(json) || !isAmount(json['doneBytes'])) return undefined;
  const { doneBytes, totalBytes, failure } = json;
  return {
    doneBytes,
    ...(isAmount(totalBytes) && { totalBytes }),
    ...(typeof failure === 'string' && { failure }),
  };
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value);
}
