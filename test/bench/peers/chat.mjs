// A streamed reply as a careful engineer writes it, which nobody can resume: `ai-sdk` is Koa, the AI SDK and LMDB, and sends earlier
// messages of the talk to the model; `floor` is node:http that parses, passes each word on and puts both messages on the disk at the
// end. Neither has tokens, quotas, tools, runs that survive their process, log lines or metrics.

import { open as openFile } from 'node:fs/promises';
import { createServer, request as send } from 'node:http';
import { PassThrough } from 'node:stream';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Router from '@koa/router';
import { streamText } from 'ai';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { open } from 'lmdb';

const [kind, place, modelUrl] = process.argv.slice(2);
const EVENT_STREAM = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
const SYSTEM = 'You are a helpful assistant.';
const toEvent = (content) =>
  `event: message\ndata: ${JSON.stringify({ content, timestamp: new Date().toISOString() })}\n\n`;
const DONE = 'event: done\ndata: {}\n\n';

/** The text of the next choice in an event, if it has one. */
function readDelta(line) {
  if (!line.startsWith('data: ') || line === 'data: [DONE]') return undefined;
  return JSON.parse(line.slice(6)).choices[0]?.delta?.content;
}

async function floor() {
  const file = await openFile(place, 'a');
  return createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { message, model } = JSON.parse(body);
    const messages = [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: message },
    ];
    const asked = send(`${modelUrl}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    asked.end(JSON.stringify({ model, messages, stream: true }));
    asked.on('response', (answer) => {
      response.writeHead(200, EVENT_STREAM);
      let [rest, text] = ['', ''];
      answer.setEncoding('utf8').on('data', (chunk) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop();
        for (const line of lines) {
          const content = readDelta(line);
          if (!content) continue;
          text += content;
          response.write(toEvent(content));
        }
      });
      answer.on('end', async () => {
        await file.write(`${JSON.stringify({ human: message })}\n${JSON.stringify({ ai: text })}\n`);
        await file.datasync();
        response.end(DONE);
      });
    });
  });
}

function aiSdk() {
  const messages = open({ path: place, encoding: 'json' });
  const provider = createOpenAICompatible({ name: 'words', baseURL: modelUrl });
  const router = new Router();
  router.post('/messages/:talk', async (ctx) => {
    const { message, model } = ctx.request.body;
    const { talk } = ctx.params;
    const history = messages.get(talk) ?? [];
    const turn = [...history, { role: 'user', content: message }];
    const reply = streamText({ model: provider(model), system: SYSTEM, messages: turn });
    ctx.set(EVENT_STREAM);
    const body = new PassThrough();
    ctx.body = body;
    const pump = async () => {
      let text = '';
      for await (const content of reply.textStream) {
        text += content;
        body.write(toEvent(content));
      }
      await messages.put(talk, [...turn, { role: 'assistant', content: text }]);
      await messages.flushed;
      body.end(DONE);
    };
    pump().catch((error) => body.destroy(error));
  });
  return createServer(new Koa().use(bodyParser()).use(router.routes()).callback());
}

const server = await { floor, 'ai-sdk': aiSdk }[kind]();
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
