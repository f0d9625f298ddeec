import { useEffect, useState } from 'preact/hooks';
import { may, type Right } from './act.ts';
import { useSession } from './hooks.ts';

/** Whether the user may do this; so it is taken until the API server has said, which has the last word in any case. */
export function useMay(namespace: string, right: Right): boolean {
  const { client } = useSession();
  const [forbidden, setForbidden] = useState('');
  const asked = JSON.stringify([namespace, right]);
  useEffect(() => {
    let isWanted = true;
    may(client, namespace, right).then(
      (answer) => isWanted && setForbidden(answer ? '' : asked),
      () => {}, // it was not asked then
    );
    return () => {
      isWanted = false;
    };
  }, [client, asked]);
  return forbidden !== asked;
}
