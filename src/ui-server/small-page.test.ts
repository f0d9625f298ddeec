import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalResponse } from './page-headers.ts';
import { refusalForPeople } from './small-page.ts';

test('a refusal is a page for people, with what they can do, and text for programs', async () => {
  const shown = await refusalForPeople(refusalResponse(401, 'this needs a link of its own: run virtctl ui'), 'document');
  const html = await shown.text();
  assert.deepEqual([shown.status, shown.headers.get('content-type')], [401, 'text/html; charset=utf-8']);
  assert.match(html, /role="alert">this needs a link of its own: run virtctl ui</);
  assert.match(html, /<code>virtctl up<\/code>/);
  const plain = await refusalForPeople(refusalResponse(401, 'no'), 'empty');
  assert.equal(await plain.text(), 'no\n');
});

test('what somebody wrote into a request is text on it, and no other answer is touched', async () => {
  const shown = await refusalForPeople(refusalResponse(421, 'not at <script>alert(1)</script>"\''), 'document');
  assert.match(await shown.text(), /not at &lt;script&gt;alert\(1\)&lt;\/script&gt;&quot;&#39;/);
  assert.doesNotMatch(shown.headers.get('content-security-policy') ?? '', /script-src|unsafe/);
  const page = new Response('<p>', { headers: { 'content-type': 'text/html' } });
  assert.equal(await refusalForPeople(page, 'document'), page);
});
