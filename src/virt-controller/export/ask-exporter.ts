/** Asks the Pod of an export what it serves, at its address. What it does not say is not known: nothing waits for it. */
import type { Pod } from '../../api/core/pod.ts';
import type { ExportState } from '../../api/exporter/exporter.ts';
import { IMPORT_PORT } from '../../api/importer/importer-pod.ts';
import { isObject } from '../../base/json.ts';
import { readBytes } from '../../base/read-bytes.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';

const PATIENCE_MS = 1_000;
const MOST_BYTES = 100_000;
/** What of it gets into the status. */
const MOST_FAILURE = 500;

/** Undefined when there is no answer, or none that could be one. */
export async function askExporter({ status }: Pod): Promise<ExportState | undefined> {
  const { podIP } = status ?? {};
  if (!podIP) return undefined;
  try {
    const host = podIP.includes(':') ? `[${podIP}]` : podIP;
    const response = await fetch(`http://${host}:${IMPORT_PORT}/`, { redirect: 'error', signal: timeoutSignal(PATIENCE_MS) });
    return exportStateIn(JSON.parse(new TextDecoder().decode(await readBytes(response.body, MOST_BYTES, 'the state'))));
  } catch {
    return undefined; // it has ended, or nobody can reach it
  }
}

/** What of it has the right shape; a Pod says what it likes. */
export function exportStateIn(said: unknown): ExportState | undefined {
  if (!isObject(said) || !Array.isArray(said['volumes'])) return undefined;
  const { cert, failure, volumes } = said;
  return {
    volumes: volumes.flatMap((each): ExportState['volumes'] => {
      const { name, sizeBytes, hasFiles } = isObject(each) ? each : {};
      if (typeof name !== 'string' || typeof sizeBytes !== 'number') return [];
      return [{ name, sizeBytes, ...(hasFiles === true && { hasFiles }) }];
    }),
    ...(typeof cert === 'string' && { cert }),
    ...(typeof failure === 'string' && { failure: failure.slice(0, MOST_FAILURE) }),
  };
}
