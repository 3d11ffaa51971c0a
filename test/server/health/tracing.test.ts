// Spans of OpenTelemetry with its own SDK: requests, turns and services in one trace that goes on in what they ask; and nothing without one.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { context, propagation, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseOracleKey } from '../../../lib/delegation/oracle-key.ts';
import { mintInvocation } from '../../../lib/delegation/tokens.ts';
import { isTracing, traced, withTrace } from '../../../lib/http/tracing.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { mcpGround } from '../../agent/mcp-server.ts';
import { called, calls, modelServer, says } from '../../agent/model-server.ts';
import { newKey } from '../../delegation/keys.ts';
import { withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { withGateway } from '../gateway/place.ts';
import { DIAL, json, withServer } from '../support/serve.ts';

const test = suite('tracing');

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`;
const PHONE = '+260971239876';

/** Runs it while the SDK takes spans; resolves with them when those of these names have ended. */
async function spansOf(names: readonly string[], work: () => Promise<unknown>) {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  provider.register();
  try {
    await work();
    const hasEnded = (name: string) => exporter.getFinishedSpans().some((span) => span.name === name);
    await until(`spans: ${names.join(', ')}`, () => names.every(hasEnded));
    return exporter.getFinishedSpans().map((span) => {
      const { spanId: id, traceId } = span.spanContext();
      const { name, attributes, status, parentSpanContext } = span;
      return { name, attributes, status, id, trace: traceId, parent: parentSpanContext?.spanId };
    });
  } finally {
    await provider.shutdown();
    for (const api of [trace, context, propagation]) api.disable();
  }
}

test('a turn, the service that it calls and what the service asks are one trace, which began with the telecom gateway', () =>
  withFolder(async (folder) => {
    let asked: string | undefined;
    const bills = createServer((req, res) => {
      asked = req.headers.traceparent as string | undefined;
      res.setHeader('content-type', 'application/json').end('{"due":12}');
    });
    await new Promise<void>((resolve) => bills.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(bills.address() as AddressInfo).port}`;
    const menu = {
      ...{ flow: 'main', version: 1, start: 'ask', vars: { bill: { type: 'object' } } },
      screens: {
        ask: {
          type: 'call',
          service: 'http.get',
          with: { url: `http://${host}/bill` },
          save: 'bill',
          done: 'bye',
          fail: 'sorry',
        },
        bye: { type: 'end', text: 'Thank you' },
        sorry: { type: 'end', text: 'Sorry' },
      },
    };
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(menu));
    const env = { MENUS_DIR: folder, SERVICE_HTTP_HOSTS: host };
    let logged: readonly { readonly [field: string]: unknown }[] = [];
    const spans = await spansOf(['POST /api/ussd', 'service http.get', 'GET /health'], () =>
      withServer({ env }, async (server) => {
        const body = new URLSearchParams({ ...DIAL, phoneNumber: PHONE }).toString();
        const headers = { traceparent: PARENT, 'content-type': 'application/x-www-form-urlencoded' };
        const answer = await server.ask('/api/ussd', { method: 'POST', headers, body });
        assert.is(answer.text, 'END Thank you');
        await server.ask('/health');
        await server.ask('/livez');
        await server.ask('/no/such/route');
        logged = server.logged as never;
      }),
    );
    bills.closeAllConnections();
    bills.close();
    const turn = spans.find(({ attributes }) => attributes['twinline.flow'] !== undefined)!;
    const service = spans.find(({ name }) => name === 'service http.get')!;
    assert.equal([turn.trace, turn.parent], [TRACE, PARENT.split('-')[2]]);
    assert.equal([turn.attributes['twinline.screen.to'], turn.attributes['twinline.outcome']], ['bye', 'end']);
    assert.is(turn.attributes['http.response.status_code'], 200);
    assert.equal([turn.name, turn.attributes['http.route']], ['POST /api/ussd', '/api/ussd']);
    const lines = logged.filter((line) => line.trace_id === TRACE);
    assert.ok(
      lines.some(({ turn: flow, span_id: id }) => flow === 'main@1' && id === turn.id),
      JSON.stringify(lines),
    );
    assert.is(turn.attributes['twinline.request.id'], lines.find(({ turn: flow }) => flow)!.requestId);
    const stored = spans.filter(({ attributes, parent }) => attributes['db.operation.name'] && parent === turn.id);
    assert.ok(stored.some(({ name, attributes }) => name === 'commit' && attributes['db.system.name'] === 'memory'));
    const unknown = spans.find(({ attributes }) => attributes['http.response.status_code'] === 404)!;
    assert.equal([unknown.name, unknown.attributes['http.route']], ['GET', undefined]);
    assert.not.ok(
      spans.some(({ name }) => /livez|ping/.test(name)),
      'probes are no spans',
    );
    assert.equal([service.trace, service.parent], [TRACE, turn.id]);
    assert.is(asked, `00-${TRACE}-${service.id}-01`);
    assert.ok(spans.some(({ name }) => name === 'GET /health'));
    assert.not.ok(JSON.stringify(spans).includes(PHONE.slice(1)), 'no span holds a phone number');
  }));

test('a query tells its trace to the node', async () => {
  let told: unknown;
  await spansOf([], () =>
    withGateway({}, async ({ server, node }) => {
      const answer = await server.ask('/grove/params', { headers: { traceparent: PARENT } });
      told = [answer.status, node.last().metadata.get('traceparent')[0]];
    }),
  );
  assert.match(JSON.stringify(told), new RegExp(`"00-${TRACE}-[0-9a-f]{16}-01"`));
});

test('a reply of a model and the tool of an MCP server that it calls are spans of the trace of the message, and both are told', () =>
  withFolder(async (folder) => {
    const mcp = await mcpGround(['hello']);
    const model = await modelServer(calls(called('hello', '{}')), says('Done.'));
    const file = join(folder, 'mcp.json');
    writeFileSync(file, JSON.stringify([{ name: 'one', url: mcp.url }]));
    const oracle = makeOracleKey();
    const env = { ORACLE_KEY: oracle, MODEL_BASE_URL: model.url, MODEL_NAME: 'small', MCP_SERVERS: file };
    const audience = parseOracleKey(oracle).did;
    const spans = await spansOf(['chat small', 'tools/call hello'], () =>
      withServer({ env }, async ({ ask }) => {
        const capability = { can: '*', with: 'ixo:oracle' };
        const token = await mintInvocation({ key: newKey(), audience, capability, expiresIn: 600 });
        const headers = { authorization: `Bearer ${token}`, 'x-auth-type': 'ucan' };
        const { sessionId } = (await ask('/sessions', { method: 'POST', headers })).json() as { sessionId: string };
        const message = json({ message: 'the secret word' }, { ...headers, traceparent: PARENT });
        assert.match((await ask(`/messages/${sessionId}`, message)).text, '"content":"Done."');
      }),
    );
    await Promise.all([mcp.close(), model.close()]);
    const [reply, tool] = ['chat small', 'tools/call hello'].map((name) => spans.find((span) => span.name === name)!);
    assert.equal([reply!.trace, reply!.attributes['gen_ai.request.model']], [TRACE, 'small']);
    assert.equal([tool!.trace, tool!.parent], [TRACE, reply!.id]);
    assert.equal([tool!.attributes['mcp.server'], tool!.attributes['gen_ai.tool.name']], ['one', 'hello']);
    assert.is(reply!.attributes['gen_ai.operation.name'], 'chat');
    assert.type(reply!.attributes['gen_ai.usage.output_tokens'], 'number');
    assert.equal(
      model.asked.map(({ headers }) => headers.traceparent),
      Array(2).fill(`00-${TRACE}-${reply!.id}-01`),
    );
    const call = mcp.noted.find(({ method }) => method === 'tools/call')!;
    assert.is(call.headers.traceparent, `00-${TRACE}-${tool!.id}-01`);
    assert.not.match(JSON.stringify(spans), 'the secret word');
  }));

test('work that fails says so with its code and without its words; without an SDK nothing is made', async () => {
  const fail = () =>
    traced('work', { way: 'out', attributes: {} }, async () => {
      throw Object.assign(new Error('the PIN 1234 is wrong'), { code: 'ERR_SERVICE' });
    }).then(
      () => assert.unreachable(),
      () => {},
    );
  const [span] = await spansOf(['work'], fail);
  assert.equal(
    [span!.status.code, span!.status.message, span!.attributes['error.type']],
    [2, 'ERR_SERVICE', 'ERR_SERVICE'],
  );
  assert.not.match(JSON.stringify(span), /1234/);
  assert.is(isTracing(), false);
  await fail();
  const headers = { a: 'b' };
  assert.is(withTrace(headers), headers);
});

test.run();
