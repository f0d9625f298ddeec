import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordingSvg } from './recording-svg.ts';
import { linesOnTerminal } from './terminal-text.ts';

test('what was written over is gone, and colours are names', () => {
  assert.deepEqual(linesOnTerminal('  . a\r\x1b[2K  \x1b[32m✓\x1b[39m a\r\nb<\x1b[?25h'), [
    [
      { text: '  ', style: [] },
      { text: '✓', style: ['green'] },
      { text: ' a', style: [] },
    ],
    [{ text: 'b<', style: [] }],
  ]);
});

test('lines come in their turn, long waits are cut short, and nothing of the text is markup', () => {
  const lines = ['a', '<b>'].map((text, index) => ({ line: [{ text, style: ['green'] }], atMs: index * 60_000 }));
  const svg = recordingSvg(lines, { title: 'x & y', columns: 80 });
  assert.match(svg, /<title>x &amp; y<\/title>/);
  assert.match(svg, /animation:t1800 7800ms linear infinite"><tspan class="green">&lt;b&gt;<\/tspan>/);
  assert.match(svg, /@keyframes t1800\{0%,23\.08%\{opacity:0\}23\.09%,100%\{opacity:1\}\}/);
});
