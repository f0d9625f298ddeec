/** Where people sign in: a form without any code, so that nothing can read what is typed but our server. */
import { smallPage } from './small-page.ts';

/** `trouble` is a sentence of ours: why the last try was refused. */
export function signInPage({ status = 200, trouble }: { readonly status?: number; readonly trouble?: string } = {}): Response {
  const alert = trouble === undefined ? '' : `<p class="trouble" role="alert">${trouble}</p>\n`;
  const body = `<h1>Machines</h1>
${alert}<form method="post" action="/sign-in">
<label for="token">Token of your account</label>
<input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required autofocus>
<button>Sign in</button>
</form>
<p>You will see and do what this account may, and nothing else. <code>kubectl create token ACCOUNT</code> makes a token of a service account.</p>`;
  return smallPage({ title: 'Sign in', status, body });
}
