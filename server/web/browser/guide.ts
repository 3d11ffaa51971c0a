// Guides: syntax highlighting, buttons that copy commands and files, and headings that lead to themselves.

import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import nginx from 'highlight.js/lib/languages/nginx';
import yaml from 'highlight.js/lib/languages/yaml';
import { copyButton, element } from './element.ts';
import { startHeader } from './site.ts';

startHeader();

const LANGUAGES = { sh: bash, js: javascript, ts: javascript, json, nginx, yaml };

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

for (const code of document.querySelectorAll<HTMLElement>('figure.code code')) {
  const text = code.textContent ?? '';
  const language = code.className.replace('language-', '');
  // highlight.js escapes its input.
  if (language in LANGUAGES) code.innerHTML = hljs.highlight(text, { language }).value;
  const figure = code.closest('figure')!;
  if (figure.matches('.command, .file')) figure.append(copyButton(() => text, 'copy'));
}

for (const heading of document.querySelectorAll<HTMLElement>('.guide :is(h2, h3)[id]')) {
  if (heading.querySelector('a')) continue;
  const link = element('a', { is: { href: `#${heading.id}` } });
  link.append(...heading.childNodes);
  heading.append(link);
}
