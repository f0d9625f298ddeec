/** The page: connects, then shows where one is. */
import { render } from 'preact';
import { App } from './app.tsx';
import { startSession } from './session.ts';
import '@xterm/xterm/css/xterm.css'; // small, and a chunk that is loaded later brings no styles
import './style.css';

const root = document.getElementById('app');
if (!root) throw new Error('the page has no place for it');
try {
  render(<App session={await startSession()} />, root);
} catch (error) {
  render(
    <main class="alone">
      <h1>The cluster does not answer</h1>
      <p role="alert">{error instanceof Error ? error.message : String(error)}</p>
      <p>
        <code>virtctl up</code> starts an embedded one, <code>virtctl doctor</code> looks at it.
      </p>
      <button type="button" onClick={() => location.reload()}>
        Try again
      </button>
    </main>,
    root,
  );
}
