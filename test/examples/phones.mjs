// The USSD door for an app of any framework: an engine with its flow, and one function from a request's body to an answer. The
// programs embed-express, embed-fastify and embed-hono use it.

import { compileFlow, createEngine, memorySnapshots, parseKeyring } from 'twinline';
import { loadFlow } from 'twinline/flow';
import { createAdapters, ussdGateway } from 'twinline/ussd';

/** @param {string} key 64 hexadecimal digits, the same in every process of the app: sessions are sealed with it */
export async function openPhones(key) {
  const keyring = parseKeyring(key);
  const services = { 'tea.price': async () => ({ amount: 12.5 }) };
  const flow = compileFlow(await loadFlow('tea.flow.json', { services: new Set(Object.keys(services)) }));
  const engine = createEngine({ store: memorySnapshots(), services, conversations: [flow], keyring });
  const gateway = ussdGateway({ engine, flow: 'tea', keyring });
  const { africastalking } = createAdapters('cumulative');
  return {
    /** @param {string} body as it came */
    async answer(body) {
      const raw = { method: 'POST', path: [], query: new URLSearchParams(), headers: {}, body };
      let request;
      try {
        request = africastalking.read(raw);
      } catch {
        return africastalking.refuse({ kind: 'end', text: 'Invalid input. Please try again.' }, raw);
      }
      return africastalking.write(await gateway.turn(request, africastalking.name), request);
    },
  };
}
