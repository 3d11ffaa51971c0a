// The dialect of a telecom gateway: its form posts are read, and answered in JSON. Put your gateway's fields in the place of these.

import { jsonReply, readFields, readMsisdn, readServiceCode, readSessionId, readText } from 'twinline/ussd';

const SCREEN = {
  type: 'object',
  required: ['show', 'more'],
  properties: { show: { type: 'string' }, more: { type: 'boolean' } },
};

/** @type {(reply: import('twinline/ussd').UssdReply) => import('twinline/ussd').RawReply} */
const answer = ({ kind, text }) => jsonReply({ show: text, more: kind === 'continue' });

/** @type {import('twinline/ussd').Adapter} */
export default {
  // In its address: /api/ussd/zed
  name: 'zed',
  routes: [
    {
      method: 'POST',
      path: '/sessions/:id',
      about: { summary: 'Zed Mobile', answers: { 'application/json': SCREEN } },
    },
  ],
  // The readers throw ERR_INPUT for what breaks the rules, in words that never quote it.
  read({ body, path }) {
    const { caller, code, typed, over } = readFields(body);
    const isDial = code !== undefined;
    return {
      sessionId: readSessionId(path[1]),
      phoneNumber: readMsisdn(caller, 'caller'),
      serviceCode: isDial ? readServiceCode(code, 'code') : '',
      text: isDial ? '' : readText(typed ?? '', 'typed'),
      event: over === '1' ? 'end' : 'turn',
      mode: 'latest',
      fresh: isDial,
    };
  },
  write: answer,
  refuse: answer,
};
