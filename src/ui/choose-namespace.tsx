/** The namespace that is shown to who may not see all of them: chosen by its name, as nobody may list those. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { chooseNamespace } from './session.ts';

export function ChooseNamespace({ shown = '', children }: { readonly shown?: string; readonly children?: ComponentChildren }) {
  const [name, setName] = useState(shown);
  const wanted = name.trim();
  const choose = (event: Event) => {
    event.preventDefault();
    chooseNamespace(wanted);
    location.assign('/'); // what is shown now is of another
  };
  return (
    <form onSubmit={choose}>
      <label for="namespace">Namespace</label>{' '}
      <input id="namespace" value={name} spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />{' '}
      <button type="submit" class="primary" disabled={wanted === '' || wanted === shown}>
        Show it
      </button>{' '}
      {children}
    </form>
  );
}
