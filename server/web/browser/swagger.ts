// Starts Swagger UI on /docs.

import { startHeader } from './site.ts';

startHeader();

declare const SwaggerUIBundle: (options: object) => void;

if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark-mode');
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
});
