// A program that starts a server, prints its URL and never stops it: the test of what is left kills it.

import { startMongo } from '../mongo-server.ts';

const { url } = await startMongo();
console.log(url);
setInterval(() => {}, 1_000);
