/** The search field of the documentation, in a browser. What it looks through came with the page. */
import { findSections, type Section } from './find-sections.ts';

const field = document.querySelector<HTMLInputElement>('#search');
const found = document.querySelector<HTMLElement>('#found');
const article = document.querySelector<HTMLElement>('article');

function show(): void {
  if (!field || !found || !article) return;
  const isAsked = field.value.trim() !== '';
  found.hidden = !isAsked;
  article.hidden = isAsked;
  const { searchIndex = [] } = globalThis as { searchIndex?: readonly Section[] };
  const items = findSections(searchIndex, field.value).map(({ place, title, excerpt }) => {
    const link = Object.assign(document.createElement('a'), { href: place, textContent: title });
    link.addEventListener('click', () => {
      field.value = '';
      show();
    });
    const item = document.createElement('li');
    item.append(link, Object.assign(document.createElement('p'), { textContent: excerpt }));
    return item;
  });
  if (isAsked && items.length === 0) items.push(Object.assign(document.createElement('li'), { textContent: 'Nothing found.' }));
  found.replaceChildren(...items);
}

field?.addEventListener('input', show);
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== field) {
    event.preventDefault();
    field?.focus();
  }
  if (event.key === 'Escape' && field?.value) {
    field.value = '';
    show();
  }
});
