// A certificate for servers in tests, which is its own authority: made once for a hundred years, because Node cannot make one.
//
//   openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=localhost \
//     -addext subjectAltName=DNS:localhost,DNS:hooks.example.org -keyout key.pem -out cert.pem

import { readFileSync } from 'node:fs';

const read = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8');

/** Key and certificate of `localhost` and `hooks.example.org`, as PEM. */
export const certificate = { key: read('key.pem'), cert: read('cert.pem') } as const;
