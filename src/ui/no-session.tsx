/** Instead of the page: why there is none, and what can be done. */
import { ChooseNamespace } from './choose-namespace.tsx';
import { leave } from './leave.ts';
import { NothingToSeeError } from './session.ts';

export function NoSession({ error }: { readonly error: unknown }) {
  if (error instanceof NothingToSeeError) return <OtherNamespace error={error} />;
  return (
    <main class="alone">
      <h1>The cluster does not answer</h1>
      <p role="alert">{error instanceof Error ? error.message : String(error)}</p>
      <p>
        <code>virtctl up</code> starts an embedded one, <code>virtctl doctor</code> looks at it.
      </p>
      <p>It is asked again every few seconds.</p>
    </main>
  );
}

function OtherNamespace({ error }: { readonly error: NothingToSeeError }) {
  return (
    <main class="alone">
      <h1>Which namespace?</h1>
      <p role="alert">{error.message}.</p>
      <ChooseNamespace>
        {error.info.canSignOut && (
          <button type="button" onClick={() => void leave()}>
            Sign out
          </button>
        )}
      </ChooseNamespace>
    </main>
  );
}
