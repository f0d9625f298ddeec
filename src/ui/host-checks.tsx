/** What is found on the machine of an embedded cluster, with what mends it. */
import { useEffect, useState } from 'preact/hooks';
import { HOST_CHECKS_PATH, type HostCheck, type HostCheckStatus } from '../api/page/host-checks.ts';
import { CommandLine } from './command-line.tsx';
import type { Tone } from './derive-machines.ts';
import { StatusWord } from './status-word.tsx';

const WORDS: Readonly<Record<HostCheckStatus, readonly [word: string, tone: Tone]>> = {
  failed: ['Wrong', 'bad'],
  warning: ['Could be better', 'busy'],
  ok: ['In order', 'good'],
};
/** What is wrong stands first. */
const ORDER = Object.keys(WORDS);

export function HostChecks() {
  const [looks, setLooks] = useState(0);
  const found = useHostChecks(looks);
  const checks = typeof found === 'object' ? found.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status)) : [];
  return (
    <section aria-labelledby="machine" class="apart">
      <div class="bar">
        <h2 id="machine">The machine of this cluster</h2>
        <button type="button" disabled={found === undefined} onClick={() => setLooks(looks + 1)}>
          Look again
        </button>
      </div>
      {found === undefined && <p role="status">Looking…</p>}
      {typeof found === 'string' && (
        <p class="trouble" role="alert">
          {found}
        </p>
      )}
      {checks.length > 0 && (
        <table class="checks">
          <thead>
            <tr>
              <th scope="col">Status</th>
              <th scope="col" class="wide">
                What
              </th>
              <th scope="col">Found</th>
            </tr>
          </thead>
          <tbody>
            {checks.map(({ name, status, text, fix }) => (
              <tr key={name}>
                <td>
                  <StatusWord status={WORDS[status][0]} tone={WORDS[status][1]} />
                </td>
                <td class="wide">{name}</td>
                <td>
                  <strong class="only-narrow">{name}</strong> {text}
                  {fix !== undefined && status !== 'ok' && (
                    <div>
                      <strong>Fix:</strong> {fix}
                    </div>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <CommandLine command="virtctl doctor" />
    </section>
  );
}

/** Undefined while somebody looks; in words when nobody could. */
function useHostChecks(looks: number): readonly HostCheck[] | string | undefined {
  const [found, setFound] = useState<readonly HostCheck[] | string>();
  useEffect(() => {
    setFound(undefined);
    const left = new AbortController();
    ask(left.signal).then(setFound, (error) => left.signal.aborted || setFound(`The machine could not be looked at: ${error.message}`));
    return () => left.abort();
  }, [looks]);
  return found;
}

async function ask(signal: AbortSignal): Promise<readonly HostCheck[]> {
  const response = await fetch(HOST_CHECKS_PATH, { signal });
  if (!response.ok) throw new Error(`the server of this page answers ${response.status}`);
  const { checks } = (await response.json()) as { checks: readonly HostCheck[] }; // our own server
  return checks;
}
