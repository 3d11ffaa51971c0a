// A server whose chats this responder answers: node server.js

import { requireConfig, startServer } from 'twinline/server';
import { counter } from './index.js';

const server = await startServer(requireConfig(process.env), { responder: counter });
console.log(`Chat at ${server.url}/chat`);
process.once('SIGINT', () => server.close());
