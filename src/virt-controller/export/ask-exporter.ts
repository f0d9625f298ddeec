/** Asks the Pod of an export what it serves, at its address. What it does not say is not known: nothing waits for it. */
import type { Pod } from '../../api/core/pod.ts';
import type { ExportState } from '../../api/exporter/exporter.ts';
import { IMPORT_PORT } from '../../api/importer/importer-pod.ts';
import { isObject } from '../../base/json.ts';
import { readBytes } from '../../base/read-bytes.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';

const PATIENCE_MS = 1_000;
const MOST_BYTES = 100_000;

/** Undefined when there is no answer, or none that could be one. */
export async function askExporter({ status }: Pod): Promise<ExportState | undefined> {
  const { podIP } = status ?? {};
  if (!podIP) return undefined;
  try {
    const host = podIP.includes(':') ? `[${podIP}]` : podIP;
    const response = await fetch(`http://${host}:${IMPORT_PORT}/`, { redirect: 'error', signal: timeoutSignal(PATIENCE_MS) });
    const said: unknown = JSON.parse(new TextDecoder().decode(await readBytes(response.body, MOST_BYTES, 'the state')));
    return isObject(said) && Array.isArray(said['volumes']) ? (said as ExportState) : undefined; // as our own program writes it
  } catch {
    return undefined; // it has ended, or nobody can reach it
  }
}
