/** What a machine used lately, as its node remembers it; asked again for as long as it is shown. */
import { useEffect, useState } from 'preact/hooks';
import { MEASURED_EVERY_SECONDS, type UsageHistory } from '../api/handler/usage-history.ts';
import { subresourcePath } from '../api/kubevirt/subresource-path.ts';
import type { Machine } from './derive-machines.ts';
import { useSession } from './hooks.ts';

/** Undefined while nothing is known: before the first answer, when it does not run, and when the user may not see it. */
export function useHistory({ namespace, name, vmi }: Machine, seconds: number): UsageHistory | undefined {
  const { client } = useSession();
  const [history, setHistory] = useState<UsageHistory>();
  const uid = vmi?.status?.phase === 'Running' ? vmi.metadata.uid : undefined;
  useEffect(() => {
    setHistory(undefined);
    if (uid === undefined) return;
    let isWanted = true;
    const path = subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, 'usagehistory');
    const ask = async () => {
      const answer = await client.request(`${path}?seconds=${seconds}`).then((response) => response.json() as Promise<UsageHistory>);
      if (isWanted) setHistory(answer);
    };
    // A machine that scrolls by is not asked about.
    const first = setTimeout(() => void ask().catch(() => {}), 150);
    const again = setInterval(() => void ask().catch(() => {}), MEASURED_EVERY_SECONDS * 1000);
    return () => {
      isWanted = false;
      clearTimeout(first);
      clearInterval(again);
    };
  }, [client, namespace, name, uid, seconds]);
  return history;
}
