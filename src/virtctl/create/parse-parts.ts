/** `key:value,key:value`, as KubeVirt's virtctl takes it. */

type Rules = { readonly keys: readonly string[]; readonly wrong: (text: string, why: string) => Error };

/** The values by their keys; throws what `wrong` makes of a part with none of these keys. */
export function parseParts(text: string, { keys, wrong }: Rules): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  for (const part of text.split(',')) {
    const colon = part.indexOf(':');
    const key = part.slice(0, Math.max(0, colon));
    if (!keys.includes(key)) throw wrong(text, `"${part}" is none of ${keys.map((each) => `${each}:VALUE`).join(', ')}`);
    parts.set(key, part.slice(colon + 1));
  }
  return parts;
}
