/** The page: connects, again and again where the cluster does not answer, then shows where one is. */
import { render } from 'preact';
import { systemClock } from '../base/clock.ts';
import { App } from './app.tsx';
import { NoSession } from './no-session.tsx';
import { NothingToSeeError, type Session, startSession } from './session.ts';
import { showTheme } from './theme.ts';
import '@xterm/xterm/css/xterm.css'; // small, and a chunk that is loaded later brings no styles
import './style.css';

const RETRY_MS = 3_000;

showTheme();
const root = document.getElementById('app');
if (!root) throw new Error('the page has no place for it');
const session = await connect(root);
if (session) render(<App session={session} />, root);

/** Undefined when asking again would change nothing. */
async function connect(place: HTMLElement): Promise<Session | undefined> {
  for (;;) {
    try {
      return await startSession();
    } catch (error) {
      render(<NoSession error={error} />, place);
      if (error instanceof NothingToSeeError) return undefined;
      await systemClock.sleep(RETRY_MS);
    }
  }
}
