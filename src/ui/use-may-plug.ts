import { useEffect, useState } from 'preact/hooks';
import { mayPlug } from './act.ts';
import type { Machine } from './derive-machines.ts';
import { useSession } from './hooks.ts';

/** Whether the user may attach and detach disks; the server has the last word in any case. */
export function useMayPlug({ namespace, vm }: Machine): boolean {
  const { client } = useSession();
  const [may, setMay] = useState(true);
  const isMachine = vm !== undefined;
  useEffect(() => {
    let isWanted = true;
    mayPlug(client, namespace, isMachine).then(
      (answer) => isWanted && setMay(answer),
      () => {}, // it was not asked then
    );
    return () => {
      isWanted = false;
    };
  }, [client, namespace, isMachine]);
  return may;
}
