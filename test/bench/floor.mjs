// The floors that the USSD turn is measured against: `raw` node:http, and `koa` with the router and a body parser.

import { createServer } from 'node:http';

const REPLY = `CON ${'Welcome to the menu\n1. Know more\n2. Account\n*. Exit\n'.padEnd(116, '.')}`;
const HEADERS = { 'content-type': 'text/plain; charset=utf-8', 'content-length': String(REPLY.length) };

const FLOORS = {
  raw: async () =>
    createServer((request, response) => {
      const chunks = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        JSON.parse(Buffer.concat(chunks).toString());
        response.writeHead(200, HEADERS);
        response.end(REPLY);
      });
    }),
  koa: async () => {
    const { default: Koa } = await import('koa');
    const { default: Router } = await import('@koa/router');
    const { default: bodyParser } = await import('koa-bodyparser');
    const router = new Router();
    router.post('/api/ussd', (ctx) => {
      ctx.body = REPLY;
    });
    return createServer(new Koa().use(bodyParser()).use(router.routes()).callback());
  },
};

const server = await FLOORS[process.argv[2]]();
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
