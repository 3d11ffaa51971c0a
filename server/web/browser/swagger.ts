// Starts Swagger UI on /docs and adds missing accessible names.

import { startHeader } from './site.ts';

startHeader();

declare const SwaggerUIBundle: (options: object) => void;

interface Links {
  readonly React: { createElement(type: unknown, props: object): unknown };
}

/** Operations open by a button that cannot contain a link; the address is updated all the same. */
const plainOperations = () => ({
  wrapComponents: {
    DeepLink:
      (Original: unknown, { React }: Links) =>
      (props: { readonly path: string; readonly enabled: boolean }) =>
        React.createElement(Original, { ...props, enabled: props.enabled && !props.path.includes('/') }),
  },
});

/** Elements that Swagger UI creates without a name or without keyboard access, and the missing attributes. */
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
  // No external validator: our tests check the document.
  validatorUrl: null,
  syntaxHighlight: false,
  plugins: [plainOperations],
});
