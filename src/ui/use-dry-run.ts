/** What the server would say to a change, asked when somebody stops typing. */
import { useEffect, useState } from 'preact/hooks';
import { ApiError, isApiError, type StatusCause } from '../base/errors.ts';
import { useSession } from './hooks.ts';

/** A pause in typing, after which the server is asked. */
const PAUSE_MS = 400;

export type Sent = {
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly contentType?: string;
  readonly body: string;
};
export type DryRun = {
  /** Undefined when the server would take it, or was not asked yet. */
  readonly refusal: string | undefined;
  readonly causes: readonly StatusCause[];
  readonly isForbidden: boolean;
  /** What was last asked about is what is there now. */
  readonly isCurrent: boolean;
};

const NOTHING = { refusal: undefined, causes: [], isForbidden: false } as const;

/** `asked` undefined: there is nothing to ask about. */
export function useDryRun(asked: Sent | undefined): DryRun {
  const { client } = useSession();
  const text = asked && JSON.stringify(asked);
  const [answer, setAnswer] = useState<Omit<DryRun, 'isCurrent'> & { readonly about: string | undefined }>({
    ...NOTHING,
    about: undefined,
  });
  useEffect(() => {
    if (text === undefined) return setAnswer({ ...NOTHING, about: undefined });
    const left = new AbortController();
    const ask = async () => {
      const { method, path, contentType = 'application/json', body } = JSON.parse(text) as Sent; // ours
      try {
        const response = await client.request(`${path}?dryRun=All`, {
          method,
          headers: { 'content-type': contentType },
          body,
          signal: left.signal,
        });
        await response.body?.cancel();
        return NOTHING;
      } catch (error) {
        return refusalFrom(error);
      }
    };
    const timer = setTimeout(() => void ask().then((found) => !left.signal.aborted && setAnswer({ ...found, about: text })), PAUSE_MS);
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [client, text]);
  return { ...answer, isCurrent: answer.about === text };
}

function refusalFrom(error: unknown): Omit<DryRun, 'isCurrent'> {
  return {
    refusal: error instanceof Error ? error.message : String(error),
    causes: error instanceof ApiError ? (error.details?.causes ?? []) : [],
    isForbidden: isApiError(error, 'Forbidden'),
  };
}
