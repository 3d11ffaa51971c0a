// Starts Swagger UI on /docs, and gives names to what it leaves without.

import { startHeader } from './site.ts';

startHeader();

declare const SwaggerUIBundle: (options: object) => void;

interface Links {
  readonly React: { createElement(type: unknown, props: object): unknown };
}

/** An operation is opened by a button, in which a link could not be reached; the address follows the button all the same. */
const plainOperations = () => ({
  wrapComponents: {
    DeepLink:
      (Original: unknown, { React }: Links) =>
      (props: { readonly path: string; readonly enabled: boolean }) =>
        React.createElement(Original, { ...props, enabled: props.enabled && !props.path.includes('/') }),
  },
});

/** What it makes without a name or beyond the reach of a keyboard, and what these need. */
const NAMES: { readonly [selector: string]: readonly [attribute: string, value: string] } = {
  '#servers': ['aria-label', 'Server'],
  'textarea.body-param__text': ['aria-label', 'Body of the request'],
  'pre.example, pre.microlight': ['tabindex', '0'],
  '.content-type-wrapper select': ['aria-label', 'Media type'],
  '.parameters-col_description select, .parameters-col_description input': ['aria-label', 'Value'],
};

function nameParts(): void {
  for (const [selector, [attribute, value]] of Object.entries(NAMES))
    for (const part of document.querySelectorAll(`#docs :is(${selector}):not([${attribute}])`))
      part.setAttribute(attribute, value);
}

new MutationObserver(nameParts).observe(document.getElementById('docs')!, { childList: true, subtree: true });

const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'none',
  displayRequestDuration: true,
  persistAuthorization: false,
  // No validator of others: our tests check the document.
  validatorUrl: null,
  syntaxHighlight: false,
  plugins: [plainOperations],
});
