/** The page: connects, then shows where one is. */
import { render } from 'preact';
import { App } from './app.tsx';
import { NoSession } from './no-session.tsx';
import { startSession } from './session.ts';
import '@xterm/xterm/css/xterm.css'; // small, and a chunk that is loaded later brings no styles
import './style.css';

const root = document.getElementById('app');
if (!root) throw new Error('the page has no place for it');
try {
  render(<App session={await startSession()} />, root);
} catch (error) {
  render(<NoSession error={error} />, root);
}
