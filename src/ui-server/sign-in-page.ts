/** Where people sign in: a form without any code, so that nothing can read what is typed but our server. */
import { createHash } from 'node:crypto';
import { PAGE_HEADERS } from './page-headers.ts';

const STYLE = `:root{color-scheme:light dark;--back:#fff;--text:#1c2024;--line:#6b7280;--bad:#b00020;--main:#1d4ed8;--onmain:#fff}
@media(prefers-color-scheme:dark){:root{--back:#14171a;--text:#e6e8ea;--line:#8b949e;--bad:#ff8a80;--main:#8ab4ff;--onmain:#101418}}
body{font:16px/1.5 system-ui,sans-serif;background:var(--back);color:var(--text);max-width:36rem;margin:10vh auto;padding:0 1rem}
input{font:inherit;width:100%;box-sizing:border-box;padding:.5rem;border:1px solid var(--line);border-radius:4px;background:var(--back);color:var(--text)}
button{font:inherit;margin-top:1rem;padding:.5rem 1rem;border:0;border-radius:4px;background:var(--main);color:var(--onmain)}
.trouble{color:var(--bad)}`;
const STYLE_DIGEST = createHash('sha256').update(STYLE).digest('base64');
const HEADERS = {
  ...PAGE_HEADERS,
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  'referrer-policy': 'same-origin', // without one a browser keeps the origin of a form from us
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
};

/** `trouble` is a sentence of ours: why the last try was refused. */
export function signInPage({ status = 200, trouble }: { readonly status?: number; readonly trouble?: string } = {}): Response {
  const alert = trouble === undefined ? '' : `<p class="trouble" role="alert">${trouble}</p>\n`;
  return new Response(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Machines</h1>
${alert}<form method="post" action="/sign-in">
<label for="token">Token of your account</label>
<input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required autofocus>
<button>Sign in</button>
</form>
<p>You will see and do what this account may, and nothing else. <code>kubectl create token ACCOUNT</code> makes a token of a service account.</p>
</main>
</body>
</html>
`,
    { status, headers: HEADERS },
  );
}
