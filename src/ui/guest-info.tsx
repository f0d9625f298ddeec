/** What the agent in the guest says about it: text of the guest, and shown as text. */
import { useEffect, useState } from 'preact/hooks';
import type { GuestAgentInfo } from '../api/handler/answers.ts';
import { subresourcePath } from '../api/kubevirt/subresource-path.ts';
import { vmiRefusalOf } from '../api/kubevirt/vm-can.ts';
import { formatBytes } from '../base/quantity.ts';
import { deriveFileSystems, deriveGuestFacts } from './derive-guest.ts';
import type { Machine } from './derive-machines.ts';
import { useSession } from './hooks.ts';

/** Often enough for file systems that fill up. */
const EVERY_MS = 30_000;

export function GuestInfo({ machine }: { readonly machine: Machine }) {
  const info = useGuestInfo(machine);
  const { vmi } = machine;
  const refusal = vmi ? vmiRefusalOf('guestosinfo', vmi)?.message : 'the machine does not run';
  if (refusal !== undefined) return <p>Nothing is known: {refusal}.</p>;
  if (!info) return <p>Looking…</p>;
  return (
    <dl>
      {deriveGuestFacts(info).map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      {deriveFileSystems(info).map(({ place, usedBytes, totalBytes }) => (
        <div key={place}>
          <dt>{place}</dt>
          <dd>
            <meter aria-label={`Used of ${place}`} value={usedBytes} max={Math.max(1, totalBytes)} /> {formatBytes(totalBytes)}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Undefined while nothing is known; asked again for as long as it is shown. */
function useGuestInfo({ namespace, name, vmi }: Machine): GuestAgentInfo | undefined {
  const { client } = useSession();
  const [info, setInfo] = useState<GuestAgentInfo>();
  const uid = vmi && vmiRefusalOf('guestosinfo', vmi) === undefined ? vmi.metadata.uid : undefined;
  useEffect(() => {
    setInfo(undefined);
    if (uid === undefined) return;
    let isWanted = true;
    const ask = async () => {
      const response = await client.request(subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, 'guestosinfo'));
      const answer = (await response.json()) as GuestAgentInfo; // virt-handler makes it
      if (isWanted) setInfo(answer);
    };
    const tryIt = () => void ask().catch(() => {}); // an agent that is busy answers the next time
    tryIt();
    const timer = setInterval(tryIt, EVERY_MS);
    return () => {
      isWanted = false;
      clearInterval(timer);
    };
  }, [client, namespace, name, uid]);
  return info;
}
