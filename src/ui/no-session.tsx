/** Instead of the page: why there is none, and what can be done. */
import { useState } from 'preact/hooks';
import { signOut } from './page-fetch.ts';
import { chooseNamespace, NothingToSeeError } from './session.ts';

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
  const [name, setName] = useState('');
  const choose = (event: Event) => {
    event.preventDefault();
    chooseNamespace(name.trim());
    location.reload();
  };
  return (
    <main class="alone">
      <h1>Which namespace?</h1>
      <p role="alert">{error.message}.</p>
      <form onSubmit={choose}>
        <label for="namespace">Namespace</label>{' '}
        <input id="namespace" value={name} onInput={(event) => setName(event.currentTarget.value)} />{' '}
        <button type="submit" class="primary" disabled={name.trim() === ''}>
          Show it
        </button>{' '}
        {error.info.canSignOut && (
          <button type="button" onClick={() => void signOut()}>
            Sign out
          </button>
        )}
      </form>
    </main>
  );
}
