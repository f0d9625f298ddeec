/** A page without any code, for whoever is not in yet: nothing on it can be read or done but by us. */
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

/** Both are HTML of ours; what others wrote goes through `escapeHtml` before. */
export function smallPage({
  title,
  body,
  status = 200,
}: {
  readonly title: string;
  readonly body: string;
  readonly status?: number;
}): Response {
  return new Response(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`,
    { status, headers: HEADERS },
  );
}

const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => SIGNS[sign] ?? '');
}

/** The same refusal for a person who looks at it in a browser; what programs asked for stays as it is. */
export async function refusalForPeople(refusal: Response, destination: string): Promise<Response> {
  const isRefusal = refusal.status >= 400 && (refusal.headers.get('content-type') ?? '').startsWith('text/plain');
  if (destination !== 'document' || !isRefusal) return refusal;
  const message = escapeHtml((await refusal.text()).trim());
  const advice =
    refusal.status === 401
      ? '<p>Each link lets one browser in, once, and for twelve hours. In a terminal <code>virtctl ui</code> prints a new one, for an embedded cluster <code>virtctl up</code>, too.</p>'
      : '';
  return smallPage({ title: 'Machines', status: refusal.status, body: `<h1>Machines</h1>\n<p role="alert">${message}</p>\n${advice}` });
}
