/** A small picture of the screen of the guest, taken again while somebody looks. */

import { useEffect, useState } from 'preact/hooks';
import { subresourcePath } from '../api/kubevirt/subresource-path.ts';
import { vmiRefusalOf } from '../api/kubevirt/vm-can.ts';
import { CommandLine } from './command-line.tsx';
import type { Machine } from './derive-machines.ts';
import { where } from './derive-where.ts';
import { useSession } from './hooks.ts';
import { PlaceLink } from './place-link.tsx';

const EVERY_MS = 10_000;

export function ScreenPicture({ machine }: { readonly machine: Machine }) {
  const { namespace, name, vmi } = machine;
  const refusal = vmi ? vmiRefusalOf('vnc/screenshot', vmi)?.message : 'the machine does not run';
  const { url, said } = usePicture(machine, refusal === undefined ? vmi?.metadata.uid : undefined);
  if (refusal !== undefined) return <p>No picture: {refusal}.</p>;
  return (
    <>
      <PlaceLink to={{ page: 'machine', namespace, name, tab: 'screen' }} class="picture">
        {url === undefined ? <span>{said}</span> : <img src={url} alt={`Screen of ${name}, opens it`} />}
      </PlaceLink>
      <CommandLine command={`virtctl vnc screenshot ${name} --file screen.png${where(namespace)}`} />
    </>
  );
}

function usePicture({ namespace, name }: Machine, uid: string | undefined): { readonly url: string | undefined; readonly said: string } {
  const { client } = useSession();
  const [url, setUrl] = useState<string>();
  const [said, setSaid] = useState('Looking…');
  useEffect(() => {
    if (uid === undefined) return setUrl(undefined);
    const left = new AbortController();
    let shown: string | undefined;
    const show = (next: string | undefined) => {
      if (shown !== undefined) URL.revokeObjectURL(shown);
      shown = next;
      setUrl(next);
    };
    const take = async () => {
      const path = subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, 'vnc/screenshot');
      const response = await client.request(path, { headers: { accept: 'image/png' }, signal: left.signal });
      const picture = new Blob([await response.arrayBuffer()], { type: 'image/png' });
      if (!left.signal.aborted) show(URL.createObjectURL(picture));
    };
    const tryIt = () => {
      if (document.visibilityState === 'visible') void take().catch((error) => !left.signal.aborted && setSaid(error.message));
    };
    tryIt();
    const timer = setInterval(tryIt, EVERY_MS);
    return () => {
      left.abort();
      clearInterval(timer);
      if (shown !== undefined) URL.revokeObjectURL(shown);
    };
  }, [client, namespace, name, uid]);
  return { url, said };
}
