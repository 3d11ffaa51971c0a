// The script that starts Swagger UI on /docs. It is a file of its own, for the policy of the page allows no other.

export const START_SCRIPT = `'use strict';
window.addEventListener('DOMContentLoaded', () => {
  if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark-mode');
  SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#docs',
    deepLinking: true,
    docExpansion: 'none',
    displayRequestDuration: true,
    persistAuthorization: false,
    // Documents are checked in the tests, and by nobody else.
    validatorUrl: null,
    syntaxHighlight: false,
  });
});
`;
