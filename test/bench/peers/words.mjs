// A model behind OpenAI's chat completions API that says the same 60 words to everybody, one every so many milliseconds.

import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const WORDS = Array.from({ length: 60 }, (_, at) => `word${at} `);

const event = (chunk) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'words', ...chunk })}\n\n`;
const choice = (delta, finish_reason = null) => event({ choices: [{ index: 0, delta, finish_reason }] });

const pieces = [
  ...WORDS.map((content, at) => choice(at === 0 ? { role: 'assistant', content } : { content })),
  choice({}, 'stop'),
  event({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 60, total_tokens: 71 } }),
  'data: [DONE]\n\n',
];

const server = createServer(async (request, response) => {
  // The model's name is the milliseconds between two words.
  let body = '';
  for await (const chunk of request) body += chunk;
  const everyMs = Number(JSON.parse(body).model);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const begun = performance.now();
  for (const [at, piece] of pieces.entries()) {
    const early = begun + (at + 1) * everyMs - performance.now();
    if (at < WORDS.length && early > 0) await pause(early);
    response.write(piece);
  }
  response.end();
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
