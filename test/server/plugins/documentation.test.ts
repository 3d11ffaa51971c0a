// The routes of the shipped plugins: what they answer is what /openapi.json says, to everybody who may ask and who may not.

import { Validator } from '@seriousme/openapi-schema-validator';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { OpenApiDocument } from '../../../server/openapi/document.ts';
import { documented } from '../support/documented.ts';
import { type AskOptions, json } from '../support/serve.ts';
import { newUser, withModules, withPlugins } from './users.ts';

const test = suite('documented plugins');

const RULES = "export default { 'claims.evaluate': async () => ({ approved: true }) };";

test('shipped plugins answer as documented', () =>
  withModules({ 'rules.js': RULES }, (path) => {
    const env = {
      OPERATOR_TOKEN: 'operators',
      TEAM_CHAT_SIGNING_SECRET: 'signing',
      TEAM_CHAT_BOT_TOKEN: 'bot',
      CLAIMS_SECRET: 'cron',
      CLAIMS_SERVICE: 'claims.evaluate',
      SERVICES: path('rules.js'),
    };
    return withPlugins(['credits', 'user-preferences', 'team-chat', 'claims'], { env }, async ({ ask, routes }) => {
      const document = (await ask('/openapi.json')).json() as OpenApiDocument;
      const { valid, errors } = await new Validator().validate(structuredClone(document) as never);
      assert.ok(valid, JSON.stringify(errors));
      const held = documented(document);
      for (const { method, path: of } of routes.filter(({ path: one }) =>
        /^\/(credits|user-pref|team|claims)/.test(one),
      ))
        assert.ok(held.operations.includes(`${method} ${of.replace(/:(\w+)/g, '{$1}')}`), of);
      const told = async (
        status: number,
        operation: string,
        how: AskOptions = {},
        where = operation.split(' ')[1]!,
      ) => {
        const answer = await ask(where, { method: operation.split(' ')[0]!, ...how });
        assert.is(answer.status, status, `${operation}: ${answer.text}`);
        assert.equal(held.problemsOf(operation, answer), []);
        return answer.json() as { id: string };
      };
      const { did, headers } = await newUser();
      const operator = { authorization: 'Bearer operators' };
      const account = `/credits/${encodeURIComponent(did)}`;
      await told(402, 'GET /claims', { headers });
      await told(402, 'GET /sessions', { headers });
      await told(401, 'GET /credits');
      await told(200, 'GET /credits', { headers });
      await told(401, 'POST /credits/{did}', json({ amount: 100 }), account);
      await told(400, 'POST /credits/{did}', json({}, operator), account);
      await told(201, 'POST /credits/{did}', json({ amount: 100 }, operator), account);
      await told(200, 'GET /user-preferences', { headers });
      await told(401, 'GET /user-preferences');
      await told(401, 'POST /team-chat/events', json({}));
      await told(400, 'POST /team-chat/events', { headers: { 'content-type': 'application/json' }, body: '{' });
      await told(400, 'POST /claims', json({}, headers));
      const { id } = await told(201, 'POST /claims', json({ collection: 'c', data: { a: 1 } }, headers));
      await told(200, 'GET /claims', { headers });
      await told(200, 'GET /claims/{id}', { headers }, `/claims/${id}`);
      await told(404, 'GET /claims/{id}', { headers }, '/claims/none');
      await told(401, 'POST /claims/process');
      await told(200, 'POST /claims/process', { headers: { authorization: 'Bearer cron' } });
    });
  }));

test.run();
