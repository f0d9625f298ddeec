/**
 * Finds keys that a JSON object has twice. JSON.parse keeps the last and says nothing; whoever asks for strict decoding wants to know.
 * The text has been parsed before, so it is JSON and not too deep: this only has to follow it.
 */

/** The path of every key that was there before in the same object (`spec.replicas`), each once. */
export function duplicateKeys(text: string): string[] {
  const found = new Set<string>();
  let at = 0;

  const skipSpace = () => {
    while (at < text.length && ' \t\n\r'.includes(text[at] ?? '')) at += 1;
  };
  const readString = (): string => {
    const start = at;
    at += 1;
    at = endOfString(text, at);
    const quoted = text.slice(start, at);
    return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  };
  const readValue = (path: string): void => {
    skipSpace();
    if (text[at] === '{') readObject(path);
    else if (text[at] === '[') readArray(path);
    else if (text[at] === '"') readString();
    else while (at < text.length && !',]}'.includes(text[at] ?? '')) at += 1;
    skipSpace();
  };
  const readObject = (path: string): void => {
    const seen = new Set<string>();
    at += 1;
    skipSpace();
    while (text[at] !== '}') {
      skipSpace();
      const key = readString();
      const own = path === '' ? key : `${path}.${key}`;
      if (seen.has(key)) found.add(own);
      seen.add(key);
      skipSpace();
      at += 1; // the colon
      readValue(own);
      if (text[at] === ',') at += 1;
    }
    at += 1;
  };
  const readArray = (path: string): void => {
    at += 1;
    skipSpace();
    for (let index = 0; text[at] !== ']'; index += 1) {
      readValue(`${path}[${index}]`);
      if (text[at] === ',') at += 1;
    }
    at += 1;
  };

  readValue('');
  return [...found];
}

/** Behind the quote that ends a string, from a place within it. By jumps: a string may have megabytes. */
function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); ; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
}
