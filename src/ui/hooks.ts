/** The session, the place in the page, and the rights of the user, for components. */
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { forbiddenActions } from './act.ts';
import type { Forbidden } from './derive-actions.ts';
import { derivePlace, type Place, placePath } from './derive-place.ts';
import type { Session } from './session.ts';

export const SessionContext = createContext<Session | undefined>(undefined);

/** Draws again whenever something has changed. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('a component outside of the session');
  const [, redraw] = useState(0);
  useEffect(() => session.subscribe(() => redraw((count) => count + 1)), [session]);
  return session;
}

const moves = new EventTarget();

export function go(place: Place, { replaces = false } = {}): void {
  history[replaces ? 'replaceState' : 'pushState'](null, '', placePath(place));
  moves.dispatchEvent(new Event('move'));
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => derivePlace(location.pathname, location.search));
  useEffect(() => {
    const moved = () => setPlace(derivePlace(location.pathname, location.search));
    moves.addEventListener('move', moved);
    addEventListener('popstate', moved);
    return () => {
      moves.removeEventListener('move', moved);
      removeEventListener('popstate', moved);
    };
  }, []);
  return place;
}

/** The time, for ages: once a second is often enough. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

const NOTHING: Forbidden = new Set();
const rights = new Map<string, Promise<Forbidden>>();

/** What the user may not do there, asked once. */
export function askForbidden(client: Session['client'], namespace: string): Promise<Forbidden> {
  const asked = rights.get(namespace) ?? forbiddenActions(client, namespace).catch(() => NOTHING);
  rights.set(namespace, asked);
  return asked;
}

/** What the user may not do, by namespace; asked once for each. */
export function useForbiddenOf(namespaces: readonly string[]): ReadonlyMap<string, Forbidden> {
  const { client } = useSession();
  const [forbidden, setForbidden] = useState<ReadonlyMap<string, Forbidden>>(new Map());
  const wanted = [...new Set(namespaces)].sort().join(' '); // no name of a namespace has a space in it
  useEffect(() => {
    let isWanted = true;
    const asked = wanted
      .split(' ')
      .filter(Boolean)
      .map(async (namespace) => [namespace, await askForbidden(client, namespace)] as const);
    void Promise.all(asked).then((answers) => isWanted && setForbidden(new Map(answers)));
    return () => {
      isWanted = false;
    };
  }, [client, wanted]);
  return forbidden;
}

/** The same of one namespace. The server has the last word in any case. */
export function useForbidden(namespace: string): Forbidden {
  const { client } = useSession();
  const [forbidden, setForbidden] = useState(NOTHING);
  useEffect(() => {
    let isWanted = true;
    void askForbidden(client, namespace).then((answer) => isWanted && setForbidden(answer));
    return () => {
      isWanted = false;
    };
  }, [client, namespace]);
  return forbidden;
}
