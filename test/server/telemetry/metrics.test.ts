// Metrics: what is counted, in a form that Prometheus reads, with no more series than there are routes.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ask, DIAL, findSample, json, withServer } from '../support/serve.ts';

const test = suite('metrics');

test('turns, dials, durations and requests are counted', () =>
  withServer({}, async (server) => {
    await server.ussd(DIAL);
    await server.ussd({ ...DIAL, text: '1' });
    await server.ussd({ ...DIAL, text: '1**' });
    await server.ussd({ ...DIAL, phoneNumber: 'x' });
    await server.ask('/health');
    const { text, headers } = await server.ask('/metrics');
    assert.match(headers['content-type']!, /^text\/plain; version=0\.0\.4/);
    const turns = (outcome: string) =>
      findSample(text, `twinline_ussd_turns_total{dialect="africastalking",outcome="${outcome}"}`);
    assert.equal([turns('continue'), turns('end'), turns('invalid')], [2, 1, 1]);
    assert.is(findSample(text, 'twinline_ussd_sessions_started_total{dialect="africastalking"}'), 1);
    assert.is(findSample(text, 'twinline_ussd_turn_seconds_count'), 4);
    assert.is(findSample(text, 'twinline_ussd_turn_seconds_bucket{le="+Inf"}'), 4);
    assert.ok(findSample(text, 'twinline_ussd_turn_seconds_sum') > 0);
    assert.is(findSample(text, 'twinline_http_requests_total{method="GET",route="/health",status="200"}'), 1);
    assert.is(findSample(text, 'twinline_http_request_seconds_count{door="health"}'), 1);
    assert.ok(findSample(text, 'process_resident_memory_bytes') > 1_000_000);
    for (const line of text.trimEnd().split('\n'))
      assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"\\\n]*",?)+\})? [\d.e+-]+)$/);
  }));

test('a session that ends because its phone has begun too many is counted, and said at the level debug', () =>
  withServer({ env: { LOG_LEVEL: 'debug' } }, async (server) => {
    for (let at = 0; at < 5; at++) await server.ussd({ ...DIAL, sessionId: `s${at}` });
    const { text } = await server.ask('/metrics');
    assert.is(findSample(text, 'twinline_refused_total{why="sessions"}'), 2);
    const lines = server.logged.filter(({ msg }) => /its phone has begun too many/.test(String(msg)));
    assert.equal(
      lines.map(({ level }) => level),
      [20, 20],
    );
    assert.not.match(JSON.stringify(server.logged), DIAL.phoneNumber.slice(1));
  }));

test('paths, sessions and methods that somebody makes up make no series', () =>
  withServer({ env: { LOG_LEVEL: 'silent' } }, async (server) => {
    const asked = [];
    for (let at = 0; at < 200; at++) asked.push(server.ask(`/x${at}`), server.ask(`/api/ussd/debug/s${at}`));
    for (const method of ['PURGE', 'LINK', 'TRACE']) asked.push(server.ask('/health', { method }));
    await Promise.all(asked);
    const { text } = await server.ask('/metrics');
    const series = text.split('\n').filter((line) => line.startsWith('twinline_http_requests_total{'));
    assert.equal(series.sort(), [
      'twinline_http_requests_total{method="GET",route="/api/ussd/debug/:sessionId",status="404"} 200',
      'twinline_http_requests_total{method="GET",route="none",status="404"} 200',
      'twinline_http_requests_total{method="other",route="none",status="501"} 3',
    ]);
  }));

test('METRICS_PORT moves them to a port of their own, and off the main one', () =>
  withServer({ env: { METRICS_PORT: '0' } }, async (server) => {
    await server.ask('/api/ussd', json(DIAL));
    const { status, text } = await ask(`${server.metricsUrl}/metrics`);
    assert.is(status, 200);
    assert.match(text, /outcome="continue"\} 1/);
    assert.is((await server.ask('/metrics')).status, 404);
    for (const path of ['/', '/health', '/api/ussd/sessions'])
      assert.is((await ask(server.metricsUrl + path)).status, 404);
    assert.is((await ask(`${server.metricsUrl}/metrics`, { method: 'POST' })).status, 404);
  }));

test.run();
