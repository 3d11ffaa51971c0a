// The floors that others are measured against. For the USSD turn `raw` node:http, and `koa` with the router and a body parser.

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
  // The library that small USSD services on Node use, with sessions in memory; its menu is asked for the whole route each time.
  'ussd-menu-builder': async () => {
    const { default: UssdMenu } = await import('ussd-menu-builder');
    const line = (path, menu) => ({ run: () => menu.con(REPLY.slice(4)), next: path });
    return createServer((request, response) => {
      const chunks = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        // One menu for each request: one that is shared answers only the last of two that overlap.
        const menu = new UssdMenu();
        menu.startState(line({ '*\\d+': 'next' }, menu));
        menu.state('next', { ...line({ '*\\d+': 'next', '*\\*': 'end' }, menu), defaultNext: 'end' });
        menu.state('end', { run: () => menu.end('Goodbye') });
        menu.run(JSON.parse(Buffer.concat(chunks).toString()), (reply) => {
          response.writeHead(200, { ...HEADERS, 'content-length': String(Buffer.byteLength(reply)) });
          response.end(reply);
        });
      });
    });
  },
};

const server = await FLOORS[process.argv[2]]();
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
